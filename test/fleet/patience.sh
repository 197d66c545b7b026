# A machine that says all the time that it is at work is not waited for without end: 8 minutes until it has compiled, 2 until it has
# begun, and 2 until it has ended. The clock of these fronts runs ten times as fast.
# needs: root bpf gcc python3
# timeout: 300
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
sanitized && skip "its own functions come first there"
gcc -shared -fPIC -o "$TMP/fast_clock.so" "$SRC/test/fleet/fast_clock.c" || exit 1
begin() { # WHAT
	mkdir "$TMP/$1"
	python3 "$SRC/test/fleet/peer.py" "$TMP/$1/peer.sock" "$1" &
	at_end "kill $! 2>/dev/null"
	wait_for 10 test -S "$TMP/$1/peer.sock"
	: >"$TMP/$1.err"
	LD_PRELOAD=$TMP/fast_clock.so "$DTRACE" -E -Z -x targetwait=1000s -x targets="$TMP/$1" -qn 'liar:syscall::no_such_call:entry { trace(1); } BEGIN { printf("here\n"); exit(0); }' \
		>"$TMP/$1.out" 2>"$TMP/$1.err" &
	eval "$1=$!"
	at_end "kill $! 2>/dev/null"
}
ended() { # WHAT MESSAGE
	local pid
	eval "pid=\$$1"
	wait_for 100 over "$pid"
	wait "$pid"
	expect 0 $? "status, a machine that never $1"
	expect here "$(xargs <"$TMP/$1.out")" "a machine that never $1"
	expect_match "^dtrace: liar: $2" "$(cat "$TMP/$1.err")"
}
begin compiles
begin begins
begin ends
ended begins 'it does not start; what it had not sent is missing from now on$'
ended ends 'it has not sent its last data; what it had not sent is missing from now on$'
ended compiles 'it does not answer any more$'
