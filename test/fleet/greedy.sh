# A machine that sends far more than it may (keys, names, records, probes, messages) is refused that, or dropped. The front keeps
# a bounded number of bytes for it, and what it says of another machine is exact.
# needs: root bpf gcc python3
# timeout: 600
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
mkdir "$TMP/real"
"$BUILD/dtraced" -n liar -l "$TMP/real/liar.sock" 2>"$TMP/liar.err" &
at_end "kill $! 2>/dev/null"
wait_for 10 test -S "$TMP/real/liar.sock"
greedy() { # WHAT N
	rm -f "$TMP/t/liar.sock"
	python3 "$SRC/test/fleet/greedy.py" "$TMP/t/liar.sock" "$TMP/real/liar.sock" "$@" &
	greedy=$!
	at_end "kill $greedy 2>/dev/null"
	wait_for 10 test -S "$TMP/t/liar.sock"
}
gone() { kill $greedy; wait $greedy 2>/dev/null; rm -f "$TMP/t/liar.sock"; }
# dtrace, and the most memory that it had, in MB
cat >"$TMP/measured" <<'E2'
import os, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
open(sys.argv[1], "w").write(str(used.ru_maxrss // 1024))
sys.exit(os.waitstatus_to_exitcode(status))
E2
front() {
	python3 "$TMP/measured" "$TMP/mb" "$DTRACE" -E -x targetwait=100s "$@" >"$TMP/out" 2>"$TMP/err"
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
# For each machine, the front keeps 64 times bufsize and aggsize (of three aggregations), and 64 MB.
small="-x aggsize=64k -x bufsize=64k"
limit=$((64 * 64 * 1024 * 4 + (64 << 20)))
close="syscall::close:entry /$mine"
program="web-1:$close/ { @w[arg0] = count(); }
	liar:$close/ { printf(\"%.10s\n\", execname); @k[execname] = count(); @s[func(arg0)] = count(); }
	END { printa(\"w %d %@d\n\", @w); printa(\"k %.8s %@d\n\", @k); trunc(@w); trunc(@k); trunc(@s); }"
while read -r what n message; do
	greedy $what $n
	front $small -qn "$program" -c "$(load 50)"
	expect "0 50" "$status $(lines '^w [0-9]+ 1$')" "beside a machine that sends too many $what"
	expect_match "liar: $message" "$err"
	sanitized || [ "$(cat "$TMP/mb")" -le 200 ] || { echo "$what: the front had $(cat "$TMP/mb") MB"; count_failure; }
	gone
done <<E2
rows 3000 [0-9]+ aggregation drops: the front keeps no more than $limit bytes for it
names 5000 [0-9]+ aggregation drops: the front keeps no more than $limit bytes for it
after 3000 [0-9]+ drops: the front keeps no more than $limit bytes for it
probes_on 200000 its connection was closed: it has more probes than there is room for
far_epid 1 its connection was closed: it has a clause on a probe that the program does not have for it
notes 20000 [0-9]+ more messages of it are not shown
cpus 8193 its connection was closed: its status is not understood
machines 1048577 its connection was closed: it names machines more often than there is room for
E2

drops() { sed -nE "s/^dtrace: liar: ([0-9]+) $1.*/\1/p" "$TMP/err" | awk '{ n += $1 } END { print n + 0 }'; }
# All that is refused is counted: the rows that are there and the drops are those that were sent. The agent itself sends 11 of
# its own, or more if they are read twice.
greedy rows 3000
front $small -qn "$program" -c "$(load 10)"
kept=$(lines '^k [0-9]+ 1$') sum=$((kept + $(drops "aggregation drops?")))
came=$(sed -nE 's/.* and ([0-9]+) of [0-9]+ rows of aggregations have come$/\1/p' "$TMP/err")
[ "$kept" -ge 1000 ] && [ $sum -ge 3000 ] && [ $sum -le "$came" ] || { echo "$kept of $came rows were kept, $sum with drops"; count_failure; }
gone

# Small keys: as many as there is room for.
greedy keys 100000
front $small -qn "$program" -c "$(load 10)"
expect "100000 0" "$(lines '^k [0-9]+ 1$') $(drops 'aggregation drops?')" "100,000 small keys"
gone

# Messages: no more than 100 at once, then 10 in a second.
greedy notes 20000
front -qn "$program" -c "$(load 10)"
shown=$(grep -c 'liar: note' "$TMP/err")
[ "$shown" -ge 100 ] && [ "$shown" -lt 2000 ] || { echo "$shown notes were shown"; count_failure; }
expect 20000 $((shown + $(drops "more messages"))) "messages, shown or not"
gone

# Records without a promise: its own wait, and those of the others keep their order. Nothing is lost.
greedy records 3000
front -qn "web-1:$close/ { printf(\"w %d\n\", arg0); } liar:$close/ { printf(\"%.10s\n\", execname); }" -c "$(load 200)"
grep ^w "$TMP/out" >"$TMP/w"
expect "200 0" "$(sort -cnk2 "$TMP/w" && wc -l <"$TMP/w") $(grep -c 'out of order' "$TMP/err")" "records beside a flood"
gone

# One that is asked for its probes or sessions and never comes to an end.
greedy probes 1100000
front -ln 'liar:p:m:f:n'
expect_match 'liar: its connection was closed: it names a probe that was not asked for' "$err"
gone
greedy sessions 5000
front --attach
expect_match 'liar: its connection was closed' "$err"
gone

# One that says many things, but does not answer, is waited for four times as long as one that is silent.
greedy busy
wait=1s
fleet -qn "web-1:$close/ { @ = count(); }" -c "$(load 100)"
expect 100 "$(last_fields)"
expect_match 'liar: it does not answer' "$err"
gone
