# Durable sessions: scripts of a folder run while they are there; who attaches sees what dtrace would print.
# needs: root bpf gcc python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
script count <<E2
#pragma D option switchrate=50ms
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("%s %d", vmname, arg0); @[probefunc] = count(); @q = quantize(arg0); }
E2
script bad <<'E2'
syscall::close:entry { this is not D }
E2
script short <<'E2'
#pragma D option quiet
BEGIN { printf("once \"quoted\"\ttab \\\n"); exit(3); }
E2
keep
beginning count
wait_state bad waiting
wait_state short 'done'

# A mistake is said once, in the place where people look, and in the list; the others run.
expect_match 'dtraced: session bad: .*line 2: syntax error' "$(cat "$TMP/keep.err")"
trace -E -x targetwait=100s --attach
expect "web bad waiting
web count running
web short done" "$(awk 'NR > 1 { print $1, $2, $3 }' "$TMP/out")"
expect_match 'web +bad .* line 2: syntax error' "$out"
sessions=$out
trace -x targetwait=100s -M # machines, and below them the same
expect "MACHINE host web" "$(awk '!NF { exit } { print $1 }' "$TMP/out" | xargs)" "-M"
listed() { awk '/SESSION/ { on = 1 } on && NF { print $1, $2, $3 }'; }
expect "$(listed <<<"$sessions")" "$(listed <"$TMP/out")" "-M"

# One that attaches at once, and one that comes later, see the same; and that is what dtrace prints.
attach count --from-start
$(load 200)
wait_for 60 eval '[ "$(grep -c " web 1" "$TMP/a.out")" = 200 ]'
cp "$TMP/a.out" "$TMP/early"
detach
attach web:count --from-start
wait_for 60 eval '[ "$(grep -c " web 1" "$TMP/a.out")" = 200 ]'
expect "$(cat "$TMP/early")" "$(cat "$TMP/a.out")" "the one that came later"
expect "$(shown count)" "$(cat "$TMP/early")" "the files"
expect "0" "$(grep -vcE '^CPU     ID +FUNCTION:NAME$|^ +[0-9]+ +[0-9]+ +close:entry web 1[01][0-9]{2}$|^ +[0-9]+ +1 +:BEGIN ready$|^$' "$TMP/early")" "lines"
expect 200 "$(grep -o 'web 1[0-9]*' "$TMP/early" | sort -u | wc -l)"
expect_match '^dtrace: session count begins: ' "$(cat "$TMP/a.err")"

# ^C shows the aggregations as they are, and the session goes on.
detach
expect 0 $?
expect "close 200" "$(awk '$1 == "close" { print $1, $2 }' "$TMP/a.out")" "aggregations"
expect "512 24 1024 176" "$(awk '/@/ { print $1, $NF }' "$TMP/a.out" | xargs)" "a distribution"
expect running "$(said_of count state)"

# From now on: the first lines are missing, and from there on none is.
script beat <<'E2'
#pragma D option quiet
#pragma D option switchrate=50ms
int n;
BEGIN { printf("ready\n"); }
tick-20ms { printf("beat %d\n", n++); }
E2
beginning beat
wait_for 60 grep -qs 'beat 20' "$TMP/o/beat/current.ndjson"
attach beat
wait_for 60 eval '[ "$(grep -c "^beat" "$TMP/a.out")" -gt 20 ]'
detach
expect 0 "$(grep -c ready "$TMP/a.out")" "the beginning is not shown"
expect "" "$(awk '$1 == "beat" { if (n && $2 != n) print "gap before", $2; n = $2 + 1 }' "$TMP/a.out")"
expect "" "$(cat "$TMP/a.err")"
rm "$TMP/s/beat.d"

# All as ndjson; the aggregations, too.
attach count --from-start -O ndjson
wait_for 60 eval '[ "$(grep -c "\"type\":\"record\"" "$TMP/a.out")" = 201 ]'
expect 0 "$(grep -c '"type":"aggregation"' "$TMP/a.out")"
detach
expect '1 0 "name":"_","function":"count","keys":["close"],"value":200' \
	"$(grep -c '"type":"start"' "$TMP/a.out") $(grep -c '"type":"end"' "$TMP/a.out") $(grep -o '"name":"_","function":"count".*"value":200' "$TMP/a.out")"
expect 0 "$(grep -c '"type":"text"' "$TMP/a.out")"
expect 200 "$(/usr/bin/python3 -c 'import json, sys; print(sum(json.loads(l)["type"] == "record" and "web 1" in l for l in sys.stdin))' <"$TMP/a.out")"

# One that has ended is shown to its end.
trace -E -x targetwait=100s --attach short --from-start
expect 0 $status
expect_match 'session short is done' "$err"
cp "$TMP/out" "$TMP/short"
trace -s "$TMP/s/short.d"
expect "$(cat "$TMP/out"; echo .)" "$(cat "$TMP/short"; echo .)" "as dtrace prints it"
expect_match 'once "quoted"	tab' "$out"

# The folder changes: a new script, a changed one, one that is removed. END fires, and aggregations are printed.
script count <<E2
#pragma D option switchrate=50ms
#pragma D option quiet
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("second %d\n", arg0); }
END { printf("bye\n"); }
E2
beginning count 2
expect_match 'close +200' "$(shown count)"
expect_match 'session count stops' "$(kept count)"
expect_match 'session count goes on: it did not run from 20[0-9-]* [0-9:.]* to 20[0-9-]* [0-9:.]* UTC \([0-9]+\.[0-9]+ s\); it was stopped' "$(kept count)"
attach count --from-start
$(load 30)
wait_for 60 eval '[ "$(grep -c "^second 1" "$TMP/a.out")" = 30 ]'
rm "$TMP/s/count.d"
wait $front
expect bye "$(grep . "$TMP/a.out" | tail -n 1)" "the last line"
wait_state count removed
echo 'BEGIN { printf("good now\n"); }' | script bad
wait_state bad running

# Megabytes of aggregations, to the last row.
n=$(scale 30000)
sanitized && n=3000 # it would take half a minute
script rows <<E2
#pragma D option quiet
#pragma D option aggsize=64m
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { @["$(printf 'y%.0s' {1..100})", arg0] = count(); }
E2
beginning rows
attach rows --from-start
wait_for 60 grep -q ready "$TMP/a.out"
$(load "$n")
detach
expect "$n" "$(grep -cE '^  y{100} +[0-9]+ +1$' "$TMP/a.out")" "rows of an aggregation"
expect "" "$(grep -v ' begins: ' "$TMP/a.err")"
rm "$TMP/s/rows.d"

# A machine that goes away meanwhile is not the end of the session.
attach bad --from-start
wait_for 60 grep -q 'good now' "$TMP/a.out"
kill -9 $keeper
wait $front
expect 1 $?
expect_match 'web: the connection has ended' "$(cat "$TMP/a.err")"
expect_match 'a machine has gone before its session had ended' "$(cat "$TMP/a.err")"
wait $keeper 2>/dev/null
keep
trace -E -x targetwait=100s --attach no-such-session
expect_match 'no machine has a session called no-such-session' "$err"
trace --attach count
expect_match 'only with -E' "$err"
