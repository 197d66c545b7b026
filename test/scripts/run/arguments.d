#!/usr/sbin/dtrace -s
// status: 7
// run: -q 7 word "two words" 0x10
/* Arguments of the script: as numbers, as text. */

BEGIN
{
	printf("%d %s %s %d %s\n", $1, $$2, $$3, $4, $$4);
	printf("%s\n", basename($$0));
	exit($1);
}
