// copyin, copyinstr, copyinto read user memory: here that of dtrace itself, which faults at 0.
// run: -q
BEGIN
{
	printf("%s\n", copyinstr(0));
}

BEGIN
{
	this->p = copyin(0, 8);
	printf("not reached\n");
}

BEGIN
{
	exit(0);
}
