# A durable session in JetStream of a real nats-server: exact across restarts of the server and of dtraced; from the beginning and from
# now; also without the machine; bounds; what could not be sent is said.
# needs: root bpf gcc python3 nats-server libnats
# timeout: 180
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
port=-1
server() {
	: >"$TMP/nats.log"
	nats-server -js -sd "$TMP/js" -a 127.0.0.1 -p $port --ports_file_dir "$TMP" >"$TMP/nats.log" 2>&1 &
	nats=$!
	at_end "kill $nats 2>/dev/null"
	wait_for 20 grep -q 'Server is ready' "$TMP/nats.log"
}
server
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
port=$(grep -o 'nats://127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | grep -o '[0-9]*$')
url=nats://127.0.0.1:$port
stop_server() {
	kill $nats
	wait $nats 2>/dev/null
}
count() { # LOGSIZE LOGFILES
	script count <<E2
#pragma D option quiet
#pragma D option switchrate=50ms
#pragma D option stream="$url"
#pragma D option streamsize=8m
#pragma D option streamage=1h
#pragma D option logsize=$1
#pragma D option logfiles=$2
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("number %d\n", arg0); @ = count(); }
END { printf("over\n"); }
E2
}
count 1m 4
echo 'user=nats' >"$TMP/policy"
echo 'user=root' >>"$TMP/policy"
keep -N "$url" -p "$TMP/policy"
beginning count
$(load 100)
export DTRACE_TARGETS=$url
has() { grep -c '^number' "$TMP/a.out"; }
attached() { # N ARGS: until it shows N numbers
	local n=$1
	shift
	attach "$@"
	wait_for 60 eval "[ \"\$(has)\" -ge $n ]"
	detach
	expect "$n" "$(has)" "numbers in $*"
}
wait_for 60 eval '"$DTRACE" -E -x targetwait=100s --attach 2>/dev/null | grep -q "web *count *stream"'
attached 100 count --from-start
expect "100" "$(awk 'NF == 1 && $1 == 100' "$TMP/a.out" | xargs)" "aggregations of the machine"

# One that is not in a stream is shown by its agent, over the same server.
script other <<E2
#pragma D option quiet
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { @ = count(); }
E2
beginning other
wait_state other running
$(load 70)
attach other --from-start
wait_for 60 grep -q ready "$TMP/a.out"
detach
expect "ready 70" "$(xargs <"$TMP/a.out")" "by its agent"
rm "$TMP/s/other.d"
wait_state other removed

# The server is away: the output waits in the files, and is sent when it is back.
stop_server
$(load 50)
wait_for 60 eval '[ "$(kept count | grep -c "^{\"type\":\"record\".*number")" = 220 ]'
server
wait_for 100 eval '[ "$(sed -n "s/^sent //p" "$TMP/o/count/sent")" = "$(said_of count end)" ]'
attached 220 count --from-start

# dtraced is restarted, and the process that sends is killed: nothing is missing, nothing is there twice.
kill $keeper
wait $keeper
keep -N "$url" -p "$TMP/policy"
beginning count 2
for i in 1 2 3; do
	$(load 50)
	wait_for 60 eval '[ "$(kept count | grep -c "^{\"type\":\"record\".*number")" = '$((220 + 50 * i))' ]'
	kill -9 $(pgrep -P $keeper | grep -vx "$(said_of count pid)") 2>/dev/null
done
attached 370 count --from-start
expect "" "$(awk '$1 == "number" { c[$2]++ } END { for (i = 1000; i < 1100; i++) if (c[i] != (i < 1050 ? 6 : i < 1070 ? 2 : 1)) print i, c[i] }' "$TMP/a.out")" "each number"

# From now on.
attach count
wait_for 60 eval "$(load 1)"'; [ "$(has)" -ge 3 ]'
detach
expect 0 "$(grep -c ready "$TMP/a.out")" "not the beginning"

# Without the machine.
kill $keeper
wait $keeper
wait_for 60 eval '[ "$(sed -n "s/^sent //p" "$TMP/o/count/sent")" = "$(said_of count end)" ]'
trace -E -x targetwait=100s --attach
expect "web count stream" "$(awk 'NR > 1 { print $1, $2, $3 }' "$TMP/out")"
attach web:count --from-start
wait_for 60 eval '[ "$(grep -c "^over" "$TMP/a.out")" = 2 ]'
detach
expect "$(shown count)" "$(cat "$TMP/a.out")" "without the machine"
expect_match 'session count goes on' "$(cat "$TMP/a.err")"

# The server is away for longer than the files can hold the output: what was removed is counted, in the stream and in the list.
count 8k 2
stop_server
keep -N "$url" -p "$TMP/policy"
wait_for 60 eval '[ "$(said_of count starts) $(said_of count state)" = "3 running" ]'
$(load 400)
wait_for 60 eval 'kept count | grep -q "number 1399"'
server
wait_for 100 eval '[ "$(sed -n "s/^sent //p" "$TMP/o/count/sent")" = "$(said_of count end)" ]'
unsent=$(sed -n 's/^unsent //p' "$TMP/o/count/sent")
[ "$unsent" -gt 0 ] || { echo "nothing was left out"; count_failure; }
attach count --from-start
wait_for 60 eval 'grep -q "bytes of output were removed before they could be sent to JetStream" "$TMP/a.err"'
detach
expect "$unsent" "$(sed -n 's/^dtrace: \([0-9]*\) bytes of output were removed before they could be sent.*/\1/p' "$TMP/a.err" | awk '{ n += $1 } END { print n }')" "bytes left out"
