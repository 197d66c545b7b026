# A front that does not read, because its output is not read or because it is stopped: what its agents cannot keep is dropped
# and counted, so records and drops are together what has happened. A machine that comes back under another name joins.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
program="web-1:dtrace:::BEGIN { printf(\"up\n\"); } web-1:syscall::close:entry /$mine/ { printf(\"%d %s\n\", arg0, \"$(printf 'y%.0s' $(seq 200))\"); }"
n=$(scale 60000)
check() { # WHAT
	local drops
	drops=$(grep -oE 'web-1: [0-9]+ drops? on CPU' "$TMP/err" | awk '{ sum += $2 } END { print sum + 0 }')
	expect "$n" "$(($(grep -c '^[0-9]' "$TMP/live") + drops))" "records and drops: $1"
}
mkfifo "$TMP/pipe"
"$DTRACE" -E -x targetwait=100s -x bufsize=256k -x strsize=300 -qn "$program" >"$TMP/pipe" 2>"$TMP/err" &
front=$!
exec 5<"$TMP/pipe"
read -r up <&5
expect up "$up"
$(load "$n")
cat <&5 >"$TMP/live" &
reader=$!
exec 5<&-
kill -TERM $front
wait $front
wait $reader
check "its output was not read"

: >"$TMP/live" >"$TMP/err"
"$DTRACE" -E -x targetwait=100s -x bufsize=256k -x strsize=300 -qn "$program" >"$TMP/live" 2>"$TMP/err" &
front=$!
wait_for 20 grep -q up "$TMP/live"
kill -STOP $front
$(load "$n")
kill -CONT $front
kill -TERM $front
wait $front
check "it was stopped"

: >"$TMP/live" >"$TMP/err"
"$DTRACE" -E -x targetwait=100s -qn '*:dtrace:::BEGIN { printf("%s up\n", vmname); }' >"$TMP/live" 2>"$TMP/err" &
front=$!
wait_for 20 grep -q 'web-1 up' "$TMP/live"
kill $agent
wait $agent 2>/dev/null
wait_for 20 grep -q 'web-1: the connection has ended' "$TMP/err"
"$BUILD/dtraced" -n web-9 -l "$TMP/t/web-1.sock" 2>"$TMP/web-9.err" &
at_end "kill $! 2>/dev/null"
wait_for 20 grep -q 'web-9 up' "$TMP/live"
kill -TERM $front
wait $front
expect 0 $?
