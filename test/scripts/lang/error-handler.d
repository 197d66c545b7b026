#!/usr/sbin/dtrace -s
// run: -e
/* What to do when an action faults: count by kind, give up after a hundred. */

#pragma D option quiet

int faults;

syscall::open:entry
{
	/* A page not yet touched cannot be read on entry: a fault, counted below. */
	printf("%s\n", copyinstr(arg0));
}

dtrace:::ERROR
{
	faults++;
	@[arg4 == DTRACEFLT_BADADDR ? "bad address" : arg4 == DTRACEFLT_NOSCRATCH ? "no scratch" : "other",
	    arg1, arg2, arg3] = count();
	printf("fault %d in enabled probe %d, action %d, offset %d, address %x\n", arg4, arg1, arg2, arg3, arg5);
}

ERROR
/faults > 100/
{
	exit(1);
}
