# Buffers that are too small for the program are refused; sizes are rounded up to 8 bytes.
. "$SRC/test/lib.bash"
dt -q -b 16 -n 'BEGIN { trace(1); exit(0); }'
expect "dtrace: could not enable tracing: Enabling exceeds size of buffer" "$err"
expect 1 "$status"
dt -q -b 17 -n 'BEGIN { trace(1); } END { exit(0); }' -c true
expect "1" "$(echo $out)" "17 is 24"
dt -q -b 64 -x bufpolicy=ring -n 'BEGIN { exit(0); } END { trace("a string"); }'
expect "dtrace: could not enable tracing: Enabling exceeds size of buffer" "$err"
dt -q -b 400 -x bufpolicy=fill -n 'BEGIN { exit(0); } END { trace("a string"); } END { trace("another"); }'
expect "dtrace: could not enable tracing: END enablings exceed size of principal buffer" "$err"
# scratch memory is what the buffer leaves free
dt -q -b 128 -n 'BEGIN { this->p = alloca(64); printf("fine\n"); exit(0); }'
expect "fine" "$(echo $out)"
dt -q -b 128 -n 'BEGIN { this->p = alloca(200); } BEGIN { exit(0); }'
expect_match 'out of scratch space in action #1' "$err"
