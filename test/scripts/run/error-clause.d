#!/usr/sbin/dtrace -s
/* A fault ends its clause, runs ERROR, and the next clause goes on. */

#pragma D option quiet

BEGIN
{
	printf("before\n");
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

int zero, faults;
