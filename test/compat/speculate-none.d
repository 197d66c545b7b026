// run: -q -x nspec=2
// speculate() of a number that is not a speculation skips the rest of the clause, without a fault.
BEGIN { speculate(0); n++; printf("zero\n"); }
BEGIN { speculate(1); n++; printf("not given out\n"); }
BEGIN { speculate(99); n++; printf("above nspec\n"); }
BEGIN { speculate(-1); n++; printf("negative\n"); }
BEGIN { sp = speculation(); }
BEGIN { speculate(sp); printf("kept\n"); }
BEGIN { commit(sp); }
BEGIN { speculate(sp); n++; printf("no longer in use\n"); }
BEGIN { commit(0); }
BEGIN { discard(0); }
BEGIN { commit(2); }
BEGIN { discard(2); }
BEGIN { printf("%d\n", n); }
BEGIN { commit(3); }
BEGIN { discard(99); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }
