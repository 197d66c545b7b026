# -x iregs, -x tregs: what the compiler may use, and what it says when that is not enough.
. "$SRC/test/lib.bash"
dt -q -x tregs=3 -n 'BEGIN { a[1, 2, 3] = 4; trace(a[1, 2, 3]); exit(0); }'
expect 4 "$(echo $out)"
dt -q -x tregs=2 -n 'BEGIN { a[1, 2, 3] = 4; exit(0); }'
expect_match 'at most 2 keys or arguments$' "$err"
dt -q -x errtags -x iregs=2 -n 'BEGIN { trace((pid + 1) * (tid + 2) + (pid + 3) * (tid + 4)); exit(0); }'
expect_match '\[D_NOREG\] in action list: the expression needs more than 2 registers \(-x iregs\)$' "$err"
