# The process engine: a system call that is moved to a stub: threads that sleep in it when tracing begins and ends, and signals.
# needs: gcc x86-64 python3
# timeout: 120
. "$SRC/test/lib.bash"
build moved process/moved.c -lpthread
"$DTRACE" -x engine=process -x evaltime=postinit -qo "$TMP/out" -n 'syscall::read:entry { @[ufunc(ucaller)] = count(); self->fd = arg0; }
	syscall::read:return /errno == 0 && self->fd/ { @r[arg1] = count(); } END { printa("%A %@d\n", @); printa("= %d %@d\n", @r); }' \
	-c "$TMP/moved 2000" >"$TMP/own" 2>"$TMP/err" </dev/null
expect "0 ready end 0 wrong 0" "$? $(echo $(cat "$TMP/own"))" "$(cat "$TMP/err")"
expect 2000 "$(awk '$1 == "=" && $2 == 1 { print $3 }' "$TMP/out")" "$(cat "$TMP/err")"
calls=$(awk '/moved.reader/ { print $2 }' "$TMP/out")
[ "${calls:-0}" -ge 2001 ] || { echo "only ${calls-no} calls: $(cat "$TMP/out")"; count_failure; }

# on and off, while the thread sleeps in it
: >"$TMP/own"
"$TMP/moved" "$TMP/stop" >"$TMP/own" &
pid=$!
at_end 'kill $pid 2>/dev/null'
wait_for 10 grep -q ready "$TMP/own"
for i in $(seq "$(scale 20)"); do
	"$DTRACE" -x engine=process -qn 'syscall::read:entry,syscall::read:return { n++; } tick-2ms /n > 10/ { exit(0); }' -p $pid >"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 $? "$(cat "$TMP/err")"
done
expect "" "$(python3 "$SRC/test/process/text.py" $pid)"
touch "$TMP/stop"
wait $pid
expect "0 end 0 wrong 0" "$? $(tail -1 "$TMP/own")"
