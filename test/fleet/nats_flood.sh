# Someone on the bus opens streams to an agent without end, and says nothing on them: it has room for some, and others that come
# then are served as before.
# needs: root bpf gcc nats-server libnats python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$TMP" >"$TMP/nats.log" 2>&1 &
nats=$!
at_end "kill $nats 2>/dev/null"
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
address=$(grep -o '127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | head -1)
echo 'user=nats' >"$TMP/policy"
"$BUILD/dtraced" -n web-1 -N "nats://$address" -p "$TMP/policy" 2>"$TMP/web-1.err" &
agent=$!
at_end "kill -CONT $agent; kill $agent 2>/dev/null"
export DTRACE_TARGETS=nats://$address
there() { "$DTRACE" -x targetwait=100s -M 2>/dev/null | grep -q '^web-1 '; }
wait_for 60 there
no_session() { [ "$(pgrep -c -P $agent)" = 1 ]; }
wait_for 20 no_session
carrier=$(pgrep -P $agent) # the process that serves the NATS server
sockets() { ls -l "/proc/$carrier/fd" | grep -c socket; }
before=$(sockets)
kill -STOP $agent # it takes none of the streams out of the hands of the other, so all of them wait
: >"$TMP/raw"
python3 "$SRC/test/fleet/nats_raw.py" "$address" x:y open web-1 600 >"$TMP/raw" 2>&1 &
at_end "kill $! 2>/dev/null"
wait_for 20 grep -q opened "$TMP/raw"
full() { [ "$(sockets)" -ge $((before + 256)) ]; }
wait_for 20 full
sleep 1 # whether there will be more
expect 256 $(($(sockets) - before)) "streams of 600 that were opened"
kill -CONT $agent
free() { [ "$(sockets)" = "$before" ]; }
wait_for 60 free # a front has 10 s for its first word; most are refused, since there are too many
expect_match 'user nats has 16 fronts, and there is no room for another: refused' "$(cat "$TMP/web-1.err")"
wait_for 60 there
joined 2 "web-1:syscall::close:entry /$mine/ { @[vmname] = count(); }" "$(load 100)"
expect "web-1 100" "$(sorted)" "after the flood"

# Someone answers fronts a million times each time they ask: a front keeps 16384 answers until it has looked at them.
raw() { # WHAT ARGS
	: >"$TMP/raw"
	python3 "$SRC/test/fleet/nats_raw.py" "$address" x:y "$@" >"$TMP/raw" 2>&1 &
	raw=$!
	at_end "kill $raw 2>/dev/null"
	wait_for 20 grep -q PONG "$TMP/raw"
}
gone() { kill $raw; wait $raw 2>/dev/null; true; }
front() {
	: >"$TMP/live" >"$TMP/live.err"
	"$DTRACE" -E -Z -x targetwait=2s -qn "web-1:syscall::close:entry /$mine/ { printf(\"%d\n\", arg0); } BEGIN { printf(\"up\n\"); }" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
	at_end "kill $front 2>/dev/null"
}
shown() { $(load 1); grep -q 1000 "$TMP/live"; }
ends() { kill -TERM $front; wait $front; expect 0 $? "$1"; }
mb_of() { awk -v w="$1:" '$1 == w { print int($2 / 1024) }' "/proc/$front/status"; }
raw answer evil 1000000
front
wait_for 60 grep -q answered "$TMP/raw"
wait_for 60 shown
sanitized || [ "$(mb_of VmHWM)" -le 60 ] || { echo "the front had $(mb_of VmHWM) MB"; count_failure; }
ends "a flood of answers"
gone

# A machine that is started again and again leaves nothing behind but its account.
raw return evil 100
front
wait_for 60 shown
often() { [ "$(awk '/^opened/ { n = $2 } END { print n + 0 }' "$TMP/raw")" -ge 1000 ]; }
wait_for 60 often
sanitized || [ "$(mb_of VmSize)" -le 800 ] || { echo "the front had $(mb_of VmSize) MB of addresses"; count_failure; }
ends "a machine that comes and goes"
gone
