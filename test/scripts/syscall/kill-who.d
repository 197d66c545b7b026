#!/usr/sbin/dtrace -s
// run: -e
/* Who sends which signal to whom? */

#pragma D option quiet

BEGIN
{
	sig[SIGHUP] = "HUP"; sig[SIGINT] = "INT"; sig[SIGQUIT] = "QUIT";
	sig[SIGKILL] = "KILL"; sig[SIGTERM] = "TERM"; sig[SIGCHLD] = "CHLD";
	printf("%-20s %-16s %-6s -> %-6s %s\n", "WHEN", "FROM", "PID", "PID", "SIGNAL");
}

syscall::kill:entry, syscall::tkill:entry
/arg1 != 0/
{
	printf("%Y %-16s %-6d -> %-6d %s (%d)\n", walltimestamp, execname, pid, (int)arg0,
	    sig[(int)arg1] != NULL ? sig[(int)arg1] : "?", arg1);
}

syscall::tgkill:entry
{
	printf("%Y %-16s %-6d -> %-6d/%d %d\n", walltimestamp, execname, pid, (int)arg0, (int)arg1, arg2);
}
