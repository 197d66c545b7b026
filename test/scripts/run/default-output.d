#!/usr/sbin/dtrace -s
/* Without quiet: a header, then a row for each clause that records something. */

BEGIN { trace(1); trace("two"); }
BEGIN { printf("three %d", 3); }
BEGIN { trace((char)4); trace((short)5); trace(6LL); trace("seven"); }
BEGIN { @a["key", 8] = count(); @b = avg(9); @b = avg(10); }
BEGIN { }
BEGIN { exit(0); }
END { trace("end"); }
