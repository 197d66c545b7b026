#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * lifetimes.d: how long children of a process live, how they end.
 */
#pragma D option quiet
#pragma D option defaultargs

inline int WHOSE = $1;
inline string how[int c] = c == CLD_EXITED ? "exited" : c == CLD_KILLED ? "killed" : c == CLD_DUMPED ? "dumped core" : "?";

uint64_t born[pid_t];

proc:::create
/WHOSE == 0 || pid == WHOSE/
{
	born[args[0]->pr_pid] = timestamp;
	@n["created"] = count();
}

proc:::start
/born[pid]/
{
	@n["started"] = count();
	@delay["from fork to running (us)"] = quantize((timestamp - born[pid]) / 1000);
}

proc:::exit
/born[pid]/
{
	@n[how[args[0]]] = count();
	@life["lifetime (us)"] = quantize((timestamp - born[pid]) / 1000);
	@ids[curpsinfo->pr_fname, curpsinfo->pr_nlwp] = count();
	born[pid] = 0;
}

END
{
	printa("%-12s %@d\n", @n);
	printa(@delay);
	printa(@life);
	printa("%s with %d threads left: %@d\n", @ids);
}
