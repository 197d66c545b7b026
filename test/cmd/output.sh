# -o appends; -S goes to stderr; -e only compiles; several programs run in order.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
dt -q -o f -n 'BEGIN { printf("one\n"); exit(0); }'
expect "" "$out"
dt -q -o f -n 'BEGIN { printf("two\n"); exit(0); }'
expect "one

two" "$(cat f)"
dt -q -n 'BEGIN { x = 5; }' -n 'BEGIN { printf("%d\n", x); }' -n 'BEGIN { exit(0); }'
expect "5" "$(echo $out)"
dt -e -n 'BEGIN { printf("not run\n"); }'
expect "0  " "$status $out $err"
dt -S -e -n 'BEGIN { trace(pid); }'
expect "" "$out"
expect_match '^DIFO 0x[0-9a-f]+ returns D type \(integer\) \(size 4\)$' "$err"
expect_match '^OFF OPCODE +INSTRUCTION$' "$err"
expect_match '^00: 29011601    ldgs DT_VAR\(278\), %r1		! DT_VAR\(278\) = "pid"$' "$err"
dt -d -e -n 'BEGIN { if (pid) { trace(1); } }'
expect ":::BEGIN { if (pid) { trace(1); } }" "$(echo $out)" "an if is part of its clause"
dt -d -e -x control=clauses -n 'BEGIN { if (pid) { trace(1); } }'
expect_match 'condition_1' "$out"
dt -B -q -n 'BEGIN { printf("b\n"); exit(0); }'
expect "b" "$(echo $out)"
