# timeout: 200
# -p: what cannot be grabbed, and why; what can be traced without being stopped.
# needs: gcc
# uses: nobody
. "$SRC/test/lib.bash"
start 2
at_end 'kill $pid 2>/dev/null'

no() { # TAG WHY PID
	dt -x errtags -p "$3" -n BEGIN
	expect "1 dtrace: failed to grab pid $3: [$1] $2" "$status $err"
}
no D_PROC_BADPID "not a process id" 0
no D_PROC_BADPID "not a process id" -5
no D_PROC_BADPID "not a process id" 99999999999
no D_PROC_GRAB "No such process" 2000000000
# a thread, one of those that stay; its name looks like a line of /proc/PID/status
has_thread() { thread=$(grep -ls '^Tgid:5$' /proc/$pid/task/*/comm | cut -d / -f 5 | head -n 1); [ -n "$thread" ]; }
wait_for 20 has_thread
no D_PROC_BADPID "it is a thread of process $pid" "$thread"
dt -p 12x -n BEGIN
expect "1 dtrace: invalid pid: 12x" "$status $err"
# a zombie: the child ends when its parent is a program that does not wait for it
touch "$TMP/zombie"
mkfifo "$TMP/go"
sh -c '(read -r x <"$2") & echo $! >"$1"; exec sleep 1000' sh "$TMP/zombie" "$TMP/go" &
parent=$!
wait_for 20 grep -qx sleep "/proc/$parent/comm"
echo >"$TMP/go"
is_zombie() { [ "$(field "$(cat "$TMP/zombie")" State)" = Z ]; }
wait_for 20 is_zombie
no D_PROC_GRAB "it has exited (only a zombie is left)" "$(cat "$TMP/zombie")"
kill $parent
# not a zombie: a name in /proc/PID/stat may contain anything
cp "$(command -v sleep)" "$TMP/x) Z (x"
"$TMP/x) Z (x" 1000 &
dt -p $! -n 'BEGIN { exit(0); }'
expect 0 "$status" "$err"
kill $!
# dtrace itself
sh -c 'exec "$DTRACE" -x errtags -p $$ -n BEGIN' >"$TMP/out" 2>"$TMP/err"
expect_match '^dtrace: failed to grab pid [0-9]+: \[D_PROC_GRAB\] it is dtrace itself$' "$(cat "$TMP/err")"
# a kernel thread cannot be stopped, but can be traced
for k in /proc/[0-9]*; do
	read -r -a f 2>/dev/null <"$k/stat" || continue
	[ "$((${f[8]:-0} & 0x200000))" != 0 ] 2>/dev/null || continue
	dt -p "${k#/proc/}" -n 'BEGIN { exit(0); }'
	expect "0 dtrace: pid ${k#/proc/} is a kernel thread: it is not stopped while probes are made" "$status $(head -n 1 "$TMP/err")"
	break
done
# one of another user
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -V >/dev/null 2>&1; then
	expect "dtrace: failed to grab pid $pid: [D_PROC_GRAB] Operation not permitted" \
		"$(setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -x errtags -p $pid -n BEGIN 2>&1)"
	moves
fi
# in a pid namespace of its own: from outside, and its init from inside
if [ "$(id -u)" = 0 ] && unshare -pf --mount-proc true 2>/dev/null; then
	unshare -pf --mount-proc sh -c "sleep 1000 & wait" &
	outer=$!
	inner=
	has_inner() { inner=$(cat /proc/$outer/task/$outer/children 2>/dev/null); inner=${inner%% *}; [ -n "$inner" ] && [ -e "/proc/$inner/ns/pid" ] && [ "$(readlink "/proc/$inner/ns/pid")" != "$(readlink /proc/self/ns/pid)" ]; }
	if wait_for 20 has_inner; then
		dt -p "$inner" -qn 'BEGIN { trace($target); exit(0); }'
		expect "0 $inner" "$status $(grep . "$TMP/out" | tr -d ' ')" "namespace: $err"
		wait_for 20 running "$inner"
	fi
	kill -KILL $inner
	unshare -pf --mount-proc sh -c "\"\$DTRACE\" -x engine=vm -p 1 -qn 'BEGIN { trace(\$target); exit(0); }'; :" >"$TMP/out" 2>"$TMP/err"
	expect "1" "$(grep . "$TMP/out" | tr -d ' ')" "init of a namespace: $(cat "$TMP/err")"
fi
kill $pid
wait 2>/dev/null
