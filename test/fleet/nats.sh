# Machines over a NATS server: found by it, one program, exact; the server is restarted meanwhile; who may come.
# needs: root bpf gcc nats-server libnats
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
port=-1
server() {
	: >"$TMP/nats.log"
	nats-server -a 127.0.0.1 -p $port --ports_file_dir "$TMP" >"$TMP/nats.log" 2>&1 &
	nats=$!
	at_end "kill $nats 2>/dev/null"
	wait_for 20 grep -q 'Server is ready' "$TMP/nats.log"
}
server
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
port=$(grep -o 'nats://127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | grep -o '[0-9]*$')
url=nats://127.0.0.1:$port
echo 'user=nats' >"$TMP/policy"
over() { # NAME [FLAGS]: its pid is in $agent
	local name=$1
	shift
	"$BUILD/dtraced" -n "$name" -N "$url" "$@" 2>"$TMP/$name.err" &
	agent=$!
	echo $agent >"$TMP/t/$name.pid"
	at_end "kill $agent 2>/dev/null"
}
over far-1 -p "$TMP/policy"
over far-2 -p "$TMP/policy"
export DTRACE_TARGETS=$url
machines() { "$DTRACE" -x targetwait=100s -M 2>"$TMP/m.err" | awk 'NR > 1 { print $1 }' | sort | xargs; }
both() { [ "$(machines)" = "far-1 far-2 host" ]; }
wait_for 60 both
expect "far-1 far-2 host" "$(machines)" "-M"

fleet -qn "*:syscall::close:entry /$mine/ { @[vmname] = count(); x++; } END { printf(\"%d\n\", x); }" -c "$(load 2000)"
expect "6000
far-1 2000
far-2 2000
host 2000" "$(sorted)" "counts over NATS"

# More data than a stream may have under way.
fleet -x bufsize=16m -x strsize=1k -qn "far-*:syscall::close:entry /$mine/ { printf(\"%s %d %s\n\", vmname, arg0, strjoin(\"$(printf 'y%.0s' $(seq 400))\", \"\")); }" -c "$(load 3000)"
expect "3000 3000" "$(grep -c ^far-1 "$TMP/out") $(grep -c ^far-2 "$TMP/out")" "much data"
expect "" "$err"

# The server is stopped and started again while the program runs: nothing is lost.
cat >"$TMP/slow.sh" <<'E2'
#!/bin/bash
"$1" 500
touch "$2/half"
until [ -e "$2/go" ]; do sleep 0.1; done
"$1" 500
E2
chmod +x "$TMP/slow.sh"
trace -E -x targetwait=100s -qn "far-*:syscall::close:entry /$mine/ { @[vmname] = count(); printf(\"%d\n\", arg0); }" \
	-c "$TMP/slow.sh $TMP/$load $TMP" &
front=$!
wait_for 60 test -e "$TMP/half"
kill $nats
wait $nats 2>/dev/null
sleep 1
server
touch "$TMP/go"
wait $front
expect "far-1 1000 far-2 1000" "$(grep far- "$TMP/out" | sort | awk '{ print $1, $2 }' | xargs)" "the server was restarted"
expect 2000 "$(grep -c '^1[0-9]*$' "$TMP/out")" "records"

# The front is killed: agents notice that nobody listens any more, within a second (a busy machine is given more), and detach.
# One that was only stopped is not gone.
begin() { # PROGRAM: in the background; its pid is in $front
	: >"$TMP/live" >"$TMP/live.err" # what an earlier one has said
	"$DTRACE" -E -x targetwait=100s -qn "$1" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
}
both_up() { [ "$(grep -c up "$TMP/live")" = 2 ]; }
sessions() { pgrep -P "$(cat "$TMP/t/$1.pid")" | wc -l; } # one process serves NATS
begin "far-*:dtrace:::BEGIN { printf(\"up\n\"); } far-*:syscall::close:entry /$mine/ { @[vmname] = count(); }"
wait_for 20 both_up
kill -STOP $front
sleep 2
$(load 10)
expect "2 2" "$(sessions far-1) $(sessions far-2)" "sessions of a front that was stopped"
kill -CONT $front
kill -TERM $front
wait $front
expect "far-1 10 far-2 10" "$(grep far- "$TMP/live" | sort | xargs)" "after it was stopped"
begin 'far-*:dtrace:::BEGIN { printf("up\n"); } far-*:syscall::close:entry { @ = count(); }'
wait_for 20 both_up
kill -9 $front
wait $front 2>/dev/null
none_left() { [ "$(sessions far-1) $(sessions far-2)" = "1 1" ]; }
wait_for 4 none_left

# So does a front whose agent is killed; the other goes on.
begin "far-*:dtrace:::BEGIN { printf(\"up\n\"); } far-*:syscall::close:entry /$mine/ { @[vmname] = count(); }"
wait_for 20 both_up
kill -9 $agent
wait $agent 2>/dev/null
wait_for 4 grep -q 'far-2: the connection has ended; what it had not sent is missing' "$TMP/live.err"
$(load 10)
kill -TERM $front
wait $front
expect "far-1 10" "$(grep far- "$TMP/live" | xargs)" "the other agent"

# Without a rule for NATS it is refused; a server that is not there is reported.
over shy
trace -x targetwait=100s -M
wait_for 60 eval '"$DTRACE" -x targetwait=100s -M 2>&1 | grep -q "the connection has ended"'
expect_match 'user nats is not in the policy' "$(cat "$TMP/shy.err")"
DTRACE_TARGETS=nats://127.0.0.1:1 trace -M
expect_match 'cannot connect to nats://127.0.0.1:1: ' "$err"
expect host "$(awk 'NR == 2 { print $1 }' "$TMP/out")"
