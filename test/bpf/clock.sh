# tick fires once per interval on one CPU; profile on every CPU.
. "$SRC/test/bpf/lib.bash"
# Keep every CPU busy: Linux 6.18 does not sample the clock of one that idles.
for ((i = 0; i < $(nproc); i++)); do
	taskset -c $i timeout 30 sh -c 'while :; do :; done' &
	busy="${busy-} $!"
done
k -q -x statusrate=20ms -n 'tick-10ms { i++; @t[cpu] = count(); } profile-10ms { @p[cpu] = count(); } tick-500ms { exit(3); }
END { printf("%d\n", i); printa("t %d %@d\n", @t); printa("p %d %@d\n", @p); }'
expect 3 "$status"
n=$(sed '/^$/d' "$TMP/out" | head -n 1)
[ "$n" -ge 30 ] || expect "about 50" "$n" "ticks in 500 ms"
expect 1 "$(grep -c '^t' "$TMP/out")" "CPUs with ticks"
expect "$(nproc)" "$(grep -c '^p' "$TMP/out")" "CPUs with profiles"
# arg2 is how late a firing is: the same for all its clauses, less than the interval, and hardly ever 0
k -q -n 'profile-997 { this->late = arg2; } profile-997 /arg2 != this->late || arg2 > 1000000000 / 997/ { @bad = count(); }
tick-1ms /arg2/ { ticks++; } profile-997 /arg2 && ticks && ++late == 20/ { exit(4); } END { printa("bad %@d\n", @bad); }'
expect 4 "$status" "late firings"
expect "" "$(grep . "$TMP/out")" "lateness"
kill $busy
wait
