// run: -e
/* System calls, counted by two keys. */
syscall:::entry
{
	@syscall_agg[execname, pid] = count();
}
