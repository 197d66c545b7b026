# Twenty tracers at once count the same; one that is killed leaves nothing behind.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
pids=()
for i in $(seq 20); do
	"$DTRACE" -qn 'syscall::getppid:entry /execname == "many-work"/ { @ = count(); } END { printa("%@d\n", @); }
		tick-100ms /!on/ { on = 1; printf("on\n"); }' >"$TMP/out.$i" 2>&1 &
	pids+=($!)
done
for i in $(seq 20); do # until all of them trace
	wait_for 30 test -s "$TMP/out.$i"
done
cp "$TMP/work" "$TMP/many-work"
"$TMP/many-work" 5000 2
kill -KILL "${pids[0]}"
kill -TERM "${pids[@]:1}"
wait "${pids[@]}" 2>/dev/null
for i in $(seq 2 20); do expect 10000 "$(sed '/^$/d; /^on$/d' "$TMP/out.$i")" "tracer $i"; done
expect '' "$(grep -l "bpf" /proc/"${pids[0]}"/fdinfo/* 2>/dev/null)"
