#!/usr/sbin/dtrace -s
/* A fault ends its clause, whose record is dropped, and runs ERROR; the next clause runs. */

#pragma D option quiet

int zero, faults;

BEGIN
{
	printf("dropped with the clause\n");
	this->x = *(int *)0;
	printf("never printed\n");
}

BEGIN
{
	printf("next clause\n");
}

BEGIN
/10 / zero == 1/
{
	printf("never printed either\n");
}

BEGIN
{
	exit(faults == 2 ? 0 : 1);
}

ERROR
{
	faults++;
	printf("ERROR: fault %d (%s), action %d, address %d\n", arg4,
	    arg4 == DTRACEFLT_BADADDR ? "address" : arg4 == DTRACEFLT_DIVZERO ? "division" : "?", arg2, arg5);
}
