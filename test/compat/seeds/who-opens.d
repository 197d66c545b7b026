// run: -e
/* Who opens files: open() of programs is openat() on Linux. */
syscall::open*:entry
{
	@[pid, execname] = count();
}
