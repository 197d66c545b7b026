// In ERROR, the arguments tell which clause failed, where and why.
// run: -q
BEGIN
{
	trace(*(char *)16);
}

ERROR
{
	printf("epid %d action %d fault %d value %d\n", arg1, arg2, arg4, arg5);
	exit(0);
}
