# tick fires once per interval on one CPU; profile on every CPU.
# needs: root bpf taskset
. "$SRC/test/lib.bash"
# Keep every CPU busy: Linux 6.18 does not sample the clock of one that idles.
for ((i = 0; i < $(nproc); i++)); do
	taskset -c $i timeout 600 sh -c 'while :; do :; done' &
	busy="${busy-} $!"
done
ticks() {
	ktrace -q -x statusrate=20ms -n 'tick-10ms { i++; @t[cpu] = count(); } profile-10ms { @p[cpu] = count(); } tick-500ms { exit(3); }
END { printf("%d\n", i); printa("t %d %@d\n", @t); printa("p %d %@d\n", @p); }'
	expect 3 "$status"
	n=$(sed '/^$/d' "$TMP/out" | head -n 1)
	expect 1 "$(grep -c '^t' "$TMP/out")" "CPUs with ticks"
	# not 50 exactly: an interrupt that is late by more than an interval stands for those that it has missed, and a virtual machine
	# may be stopped for longer. Then once more.
	[ "$n" -ge 30 ] && [ "$n" -le 51 ] && [ "$(grep -c '^p' "$TMP/out")" = "$(nproc)" ]
}
wait_for 30 ticks || cat "$TMP/out"
# arg2 is how late a firing is: the same for all its clauses, less than the interval, and hardly ever 0
ktrace -q -n 'profile-997 { this->late = arg2; } profile-997 /arg2 != this->late || arg2 > 1000000000 / 997/ { @bad = count(); }
tick-1ms /arg2/ { ticks++; } profile-997 /arg2 && ticks && ++late == 20/ { exit(4); } END { printa("bad %@d\n", @bad); }'
expect 4 "$status" "late firings"
expect "" "$(grep . "$TMP/out")" "lateness"
kill $busy
wait
# in a time namespace, where our monotonic clock is not the kernel's: records come while tracing, with the right time
if unshare --time --fork --monotonic -10 true 2>/dev/null; then
	for offset in -10 1000; do # the machine has been up for longer than that
		: >"$TMP/out" # what the last one wrote must not be seen
		then=$(date +%s)
		unshare --time --fork --monotonic $offset "$DTRACE" -x switchrate=10ms -qn 'tick-20ms { printf("%d\n", walltimestamp / 1000000000); }' >"$TMP/out" 2>"$TMP/err" &
		parent=$!
		wait_for 20 grep -q . "$TMP/out"
		now=$(date +%s) record=$(head -n 1 "$TMP/out")
		kill "$(cat /proc/$parent/task/$parent/children)"
		wait $parent
		# between the two, but for a second that has just begun: its clock is read twice, one after the other
		[ -n "$record" ] && [ "$record" -ge $((then - 1)) ] && [ "$record" -le $((now + 1)) ] ||
			expect "$then to $now" "${record:-no record} $(cat "$TMP/err")" "time namespace, offset $offset"
	done
fi

# The first tick can create many keys at once, although interrupts are off.
ktrace -qn "tick-10ms { $(for i in {1..40}; do echo "@[$i] = count();"; done) exit(0); }"
expect 40 "$(grep -c ' 1$' "$TMP/out")"
expect '' "$err"
