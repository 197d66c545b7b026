// run: -e
/* Processes that use the CPU, in their own code. */
profile-997hz
/arg1/
{
	@[pid, execname] = count();
}
