#!/usr/sbin/dtrace -s
/* trunc() keeps the largest, with a negative number the smallest; clear() keeps the keys. */

#pragma D option quiet

BEGIN
{
	@big["a"] = sum(5); @big["b"] = sum(50); @big["c"] = sum(500); @big["d"] = sum(1);
	@small["a"] = sum(5); @small["b"] = sum(50); @small["c"] = sum(500); @small["d"] = sum(1);
	@keys["a", 1] = count(); @keys["b", 2] = count();
	trunc(@big, 2);
	trunc(@small, -2);
	clear(@keys);
	exit(0);
}

END
{
	printf("largest:\n");
	printa("  %s %@d\n", @big);
	printf("smallest:\n");
	printa("  %s %@d\n", @small);
	printf("cleared:\n");
	printa("  %s %d %@d\n", @keys);
}
