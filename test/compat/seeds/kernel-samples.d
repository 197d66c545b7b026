// run: -e
/* Functions of the kernel that use the CPU. */
profile-997hz
/arg0/
{
	@[func(arg0)] = count();
}
