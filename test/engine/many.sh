# timeout: 180
# Two, ten, fifty dtrace processes at once: each counts all of the same workload, exactly.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
set -m # SIGINT also reaches dtrace
cp "$TMP/load" "$TMP/load$$"
calls=$(scale 2000)

script='
BEGIN { printf("up\n"); }
syscall::getppid:entry /execname == "load'$$'"/ { @n = count(); @k[execname, cpu >= 0] = sum(2); self->x = timestamp; a[tid] = 1; }
syscall::getppid:return /self->x/ { @r = count(); @a[a[tid]] = count(); self->x = 0; a[tid] = 0; }
END { printa("n %@d\n", @n); printa("k %s %d %@d\n", @k); printa("r %@d\n", @r); printa("a %d %@d\n", @a); }'

is_up() { grep -q up "$TMP/out.$1"; }
at_once() {
	local n=$1 i want
	local pids=()
	for i in $(seq "$n"); do
		: >"$TMP/out.$i" # discard earlier output
		"$DTRACE" -qn "$script" >"$TMP/out.$i" 2>&1 </dev/null &
		pids[i]=$!
	done
	for i in $(seq "$n"); do wait_for 60 is_up "$i" || { echo "$i of $n did not start"; cat "$TMP/out.$i"; fails=1; }; done
	"$TMP/load$$" -t 4 -n "$calls" >/dev/null
	kill -INT "${pids[@]}"
	for i in $(seq "$n"); do
		wait "${pids[i]}"
		expect 0 $? "status of $i of $n"
	done
	want="up

n $((4 * calls))
k load$$ 1 $((8 * calls))
r $((4 * calls))
a 1 $((4 * calls))"
	for i in $(seq "$n"); do expect "$want" "$(cat "$TMP/out.$i")" "$i of $n"; done
}

at_once 2
at_once 10
[ -n "${SLOW-}" ] || at_once 50

# records, probes at the same place in user code, the clock; one of them is killed in the middle: the others miss nothing
several() {
	local n=$1 i
	local pids=()
	for i in $(seq "$n"); do
		: >"$TMP/out.$i" # discard earlier output
		"$DTRACE" -x bufsize=1m -qn 'BEGIN { printf("up\n"); }
			syscall::getppid:entry /execname == "load'$$'"/ { printf("S %d\n", tid); }
			pid*:'"$TMP/load$$"':place:entry { printf("P %d\n", arg0); @s = sum(arg0); }
			profile-97 { @clock = count(); } END { printa("sum %@d\n", @s); }' >"$TMP/out.$i" 2>&1 </dev/null &
		pids[i]=$!
	done
	for i in $(seq "$n"); do wait_for 60 is_up "$i" || { echo "$i of $n did not start"; cat "$TMP/out.$i"; fails=1; }; done
	"$TMP/load$$" -t 4 -n "$calls" -u >/dev/null &
	kill -KILL "${pids[1]}"
	wait $! "${pids[1]}"
	kill -INT "${pids[@]:2}"
	for i in $(seq 2 "$n"); do
		wait "${pids[i]}"
		expect 0 $? "status of $i of $n"
		expect "$((4 * calls)) $((4 * calls)) sum $((4 * calls * (calls - 1) / 2))" \
			"$(grep -c '^S' "$TMP/out.$i") $(grep -c '^P' "$TMP/out.$i") $(grep sum "$TMP/out.$i")" "$i of $n, records"
		expect "" "$(grep dtrace: "$TMP/out.$i")" "$i of $n, messages"
	done
}
several 8
