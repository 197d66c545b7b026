#!/usr/sbin/dtrace -s
// run: -e -Z
/* Signals sent, by sender and number; SIGKILL is reported at once. */

proc:::signal-send
{
	@[execname, arg2] = count();
}

proc:::signal-send
/arg2 == SIGKILL || arg2 == SIGTERM/
{
	printf("%s (%d) sends %d", execname, pid, arg2);
	ustack(5);
}
