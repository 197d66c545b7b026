// Macro variables of the process.
// run: -q
BEGIN
/$pid > 0 && $ppid > 0 && $uid >= 0 && $gid >= 0 && $euid >= 0 && $egid >= 0 && $pgid >= 0 && $sid >= 0/
{
	printf("%d %d %d\n", $pid == pid, $projid, $taskid);
	printf("%d\n", $$pid == lltostr(pid));
	exit(0);
}
