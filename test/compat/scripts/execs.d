#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * execs.d: what is started, with arguments, by which parent; failures with their error.
 */
#pragma D option quiet
#pragma D option defaultargs

inline int PARENT = $1;
inline boolean_t SHOW_FAILED = $2 ? B_TRUE : B_FALSE;

self string what;

proc:::exec
{
	self->what = args[0];
	self->from = execname;
}

proc:::exec-success
/self->what != NULL && (PARENT == 0 || curpsinfo->pr_ppid == PARENT || ppid == PARENT)/
{
	printf("%Y %5d %6d %6d %-12s -> %-12s %s\n", walltimestamp, curpsinfo->pr_uid, curpsinfo->pr_pid,
	    curpsinfo->pr_ppid, self->from, curpsinfo->pr_fname, curpsinfo->pr_psargs);
	@started[curpsinfo->pr_fname] = count();
}

proc:::exec-failure
/self->what != NULL && SHOW_FAILED == B_TRUE/
{
	printf("%Y %5d %6d %6d %-12s failed (%d) %s\n", walltimestamp, uid, pid, ppid, self->from, args[0], self->what);
}

proc:::exec-success,
proc:::exec-failure
{
	self->what = 0;
	self->from = 0;
}

END
{
	printa("started %-16s %@d\n", @started);
}
