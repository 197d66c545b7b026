// One row per record: CPU in 3 columns, id in 6, function:name in 32, then the data. Clauses that record nothing have none.
// run:
BEGIN { }
BEGIN { x = 1; @a = count(); }
BEGIN { trace(x); printf("|"); trace("s"); }
BEGIN { printf("two\nlines\n"); }
BEGIN { exit(0); }
END { }
