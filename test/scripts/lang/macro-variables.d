#!/usr/sbin/dtrace -s
// run: -e one 2 '"three"' 0x4
/* The macros of the command line: numbers, names, strings. */

inline string FIRST = $$1;
inline int SECOND = $2;

BEGIN
{
	one = 1;
	printf("%s %d %s %d %s %d\n", FIRST, SECOND, $$3, $4, $$4, $1);
	printf("%d %d %d %d %d %d %d %d %d %d\n", $pid, $ppid, $uid, $euid, $gid, $egid, $pgid, $sid,
	    $projid, $target);
	printf("%s %s %s\n", $$0, $$pid, $$target);
}

syscall:::entry
/pid == $ppid || uid == $uid/
{
	@ = count();
}
