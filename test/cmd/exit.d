// run: -q
// status: 3
/* The exit status is that of exit(); END runs and can replace it. */
BEGIN { exit(5); }
END { printf("end\n"); exit(3); }
