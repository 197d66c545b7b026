#!/usr/sbin/dtrace -s
/* if and else, nested; each value goes one way only. */

#pragma D option quiet

int v;

BEGIN { v = 0; }

BEGIN
{
	if (v == 0) {
		printf("zero\n");
		v = 12;
	} else {
		printf("wrong\n");
	}
	if (v > 100)
		printf("wrong\n");
	else if (v > 10) {
		if (v & 1)
			printf("wrong\n");
		else
			printf("even, over ten\n");
	} else
		printf("wrong\n");
	printf("done\n");
	exit(0);
}
