# Records and counted drops add up to the events: buffers far too small, a clock on top. (The events are
# counted by clauses of their own: a clause whose record has no room does not run.)
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
for size in 16k 4m; do
	ktrace -q -x bufsize=$size -x switchrate=5ms -n 'syscall::getppid:entry /pid == $target/ { @n = count(); }
		syscall::getppid:entry /pid == $target/ { printf("x\n"); }
		syscall::getppid:entry /pid != $target/ { @others = count(); }
		profile-997 { @n = count(); } profile-997 { printf("p\n"); } END { printa("n %@d\n", @n); printa("others %@d\n", @others); }' -c "$TMP/work 20000 4"
	events=$(sed -n 's/^n //p' "$TMP/out")
	records=$(grep -c '^[xp]$' "$TMP/out")
	drops=$(sed -nE 's/^dtrace: ([0-9]+) drops? on CPU.*/\1/p' "$TMP/err" | awk '{ n += $1 } END { print n }')
	others=$(sed -n 's/^others //p' "$TMP/out")
	# A small buffer asks for room before the predicate, so calls of other processes can be among the lost ones: no more than
	# they have made.
	[ $size = 16k ] && [ $((records + ${drops:-0})) -gt "$events" ] && [ $((records + drops)) -le $((events + ${others:-0})) ] ||
		expect "$events" "$((records + ${drops:-0}))" "bufsize=$size: $records records, ${drops:-0} drops"
	[ "$events" -ge 80000 ] || expect 80000 "$events" events
done
