# A relay between two NATS servers: the front knows one, the agents the other.
# needs: root bpf gcc nats-server libnats
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
server() { # its address is in $url
	nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$TMP" >/dev/null 2>&1 &
	local pid=$!
	at_end "kill $pid 2>/dev/null"
	wait_for 20 test -s "$TMP/nats-server_$pid.ports"
	url=$(grep -o 'nats://127.0.0.1:[0-9]*' "$TMP/nats-server_$pid.ports")
}
over() { # NAME FLAGS
	local name=$1
	shift
	"$BUILD/dtraced" -n "$name" -p "$TMP/policy" "$@" 2>"$TMP/$name.err" &
	at_end "kill $! 2>/dev/null"
	agent=$!
}
echo 'user=nats' >"$TMP/policy"
server
low=$url
server
over far-1 -N "$low"
over far-2 -N "$low"
over rack -N "$url" -r "$low" -t 100s
relay=$agent
export DTRACE_TARGETS=$url
all() { [ "$("$DTRACE" -x targetwait=100s -M 2>/dev/null | awk 'NR > 1 { print $1 }' | sort | xargs)" = "far-1 far-2 host rack" ]; }
wait_for 60 all
joined 4 "*:syscall::close:entry /$mine/ { @[vmname] = count(); x++; } END { printf(\"%d\n\", x); }" "$(load 1000)"
expect "4000
far-1 1000
far-2 1000
host 1000
rack 1000" "$(sorted)" "counts"
expect "" "$err"

# The relay is killed: the agents behind it detach.
"$DTRACE" -E -x targetwait=100s -qn 'far-*:dtrace:::BEGIN { printf("%s up\n", vmname); } far-*:syscall::close:entry { @ = count(); }' >"$TMP/live" 2>"$TMP/live.err" &
front=$!
up() { [ "$(grep -c up "$TMP/live")" = 2 ]; }
wait_for 20 up
kill -9 $relay
wait $relay 2>/dev/null
wait_for 4 grep -q 'rack: the connection has ended; what it had not sent is missing' "$TMP/live.err"
none() { [ -z "$(for p in $(pgrep -f "dtraced -n far-[12] -p $TMP/policy"); do grep -s -l bpf /proc/"$p"/fdinfo/* ; ls -l /proc/"$p"/fd; done | grep -c 'bpf-prog' | grep -v '^0$')" ]; }
wait_for 4 none
kill -TERM $front
wait $front
