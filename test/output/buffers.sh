# What fits into a buffer: sizes of records as DTrace counts them; a clause without room is a drop and does nothing.
. "$SRC/test/lib.bash"

# starting: only a buffer without room for anything is refused
dt -q -x aggsize=7 -n 'BEGIN { @ = count(); exit(0); }'
expect "dtrace: could not enable tracing: Enabling exceeds size of buffer" "$err"
dt -q -b 400 -x bufpolicy=fill -n 'BEGIN { exit(0); } END { trace("a string"); } END { trace("another"); }'
expect "dtrace: could not enable tracing: END enablings exceed size of principal buffer" "$err"

# 12 bytes, the value at its alignment, all by 4 or more: an int makes 16 bytes, a long 24
fits() { # engine, size, value, how many of three records
	dt -q -x engine=$1 -b $2 -n "BEGIN { trace($3); } BEGIN { trace($3); } BEGIN { trace($3); }" \
		-n 'BEGIN { x = 1; } END { exit(3); }' -c true
	expect "$4" "$(tr -cd '1x' <<< "$out" | wc -c)" "$1: $3 in $2"
}
engines=vm
[ "$(id -u)" = 0 ] && engines="vm bpf"
for e in $engines; do
	fits $e 16 1 1
	fits $e 31 1 1
	fits $e 32 1 2
	fits $e 48 1 3
	fits $e 48 1L 2
	fits $e 79 1L 3
	fits $e 71 1L 2
	fits $e 15 1 0
	fits $e 543 '"x"' 1
	fits $e 544 '"x"' 2
	# a clause without room has no side effects; room is checked before the predicate
	dt -q -x engine=$e -b 48 -n 'BEGIN /n++ >= 0/ { printf("%s", "larger than the buffer"); } END { printf("%d", n); exit(4); }' -c true
	expect "0" "$(echo $out)" "$e: $err"
	expect_match "1 drop on CPU" "$err"
	expect 4 "$status"
	dt -q -x engine=$e -b 48 -x bufpolicy=ring -n 'BEGIN { n++; trace("larger"); } END { printf("%d", n); exit(4); }' -c true
	expect "0" "$(echo $out)" "$e: $err"
	# a program that aggregates has room for its largest record
	dt -q -x engine=$e -b 24 -n 'BEGIN { trace("fits"); @ = count(); exit(0); }'
	expect_match "fits" "$out"
done

# scratch memory is what the buffer leaves free
dt -q -b 128 -n 'BEGIN { this->p = alloca(64); printf("fine\n"); exit(0); }'
expect "fine" "$(echo $out)"
dt -q -b 128 -n 'BEGIN { this->p = alloca(200); } BEGIN { exit(0); }'
expect_match 'out of scratch space in action #1' "$err"
