// run: -e
// needs: root bpf btf
/* What a watch of execve prints: time, ids, process, the whole command line. FreeBSD has dwatch for it. */
#pragma D option quiet

proc:::exec-success
{
	printf("%Y %d.%d %s[%d]: %s\n", walltimestamp, uid, gid, execname, pid, curpsinfo->pr_psargs);
}
