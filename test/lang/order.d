// Clauses run in program order; exit() ends the firing, END still runs.
// run: -q
// status: 3
BEGIN { printf("1\n"); }
BEGIN { printf("2\n"); exit(3); }
BEGIN { printf("not run\n"); }
END { printf("end\n"); }
