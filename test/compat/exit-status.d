// exit() in END replaces the status.
// run: -q
// status: 4
BEGIN { printf("one\n"); exit(3); }
END { printf("two\n"); exit(5); }
END { exit(4); }
