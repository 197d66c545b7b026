#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * signals.d: who sends which signal to whom.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;
inline string sname[int s] =
    s == SIGHUP ? "HUP" :
    s == SIGINT ? "INT" :
    s == SIGKILL ? "KILL" :
    s == SIGUSR1 ? "USR1" :
    s == SIGUSR2 ? "USR2" :
    s == SIGALRM ? "ALRM" :
    s == SIGTERM ? "TERM" :
    s == SIGCHLD ? "CHLD" : lltostr(s);

proc:::signal-send
/NAME == "" || execname == NAME || args[1]->pr_fname == NAME/
{
	@[execname, args[1]->pr_fname, sname[args[2]]] = count();
	@self[args[1]->pr_pid == pid ? "to itself" : "to others", args[0]->pr_lwpid == tid ? "this thread" : "another"] = count();
}

proc:::signal-handle
/NAME == "" || execname == NAME/
{
	@handled[sname[args[0]], (uintptr_t)args[2] != 0 ? "by a handler" : "by default"] = count();
}

END
{
	printf("%-16s %-16s %-6s %6s\n", "FROM", "TO", "SIGNAL", "COUNT");
	printa("%-16s %-16s %-6s %@6d\n", @);
	printa("%s, %s: %@d\n", @self);
	printa("%s handled %s: %@d\n", @handled);
}
