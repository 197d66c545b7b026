# Functions for the tests of many machines. Source it after lib.bash.
#
#   agent NAME [FLAGS]     start dtraced as machine NAME; its pid is in $agent and $TMP/t/NAME.pid
#   load N [TIMES]         the command of a load that closes N descriptors from 1000 on, TIMES times
#   $mine                  the predicate that an event is of this load; $load is its name
#   fleet ARGS             dtrace -E with these agents, as `trace` of lib.bash
#   joined N PROGRAM LOAD  the same; the load begins when N machines have begun: those that answer late, over NATS, join late
#   serving NAME           the processes that serve a front there
export DTRACE_TARGETS=$TMP/t
mkdir -p "$TMP/t"
load=fleet$$ # other tests have a load of another name
build "$load" fleet/load.c
mine="execname == \"$load\" && arg0 >= 1000"

agent() {
	local name=$1
	shift
	"$BUILD/dtraced" -n "$name" -l "$TMP/t/$name.sock" "$@" 2>"$TMP/$name.err" &
	agent=$!
	echo $agent >"$TMP/t/$name.pid"
	at_end "kill $agent 2>/dev/null"
	wait_for 10 test -S "$TMP/t/$name.sock"
}
load() { echo "$TMP/$load $*"; }
fleet() { trace -E -x targetwait="${wait:-100s}" "$@"; } # a busy machine may take its time
joined() {
	: >"$TMP/joined" >"$TMP/joined.err"
	"$DTRACE" -E -Z -x targetwait=100s -qn "$2 *:dtrace:::BEGIN { printf(\"up: %s\n\", vmname); }" >"$TMP/joined" 2>"$TMP/joined.err" &
	local front=$! n=$1
	at_end "kill $front 2>/dev/null"
	begun() { [ "$(grep -c ^up: "$TMP/joined")" = "$n" ]; }
	wait_for 60 begun
	$3
	kill -TERM $front
	wait $front
	status=$?
	grep -v ^up: "$TMP/joined" >"$TMP/out"
	grep -v ' joins$' "$TMP/joined.err" >"$TMP/err"
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
serving() { pgrep -P "$(cat "$TMP/t/$1.pid")"; }
