# The same as fleet/vanish over NATS: the whole agent is stopped, with its connection to the server, or only the process that traces.
# needs: root bpf gcc nats-server libnats
# timeout: 240
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/vanish.bash"
echo 'user=nats' >"$TMP/policy"
nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$TMP" >"$TMP/nats.log" 2>&1 &
nats=$!
at_end "kill $nats 2>/dev/null"
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
url=$(grep -o 'nats://127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports")
there() { "$DTRACE" -x targets="$url" -x targetwait=5s -M 2>/dev/null | grep -q "^$1 "; }
over() { # NAME: its pid is in $agent
	"$BUILD/dtraced" -n "$1" -N "$url" -p "$TMP/policy" 2>"$TMP/$1.err" &
	agent=$!
	at_end "kill $agent 2>/dev/null"
	wait_for 60 there "$1"
}
over web-1
over web-2
begin "$url"
stop "$agent"
end_without web-2 "an agent over NATS that is stopped"
over web-3
begin "$url"
stop "$(pgrep -n -P "$agent")"
end_without web-3 "an agent over NATS whose session is stopped"
