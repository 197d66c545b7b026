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
kill $busy
wait
