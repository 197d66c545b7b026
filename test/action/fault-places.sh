# Where a fault is in the source, and why: once for each place; repeated faults are counted (option faultmax).
# needs: root bpf
. "$SRC/test/lib.bash"
cd "$TMP"
mkdir lib
cat > lib/pair.d <<'D'
inline int ratio[int a, int b] = a / b;
struct pair { int first; };
translator struct pair < int *p > { first = *p; };
D
cat > places.d <<'D'
#pragma D option quiet
BEGIN { zero = 0; p = (int *)32; }
BEGIN
{
	trace(p /* a comment */
	    [2]);
}
BEGIN { trace(1 + ratio[4, zero]); }
BEGIN { trace(xlate < struct pair > (p).first); }
BEGIN { @[zero + 5 % zero] = count(); }
BEGIN { printf("%d %s", 1, stringof(p)); }
BEGIN { @q = quantize(1, 2 / zero); }
BEGIN { trace((string)8); }
BEGIN / 7 /
  zero / { }
BEGIN { trace(strlen((string)p) + strlen((string)p) + strlen((string)p) + strlen((string)p) + strlen((string)p)); }
BEGIN { trace(*(int *)0x7f0012345678); }
BEGIN { exit(0); }
D
dt -L lib -s places.d
expect "dtrace: places.d:5: p /* a comment */ [2]: address 0x28 is not mapped
dtrace: places.d:8: ratio[4, zero]: division by zero
dtrace: places.d:9: xlate < struct pair > (p).first: address 0x20 is not mapped
dtrace: places.d:10: 5 % zero: division by zero
dtrace: places.d:11: stringof(p): address 0x20 is not mapped
dtrace: places.d:12: 2 / zero: division by zero
dtrace: places.d:13: (string)8: address 0x8 is not mapped
dtrace: places.d:14: 7 / zero: division by zero
dtrace: places.d:16: strlen((string)p): address 0x20 is not mapped
dtrace: places.d:17: *(int *)0x7f0012345678: address 0x7f0012345678 is not the kernel's: read user memory with copyin() or copyinstr()" \
	"$(grep -v 'error on enabled probe' <<<"$err")"
expect 10 "$(grep -c '^dtrace: error on enabled probe ID [0-9]* (ID 1: dtrace:::BEGIN): ' <<<"$err")"

# the same clause on several probes is one place; long expressions are cut
dt -q -n 'BEGIN { zero = 0; } BEGIN, END { trace(1 / zero); } BEGIN { exit(0); }
END { trace(zero + 1111111111 + 2222222222 + 3333333333 + 4444444444 + 5555555555 + 6666666666 + 7777777777 == 0 ? 1 : 1 % zero); }
END { trace((zero + 1111111111 + 2222222222 + 3333333333 + 4444444444 + 5555555555 + 6666666666 + 7777777777) / zero); }'
expect "dtrace: line 1: 1 / zero: division by zero
dtrace: line 2: 1 % zero: division by zero
dtrace: line 3: (zero + 1111111111 + 2222222222 + 3333333333 + 4444444444 + 5555555555 + 6666...: division by zero" \
	"$(grep -v 'error on enabled probe' <<<"$err")"
expect 4 "$(grep -c 'error on enabled probe' <<<"$err")"

# in ndjson every fault has them
dt -O ndjson -s places.d -L lib
expect 10 "$(grep -c '"type":"fault"' <<<"$out")"
expect '"file":"places.d","line":8,"column":19,"expression":"ratio[4, zero]","reason":"division by zero"' \
	"$(sed -n 's/.*"clause":3,.*\("file".*"reason":"[^"]*"\).*/\1/p' <<<"$out")"

# repeated: a line for each up to faultmax, then the number of the others
for max in 1 3 0; do
	ktrace -q -x faultmax=$max -n 'BEGIN { zero = n = 0; } tick-1ms /n < 7/ { n++; trace(1 / zero); } tick-1ms /n == 7/ { exit(0); }'
	lines=$((max == 0 ? 7 : max))
	expect "$lines $((7 - lines)) 1" "$(grep -c 'DIF offset 8$' <<<"$err") $(sed -nE 's/.* offset 8 \(([0-9]+) more like this\)$/\1/p' <<<"$err" |
		awk '{ n += $1 } END { print n + 0 }') $(grep -c '^dtrace: 1 \/ zero: division by zero$' <<<"$err")"
done
# far past it, by default and in ndjson, with two places and with ERROR: nothing is lost or counted twice
many='BEGIN { zero = n = 0; } tick-1ms /n++ < 60/ { trace(1 / zero); } tick-1ms /n <= 60/ { trace(*(int *)(zero + 8)); }
	ERROR { @[arg4] = count(); } tick-1ms /n > 60/ { exit(0); }'
ktrace -q -n "$many"
expect "20 100 2" "$(grep -cE 'DIF offset [0-9]+$' <<<"$err") $(sed -nE 's/.* \(([0-9]+) more like this\)$/\1/p' <<<"$err" |
	awk '{ n += $1 } END { print n + 0 }') $(grep -cE ': (division by zero|address 0x8 is not mapped)$' <<<"$err")"
expect "1 60 4 60" "$(echo $out)"
for max in 1 0; do
	ktrace -O ndjson -x faultmax=$max -n "$many"
	expect "60 60 0" "$(grep -c '"type":"fault".*"code":4,.*"expression":"1 / zero","reason":"division by zero"' <<<"$out") $(
		grep -c '"type":"fault".*"code":1,.*"value":8,.*"expression":"\*(int \*)(zero + 8)","reason":"address 0x8 is not mapped"' <<<"$out") $(
		grep -c 'more like this' <<<"$out$err")"
done
