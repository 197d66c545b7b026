# What is lost is counted and reported: records, speculations, dynamic variables, faults in ERROR.
. "$SRC/test/lib.bash"
dt -q -b 32 -n 'BEGIN { trace(1); } BEGIN { trace(2); } BEGIN { trace(3); } BEGIN { trace(4); } END { exit(0); }' -c true
expect_match '^dtrace: 2 drops on CPU [0-9]+$' "$err"
expect 12 "$(echo $out)"
expect 0 "$status"
dt -q -x droptags -b 32 -n 'BEGIN { trace(1); } BEGIN { trace(2); } BEGIN { trace(3); }' -c true
expect_match '^dtrace: \[DTRACEDROP_PRINCIPAL\] 1 drop on CPU [0-9]+$' "$err"

three='BEGIN { s = speculation(); } BEGIN { speculate(s); printf("%d\n", 1); } BEGIN { speculate(s); printf("%d\n", 2); } BEGIN { commit(s); } BEGIN { exit(0); }'
dt -q -x specsize=24 -n "$three"
expect "dtrace: 1 speculative drop" "$err"
expect 1 "$(echo $out)"
dt -q -x specsize=4 -x droptags -n "$three"
expect "dtrace: [DTRACEDROP_SPEC] 2 speculative drops" "$err"

dt -q -n 'BEGIN { printf("%d %d\n", speculation(), speculation()); exit(0); }'
expect "dtrace: 1 failed speculation (no speculative buffer available)" "$err"
dt -q -x droptags -x nspec=0 -n 'BEGIN { printf("%d %d\n", speculation(), speculation()); exit(0); }'
expect "dtrace: [DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer available)" "$err"
expect "0 0" "$(echo $out)"

dt -q -x dynvarsize=1k -n 'BEGIN { a[1] = 1; a[2] = 2; a[3] = 3; a[4] = 4; a[5] = 5; a[6] = 6; a[7] = 7; a[8] = 8; printf("%d %d\n", a[1], a[8]); exit(0); }'
expect_match '^dtrace: [0-9] dynamic variable drops$' "$err"
expect "1 0" "$(echo $out)"
dt -q -x droptags -x dynvarsize=0 -n 'BEGIN { self->x = 1; self->y = 2; printf("%d %d\n", self->x, self->y); exit(0); }'
expect "dtrace: [DTRACEDROP_DYNAMIC] 1 dynamic variable drop" "$err"

dt -q -n 'ERROR { trace(*(int *)0); } BEGIN { trace(*(int *)8); } BEGIN { exit(0); }'
expect "dtrace: 1 error in ERROR probe enabling
dtrace: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): invalid address (0x8) in action #1 at DIF offset 4
dtrace: *(int *)8: address 0x8 is not mapped" "$err"
dt -q -x droptags -n 'ERROR { trace(*(int *)0); } BEGIN { trace(*(int *)8); } BEGIN { trace(*(int *)8); } BEGIN { exit(0); }'
expect "dtrace: [DTRACEDROP_DBLERROR] 2 errors in ERROR probe enabling" "$(head -n 1 <<<"$err")"
