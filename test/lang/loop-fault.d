// A loop ends with a fault after loopmax rounds; what it recorded before stays, and the next clause runs.
// run: -q -x loopmax=3
BEGIN
{
	for (this->i = 0; ; this->i++)
		printf("round %d\n", this->i);
	printf("after\n");
}

ERROR
{
	printf("fault %d in action %d of %d\n", arg4 == DTRACEFLT_LOOPMAX, arg2, arg1);
}

/* Exactly as many are allowed. */
BEGIN
{
	for (this->i = 0; this->i < 3; this->i++)
		printf("again %d\n", this->i);
	do {
		this->i--;
	} while (this->i);
	printf("down to %d\n", this->i);
	exit(0);
}
