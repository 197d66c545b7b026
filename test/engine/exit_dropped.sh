# timeout: 60
# exit() ends tracing although there is no space for the record of its clause; that is a drop. Without exit() such a clause does
# not run.
# needs: root bpf
. "$SRC/test/lib.bash"
large='trace("0123456789012345678901234567890123456789");'
for engine in vm bpf; do
	for policy in switch ring; do
		dt -x engine=$engine -x bufpolicy=$policy -qb 64 -n "BEGIN /0/ { $large exit(2); } BEGIN { $large n = 1; } BEGIN { $large exit(3); } END { printf(\"%d\", n); }"
		expect "3 0" "$status $(echo $out)" "$engine $policy"
		expect 3 "$(grep -oE '[0-9]+ drop' <<<"$err" | awk '{ n += $1 } END { print n }')" "$engine $policy: $err"
	done
	dt -x engine=$engine -x bufpolicy=fill -qb 64 -n "BEGIN { $large exit(3); } END { printf(\"%d\", 5); }"
	expect "0 5" "$status $(echo $out)" "$engine fill: $err"
done
# while tracing: the buffer is full at times
ktrace -qb 64 -n 'profile-997 { trace("0123456789012345678901234567890123456789"); } profile-997 /n++ > 20/ { trace("0123456789012345678901234567890123456789"); exit(4); }'
expect 4 "$status" "$err"
