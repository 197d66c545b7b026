# Functions for the tests of durable sessions. Source it after lib.bash and fleet.bash.
#
#   keep [FLAGS]           start dtraced, as machine "web", with the scripts in $TMP/s and their output in $TMP/o; pid: $keeper
#   script NAME            standard input becomes a script, at once; without a budget
#   said_of NAME WORD      a value of the session's state
#   wait_state NAME STATE  until it is in that state
#   beginning NAME         until a "ready" that the script prints has been written for the Nth time: beginning NAME N
#   kept NAME              all lines of its output that are kept
#   shown NAME             of these the text
#   attach ARGS            dtrace -E --attach ARGS in the background: $TMP/a.out, $TMP/a.err; its pid is in $front
#   detach                 end it as ^C does, and wait for it
mkdir -p "$TMP/s" "$TMP/o"
chmod 755 "$TMP/s"

keep() {
	rm -f "$TMP/t/web.sock"
	"$BUILD/dtraced" -n web -l "$TMP/t/web.sock" -s "$TMP/s" -o "$TMP/o" "$@" 2>>"$TMP/keep.err" &
	keeper=$!
	echo $keeper >"$TMP/t/web.pid"
	at_end "kill $keeper 2>/dev/null; wait $keeper 2>/dev/null"
	wait_for 20 test -S "$TMP/t/web.sock"
}
script() {
	{ echo '#pragma D option overhead=100%'; cat; } >"$TMP/script" # a busy machine must not make it leave anything out
	chmod 644 "$TMP/script"
	mv "$TMP/script" "$TMP/s/$1.d"
}
said_of() { sed -n "s/^$2 //p" "$TMP/o/$1/state" 2>/dev/null; }
is_state() { [ "$(said_of "$1" state)" = "$2" ]; }
wait_state() { wait_for 60 is_state "$1" "$2"; }
begun() { [ "$(kept "$1" | grep -c '^{"type":"text".*ready')" -ge "${2-1}" ]; }
beginning() { wait_for 60 begun "$@"; }
kept() { cat "$TMP/o/$1"/[0-9]*.ndjson 2>/dev/null; }
shown() { kept "$1" | /usr/bin/python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "text":
        t = o["text"]
        sys.stdout.write(t if isinstance(t, str) else bytes.fromhex(t["hex"]).decode("latin-1"))'; }
attach() {
	: >"$TMP/a.out" >"$TMP/a.err" # what an earlier one has said
	"$DTRACE" -E -x targetwait=100s --attach "$@" >"$TMP/a.out" 2>"$TMP/a.err" </dev/null &
	front=$!
	at_end "kill $front 2>/dev/null"
}
detach() {
	kill -TERM "$front" # bash has made it ignore SIGINT
	wait "$front"
}
