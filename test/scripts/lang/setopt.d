#!/usr/sbin/dtrace -s
// run: -e
/* Options changed while tracing, and output sent elsewhere for a while. */

#pragma D option destructive

tick-1s
/!done/
{
	setopt("quiet");
	setopt("switchrate", "50hz");
	freopen("/tmp/trace.%d", pid);
	printf("this goes to the file\n");
	freopen("");
	done = 1;
}

syscall::fsync:entry
/done/
{
	setopt("quiet", "no");
	ftruncate();
	chill(500 * 1000);
}
