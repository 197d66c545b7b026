# -x aggsize: rows that do not fit are lost, and that is reported.
. "$SRC/test/lib.bash"
dt -q -x aggsize=32 -n 'BEGIN { @[1] = count(); @[2] = count(); @[3] = count(); @[1] = count(); exit(0); }'
expect_match '^dtrace: 2 aggregation drops on CPU [0-9]+$' "$err"
expect "1 2" "$(echo $out)"
dt -q -x droptags -x aggsize=32 -n 'BEGIN { @[1] = count(); @[2] = count(); exit(0); }'
expect_match '^dtrace: \[DTRACEDROP_AGGREGATION\] 1 aggregation drop on CPU [0-9]+$' "$err"
expect 0 "$status"
