# Functions for the tests of machines that vanish. Source it after fleet.bash.
#
#   stop PID                  stop it and all its children until the test ends
#   begin TARGETS             a front with two machines called web-*, in the background; then a load of 100 runs
#   end_without MACHINE WHAT  end it: it does so soon, web-1 has all 100, and the loss of the machine is said and counted
tree() {
	local p
	for p in $(pgrep -P "$1"); do tree "$p"; done
	echo "$1"
}
stop() {
	at_end "kill -CONT $(tree "$1" | xargs) 2>/dev/null"
	kill -STOP $(tree "$1")
}
up() { [ "$(grep -c ' up$' "$TMP/live")" = 2 ]; }
begin() {
	: >"$TMP/live" >"$TMP/live.err"
	"$DTRACE" -E -x targets="$1" -x targetwait=100s -qn "web-*:syscall::close:entry /$mine/ { @[vmname] = count(); }
		web-*:dtrace:::BEGIN { printf(\"%s up\n\", vmname); }" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
	at_end "kill $front 2>/dev/null"
	wait_for 60 up
	$(load 100)
}
# Five seconds of silence; what a busy machine adds is far less than the half minute after which the carrier gives up.
end_without() {
	local before=$SECONDS took
	kill -TERM $front
	wait $front
	expect 0 $? "status, $2"
	took=$((SECONDS - before))
	[ $took -le 20 ] || expect "at most 20 s" "$took s" "the end, $2"
	expect "web-1 100" "$(awk '$1 == "web-1" && $2 != "up" { print $1, $2 }' "$TMP/live")" "the other machine, $2"
	expect_match "^dtrace: $1: .*; what it had not sent is missing" "$(cat "$TMP/live.err")"
	expect_match '^dtrace: machines lost before the end of the session: 1$' "$(cat "$TMP/live.err")"
}
