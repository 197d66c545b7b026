# Timing: statusrate decides when exit() is noticed, switchrate when records are printed, and a printa() sees
# every update made before it. Nothing here depends on how fast the machine is: the clock of the trace itself
# is compared with what is due at the earliest.
# timeout: 120
# needs: bpf
. "$SRC/test/lib.bash"
has() { grep -qs -- "$1" "$TMP/out"; }

# exit() stops recording at once; END waits for the next status check. The first one is after BEGIN, and has been when there is
# output; the next one is 3 s later, or a multiple of that.
: >"$TMP/out"
"$DTRACE" -x engine=bpf -q -x statusrate=3s -n '
	int ended, late;
	BEGIN { start = timestamp; printf("ready\n"); }
	tick-10ms /ended/ { late++; }
	syscall::chdir:entry /pid == $1/ { ended = 1; exit(0); }
	END { printf("%d late, END %s\n", late, timestamp - start >= 3000000000 ? "when due" : "too early"); }' $$ >"$TMP/out" &
wait_for 60 has ready
cd . # the system call that ends it
wait $!
expect "ready
0 late, END when due" "$(grep . "$TMP/out")" statusrate

# Without the option exit() is noticed at once, whatever the other rates are: sooner than a second after BEGIN, when the status
# would be checked anyway. A busy machine may keep us waiting that long: a run that is not kept waiting is enough.
at_once() {
	"$DTRACE" -x engine=bpf -q -x switchrate=1hour -x aggrate=1hour -n '
		BEGIN { start = timestamp; }
		tick-10ms { printf("x\n"); exit(0); }
		END { printf("%s\n", timestamp - start < 1000000000 ? "at once" : "late"); }' >"$TMP/out"
	expect x "$(head -n 1 "$TMP/out")" "before END"
	has "at once"
}
wait_for 60 at_once

# Ten printa() of one interval print what there is at its end; status checks in between print nothing.
out=$("$DTRACE" -x engine=bpf -q -x switchrate=1hour -x aggrate=1hour -x statusrate=10ms -n '
	tick-100ms { i++; @n = count(); }
	tick-100ms /i <= 10/ { printa("%@d ", @n); }
	tick-100ms /i > 10/ { exit(0); }')
expect "11 11 11 11 11 11 11 11 11 11 " "$(head -n 1 <<<"$out")" "ten printa()"

# printa() and clear() see the updates of their own firing and of all before, however short aggrate is: what was
# printed and cleared so far is never less than what was counted. (Later updates may be among them.)
for i in 1 2 3 4 5 6 7 8; do
	out=$("$DTRACE" -x engine=bpf -q -x aggrate=2ms -x switchrate=3ms -n '
		tick-1ms /n < 400/ { n++; @ = count(); }
		tick-1ms /n < 400 && n % 10 == 0/ { printa("%@d\n", @); clear(@); }
		tick-1ms /n == 400/ { exit(0); }')
	expect "39 lines, 0 too early" "$(awk 'NF { n++; sum += $1; early += sum < 10 * n } END { print (n + 0) " lines, " early + 0 " too early" }' <<<"$out")"
done

# setopt() of both rates takes effect at once: what fires after the consumer has seen it waits for the new, long rates.
: >"$TMP/out"
"$DTRACE" -x engine=bpf -q -x switchrate=10ms -x aggrate=10ms -n '
	int go;
	BEGIN { setopt("switchrate", "1hour"); setopt("aggrate", "1hour"); printf("set\n"); }
	syscall::chdir:entry /pid == $1/ { go = 1; }
	tick-100ms /go/ { i++; @n = count(); }
	tick-100ms /go && i <= 10/ { printa("%@d ", @n); }
	tick-100ms /go && i > 10/ { exit(0); }' $$ >"$TMP/out" &
wait_for 60 has set
cd .
wait $!
expect "11 11 11 11 11 11 11 11 11 11 " "$(sed -n 2p "$TMP/out")" "setopt() of the rates"
