// Built-in variables have their types and sensible values.
// run: -q
BEGIN
{
	printf("%d\n", pid == $pid);
	printf("%d\n", ppid == $ppid);
	printf("%d\n", uid == $euid);
	printf("%d\n", gid == $egid);
	printf("%d\n", tid == pid);
	printf("%s\n", execname);
	printf("%s\n", probeprov);
	printf("[%s]\n", probemod);
	printf("[%s]\n", probefunc);
	printf("%s\n", probename);
	printf("%d\n", id);
	printf("%d\n", epid);
	printf("%d\n", timestamp > 0);
	printf("%d\n", walltimestamp / 1000000000 > 1700000000);
	printf("%d\n", vtimestamp > 0);
	printf("%d\n", timestamp == timestamp);
	printf("%d\n", cpu >= 0);
	printf("%d\n", errno);
	printf("%d\n", ipl);
	printf("%d\n", arg0 + arg1 + arg2 + arg3 + arg4 + arg5 + arg6 + arg7 + arg8 + arg9);
	printf("%s\n", zonename);
	printf("%d\n", jid);
	printf("%d\n", sizeof (pid));
	printf("%d\n", sizeof (arg0));
	printf("%s\n", threadname);
	exit(0);
}
