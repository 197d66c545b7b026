// One exit() is taken. A clause whose exit() comes too late is dropped as a whole.
// run: -q
// status: 3
BEGIN { printf("first\n"); }
BEGIN { printf("dropped\n"); @ = count(); exit(3); exit(4); }
BEGIN { printf("never\n"); exit(5); }
END { printf("end\n"); }
