#!/usr/sbin/dtrace -s
/* Order of rows: by value; by key; by another key; reversed. */

#pragma D option quiet
#pragma D option destructive

BEGIN
{
	@["b", 1] = sum(3); @["a", 2] = sum(2); @["c", 0] = sum(1);
	printa("%s%d=%@d ", @); printf("by value\n");
	setopt("aggsortkey");
	printa("%s%d=%@d ", @); printf("by key\n");
	setopt("aggsortkeypos", "1");
	printa("%s%d=%@d ", @); printf("by second key\n");
	setopt("aggsortrev");
	printa("%s%d=%@d ", @); printf("reversed\n");
	exit(0);
}
