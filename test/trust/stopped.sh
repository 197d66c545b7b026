# A tracer that is stopped while it holds a process is continued after a second, so that the process goes on; one that
# holds none stays stopped. Nothing of that remains when the session ends.
# needs: root gcc pgrep
. "$SRC/test/lib.bash"
! sanitized || skip "a sanitized build takes no LD_PRELOAD"
build threads processes/threads.c -lpthread
start 3
at_end 'kill $PID 2>/dev/null'
build held.so processes/held.c -shared -fPIC -ldl
cat >"$TMP/look" <<'EOT'
#!/bin/bash
unset LD_PRELOAD
kill -STOP $HELD_PID
until grep -q "State:.T" /proc/$HELD_PID/status; do :; done
sed -n "s/^State:.//p" /proc/$HELD_PID/status >"$TMP/state"
grep TracerPid: /proc/$PID/status >"$TMP/held"
EOT
chmod +x "$TMP/look"
export PID=$pid TMP
for i in 1 2 3; do
	rm -f "$TMP/state"
	HELD_DURING=$TMP/look timeout -k 1 500 env LD_PRELOAD="$TMP/held.so" "$DTRACE" -x engine=vm -n 'BEGIN { exit(0); }' -p "$pid" >"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 "$?" "status of a tracer that was stopped"
	expect "T (stopped)" "$(cat "$TMP/state")"
	expect 0 "$(grep -c 'TracerPid:.0$' "$TMP/held")" "the target was held"
	moves
	running "$pid"
done
expect "" "$(grep -l '^dtrace-watch$' /proc/[0-9]*/comm 2>/dev/null | while read -r f; do
	grep -qs "PPid:.$$\$" "${f%comm}status" && echo "$f"; done)" "watchers that are left"

# one that holds none may be stopped for as long as one wants
spy 'exec sleep 60'
"$DTRACE" -x engine=vm -C -x cpppath="$TMP/spy" -s "$TMP/spy.d" >"$TMP/out" 2>"$TMP/err" </dev/null &
other=$!
wait_for 20 pgrep -P $other >/dev/null
kill -STOP $other
sleep 2.5 # time to do what is wrong
expect "T (stopped)" "$(sed -n 's/^State:.//p' /proc/$other/status)"
kill -CONT $other
kill $(pgrep -P $other) # its preprocessor
wait $other
expect 1 $?
