#!/usr/sbin/dtrace -s
/* Associative arrays: keys are tuples; an element never set, or set to 0, reads as 0. */

#pragma D option quiet

string owner[int, string];
uint64_t bytes[string, string, int];

BEGIN
{
	owner[1, "sda"] = "root";
	owner[1, "sdb"] = "disk";
	bytes["sda", "read", 0] = 4096;
	bytes["sda", "read", 0] += 4096;
	bytes["sda", "write", 1] = 1;
	bytes["sda", "write", 1] = 0;
	printf("%s %s %s\n", owner[1, "sda"], owner[1, "sdb"], owner[2, "sda"] == NULL ? "nobody" : "somebody");
	printf("%d %d %d\n", bytes["sda", "read", 0], bytes["sda", "write", 1], bytes["", "", 9]);
	count_of["x"]++;
	count_of["x"]++;
	--count_of["y"];
	printf("%d %d\n", count_of["x"], count_of["y"]);
	self->per_thread["k", 1] = 7;
	printf("%d %d\n", self->per_thread["k", 1], self->per_thread["k", 2]);
	exit(0);
}
