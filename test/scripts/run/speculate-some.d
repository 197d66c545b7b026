#!/usr/sbin/dtrace -s
/* Two requests are recorded aside; only the one that failed is shown. */

#pragma D option quiet
#pragma D option nspec=2

BEGIN { good = speculation(); bad = speculation(); printf("%d %d\n", good != 0, bad != good); }
BEGIN { speculate(good); printf("good: step 1\n"); }
BEGIN { speculate(bad); printf("bad: step 1\n"); }
BEGIN { speculate(bad); printf("bad: step 2, error %d\n", 5); }
BEGIN { discard(good); }
BEGIN { commit(bad); }
BEGIN { exit(0); }
