# timeout: 120
# Option follow: tracing ends when the last descendant has ended, including those whose parents ended first.
# needs: root bpf
# uses: nobody
. "$SRC/test/lib.bash"
# the command leaves a grandchild behind that waits
mkfifo "$TMP/go"
cat >"$TMP/leave" <<EOT
#!/bin/bash
( ( read -r x <"$TMP/go"; echo read; /bin/true ) & ) &
EOT
chmod +x "$TMP/leave"
follow() { # FLAGS...
	: >"$TMP/out" >"$TMP/err" # discard earlier output
	"$DTRACE" -c "$TMP/leave" -n 'BEGIN { } END { printf("%s", "the end"); }' "$@" >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	wait_for 60 grep -q 'has exited' "$TMP/err"
}
follow
wait $tracer
expect 0 $? "without: $(cat "$TMP/err")"
echo >"$TMP/go" # the grandchild is ours to end
for f in "follow" "follow=yes"; do
	follow -x $f
	sleep 0.3 # time to do what is wrong
	kill -0 $tracer || { echo "ended too early"; fails=1; }
	expect "" "$(grep read "$TMP/out")"
	echo >"$TMP/go"
	wait $tracer
	expect 0 $? "$(cat "$TMP/err")"
	expect_match '^read$' "$(cat "$TMP/out")"
	expect_match 'the end' "$(cat "$TMP/out")"
	expect 1 "$(grep -c 'has exited' "$TMP/err")" # followed ones have no notice
done

# a storm: every one of them is seen, and tracing ends with the last. No other process has this name, wherever
# their parents went.
name=storm$$
cp /bin/true "$TMP/$name"
cat >"$TMP/storm" <<EOT
#!/bin/bash
for i in \$(seq 20); do
	for j in 1 2 3 4 5; do ( ( "$TMP/$name" & ) & ) & done
done
EOT
chmod +x "$TMP/storm"
trace -x follow -c "$TMP/storm" -qn 'syscall::execve:return /execname == $1/ { @n = count(); } END { printa("%@d\n", @n); }' "\"$name\""
expect "0 " "$status $err"
expect_match '^100$' "$out"

# -p: existing children count as well
bash -c 'sleep 1000 & echo $! >"$1"; read -r x <"$2"' bash "$TMP/child" "$TMP/go" &
pid=$!
wait_for 20 test -s "$TMP/child"
: >"$TMP/out" >"$TMP/err" # discard earlier output
"$DTRACE" -x follow -p $pid -n 'BEGIN { printf("on"); }' >"$TMP/out" 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 60 grep -q on "$TMP/out"
echo >"$TMP/go"
wait $pid
wait_for 20 grep -q "pid $pid" "$TMP/err"
sleep 0.3 # time to do what is wrong
kill -0 $tracer || { echo "ended too early"; fails=1; }
kill "$(cat "$TMP/child")"
wait $tracer
expect 0 $?

# without the privilege for perf events: found in /proc while the parents live; the tracer has a descriptor of
# every process that it has found
seen() { # PID
	local f
	for f in "/proc/$tracer/fdinfo"/*; do grep -qs "^Pid:.$1\$" "$f" && return; done
	return 1
}
if command -v setpriv >/dev/null && setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -V >/dev/null 2>&1; then
	mkfifo "$TMP/end"
	rm "$TMP/child"
	cat >"$TMP/leave" <<-EOT
		#!/bin/bash
		( read -r x <"$TMP/go"; echo read ) &
		echo \$! >"$TMP/child"
		read -r x <"$TMP/end"
	EOT
	chmod 777 "$TMP"
	: >"$TMP/out" >"$TMP/err" # discard earlier output
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -x engine=vm -x follow -c "$TMP/leave" -n 'BEGIN { }' >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	wait_for 60 test -s "$TMP/child"
	wait_for 60 seen "$(cat "$TMP/child")"
	echo >"$TMP/end"
	wait_for 60 grep -q 'has exited' "$TMP/err"
	sleep 0.3 # time to do what is wrong
	kill -0 $tracer || { echo "ended too early: $(cat "$TMP/err")"; fails=1; }
	echo >"$TMP/go"
	wait $tracer
	expect 0 $? "nobody: $(cat "$TMP/err")"
	expect_match '^read$' "$(cat "$TMP/out")"
fi
