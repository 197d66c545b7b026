# What is due when: statusrate decides when exit() is noticed, switchrate when records are printed, and a printa()
# sees every update made before it.
# timeout: 120
# needs: bpf
. "$SRC/test/lib.bash"

# exit() stops recording at once; END waits for the next status check, which is 3 s after the start.
out=$("$DTRACE" -x engine=bpf -q -x statusrate=3s -n '
	BEGIN { start = timestamp; }
	tick-500ms { n++; }
	tick-500ms /n == 2/ { ended = timestamp; exit(0); }
	END { printf("%d ticks, END after exit: %s\n", n, timestamp - ended > 1500000000 ? "later" : "at once"); }')
expect "2 ticks, END after exit: later" "$out"
# Without the option it is noticed at once.
out=$("$DTRACE" -x engine=bpf -q -n '
	tick-100ms { ended = timestamp; exit(0); }
	END { printf("%s\n", timestamp - ended > 900000000 ? "later" : "at once"); }')
expect "at once" "$out"
# Ten printa() of one interval print what there is at its end; status checks in between print nothing.
out=$("$DTRACE" -x engine=bpf -q -x switchrate=3s -x aggrate=3s -x statusrate=100ms -n '
	tick-100ms { i++; @n = count(); }
	tick-100ms /i <= 10/ { printa("%@d ", @n); }
	tick-100ms /i > 10/ { exit(0); }')
expect 1 "$(tr ' ' '\n' <<<"$out" | grep . | sort -u | wc -l)"
# printa() and clear() see the updates of their own firing and of all before, however short aggrate is: what was
# printed and cleared so far is never less than what was counted. (Later updates may be among them.)
for i in 1 2 3 4 5 6 7 8; do
	out=$("$DTRACE" -x engine=bpf -q -x aggrate=2ms -x switchrate=3ms -n '
		tick-1ms /n < 400/ { n++; @ = count(); }
		tick-1ms /n < 400 && n % 10 == 0/ { printa("%@d\n", @); clear(@); }
		tick-1ms /n == 400/ { exit(0); }')
	expect "39 lines, 0 too early" "$(awk 'NF { n++; sum += $1; early += sum < 10 * n } END { print (n + 0) " lines, " early + 0 " too early" }' <<<"$out")"
done
