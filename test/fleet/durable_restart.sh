# Durable sessions go on after a restart, and say so: no record is lost when dtraced is ended or killed; a session that is killed
# is started again.
# needs: root bpf gcc python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
script count <<E2
#pragma D option quiet
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("%d\n", arg0); @ = count(); }
E2
gone() { ! kill -0 "$1" 2>/dev/null; }
numbers() { shown count | grep -c '^ *1[0-9]\{3\}$'; }
notes() { kept count | grep -c "\"type\":\"note\",\"text\":\"session count $1"; }

# Ended: what the probes have recorded by then is read, whatever the switchrate.
keep
beginning count
$(load 300)
kill $keeper
wait $keeper
expect 300 "$(numbers)" "after the end"
expect stopped "$(said_of count state)"
expect "1 1 0" "$(notes begins) $(notes stops) $(notes 'goes on')"
keep
beginning count 2
$(load 200)

# Killed: the kernel tells its sessions, which write the rest, and detach.
session=$(said_of count pid)
kill -9 $keeper
wait $keeper 2>/dev/null
wait_for 60 gone "$session"
expect 500 "$(numbers)" "after dtraced was killed"
expect "300 200" "$(shown count | awk 'NF == 1 && $1 < 1000 && $1 != "ready" { print $1 }' | xargs)" "aggregations of each run"
expect "2 1" "$(notes stops) $(notes 'goes on')"
$(load 100) # nobody looks
keep
beginning count 3
expect_match 'goes on: it did not run from .* to .* UTC \([0-9.]+ s\); it was stopped' "$(kept count | tail -n 4)"
$(load 50)

# The session itself is killed: it is started again, and says that something may be missing.
wait_for 60 eval '[ "$(numbers)" = 550 ]'
kill -9 "$(said_of count pid)"
beginning count 4
expect_match 'goes on: it did not run from .*; its process was killed by signal 9: what it had not written is missing' "$(kept count)"
expect_match 'dtraced: session count: its process was killed by signal 9' "$(cat "$TMP/keep.err")"
$(load 25)
trace -E -x targetwait=100s --attach
expect "count running 4" "$(awk '$2 == "count" { print $2, $3, $4 }' "$TMP/out")"
kill $keeper
wait $keeper
expect 575 "$(numbers)" "all that was traced"
expect 575 "$(kept count | grep -c '"type":"record".*"values":\[1')" "as ndjson"

# A process that is killed while it writes leaves a part of a line: that is removed, and said.
printf '{"type":"record","time":12' >>"$TMP/o/count/current.ndjson"
keep
beginning count 5
expect_match 'a line that was not finished was removed \(26 bytes\)' "$(kept count)"
expect 0 "$(kept count | /usr/bin/python3 -c 'import json, sys
bad = 0
for l in sys.stdin:
    try: json.loads(l)
    except ValueError: bad += 1
print(bad)')"

# Two dtraced with one folder: one runs the sessions, the other when the first has ended.
"$BUILD/dtraced" -n other -l "$TMP/t/other.sock" -s "$TMP/s" -o "$TMP/o" 2>"$TMP/other.err" &
other=$!
at_end "kill $other 2>/dev/null; wait $other 2>/dev/null"
wait_for 60 grep -qs 'another dtraced runs the sessions' "$TMP/other.err"
sleep 1
expect "$(pgrep -P $keeper)" "$(said_of count pid)"
expect "" "$(pgrep -P $other)"
kill $keeper
wait $keeper
beginning count 6
expect "$(pgrep -P $other)" "$(said_of count pid)"
