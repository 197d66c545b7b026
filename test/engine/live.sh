# timeout: 120
# The consumer during tracing: buffer policies, rates, -F, interrupts, -c and -p, setopt(), messages about losses.
# needs: root bpf gcc taskset
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
load="$TMP/load -t 1"
mine='/pid == $target/'
set -m # background jobs keep SIGINT
has() { grep -qE -- "$1" "$TMP/$2"; }
numbers() { sed -n 's/^R \([0-9]*\)$/\1/p' "$TMP/out"; }

# ---- policies ----
# A buffer of 8 KB holds some 340 such records; each CPU has one, so the load stays on one.
pinned="taskset -c 0 $load"
# fill: the first records, without a gap; tracing ends; there is room for END
ktrace -x bufpolicy=fill -x bufsize=8k -q -c "$pinned -n 1000" -n "
	syscall::getppid:entry $mine { printf(\"R %d\n\", i++); } END { printf(\"end\n\"); }"
expect 0 "$status"
expect "" "$err"
expect "$(seq 0 $(($(numbers | wc -l) - 1)))" "$(numbers)" fill
expect_match '^end$' "$out"
[ "$(numbers | wc -l)" -gt 50 ] && [ "$(numbers | wc -l)" -lt 1000 ] || { echo "fill: $(numbers | wc -l) records"; fails=1; }
# ring: the last ones, without a gap, printed at the end
for n in 1000 $(scale 200000); do
	ktrace -x bufpolicy=ring -x bufsize=8k -q -c "$pinned -n $n" -n "
		syscall::getppid:entry $mine { printf(\"R %d\n\", i++); } END { printf(\"end\n\"); }"
	expect "" "$err"
	expect "$(seq $((n - $(numbers | wc -l))) $((n - 1)))" "$(numbers)" "ring, $n"
	expect_match '^end$' "$out"
	[ "$(numbers | wc -l)" -gt 50 ] && [ "$(numbers | wc -l)" -lt 1000 ] || { echo "ring: $(numbers | wc -l) records"; fails=1; }
done
# switch: a buffer that fills long before switchrate wakes its reader: more comes through than fits into one.
# How much more depends on when the reader gets a CPU, and if it does not there is nothing to see: then once more.
# What does not come is counted.
n=$(scale 1000000)
woken() {
	ktrace -x bufsize=64k -x switchrate=1hour -x aggrate=1hour -x statusrate=1hour -q -c "$pinned -n $n" -n "
		syscall::getppid:entry $mine { printf(\"R %d\n\", i++); }"
	expect "$n" $(($(numbers | wc -l) + $(lost "drops? on CPU"))) "switch"
	[ "$(numbers | wc -l)" -gt $((2 * 65536 / 24)) ]
}
wait_for 60 woken

# ---- rates ----
start() { # dtrace arguments; its pid in $tracer
	: >"$TMP/out"
	"$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null 7>&- &
	tracer=$!
}
end() { # signal; status in $status
	kill -"$1" $tracer
	wait $tracer
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
start -x switchrate=20ms -qn 'tick-10ms { printf("t %d\n", i++); }'
wait_for 10 has '^t 3$' out || { echo "switchrate=20ms: nothing after 10 s"; fails=1; }
end INT
expect 0 "$status"
# exit() is seen at once, unless the user says when the status is checked; how soon: test/compat/rates.sh
ktrace -x switchrate=1hour -x aggrate=1hour -qn 'tick-10ms { printf("x\n"); exit(3); } END { printf("end\n"); }'
expect 3 "$status"
expect "x
end" "$(grep . <<<"$out")"
# printa() with clear() and trunc() every now and then: everything is shown exactly once
for act in clear trunc; do
	ktrace -x switchrate=10ms -q -c "$load -n $(scale 200000)" -n "
		syscall::getppid:entry $mine { @[execname] = count(); }
		tick-20ms { printa(\"T %s %@d\n\", @); $act(@); }
		END { printa(\"T %s %@d\n\", @); $act(@); }"
	expect "$(scale 200000)" "$(total '^T load')" "printa and $act"
done

# ---- interrupts ----
for sig in INT TERM; do
	start -x switchrate=20ms -qn 'BEGIN { printf("begin\n"); } tick-10ms { @["ticks"] = count(); } tick-10ms /!on/ { on = 1; printf("on\n"); } END { printf("end %d\n", pid == $pid); }'
	wait_for 10 has on out
	end $sig
	expect 0 "$status" "SIG$sig"
	expect_match '^begin$' "$out"
	expect_match '^end 1$' "$out"
	expect_match '^  ticks +[1-9][0-9]*$' "$out"
done
start -qn 'BEGIN { printf("begin\n"); } tick-10ms { printf("t\n"); } END { printf("end\n"); }' -x switchrate=10ms
wait_for 10 has '^t' out
kill -INT $tracer
end INT
[ "$status" = 0 ] || [ "$status" = 130 ] || { echo "two interrupts: status $status"; fails=1; }

# ---- -F ----
ktrace -F -c "$load -n 16 -y" -n "syscall::getppid:, syscall::sched_yield: $mine { }"
expect "=> getppid
<= getppid
=> sched_yield
<= sched_yield" "$(sed -nE 's/^ *[0-9]+ +((=>|<=) [a-z_]+).*/\1/p' "$TMP/out" | uniq -c | awk '$1 == 1 { print $2, $3 }' | awk '!seen[$0]++')"
expect 16 "$(lines '=> getppid')"
expect 16 "$(lines '<= getppid')"
expect 2 "$(lines '=> sched_yield')"

# ---- -c, -p, progenyof ----
cat >"$TMP/family" <<-EOT
	$TMP/load -t 1 -n 100 >/dev/null
	(exec $TMP/load -t 1 -n 50) >/dev/null
	true
EOT
if [ -r /sys/kernel/btf/vmlinux ]; then
	"$TMP/load" -t 1 -n 1000 -w <<<"" >/dev/null & # an unrelated process
	ktrace -q -c "sh $TMP/family" -n '
		syscall::getppid:entry /progenyof($target) && execname == "load"/ { @ = count(); } END { printa("n %@d\n", @); }'
	expect "n 150" "$(grep ^n <<<"$out")" progenyof
	wait
fi
mkfifo "$TMP/in"
"$TMP/load" -t 1 -n 500 -w <"$TMP/in" >/dev/null &
pid=$!
exec 7>"$TMP/in"
start -q -p $pid -n "BEGIN { printf(\"begin\n\"); } syscall::getppid:entry $mine { @ = count(); } END { printa(\"n %@d\n\", @); }" -x switchrate=10ms
wait_for 10 has begin out
echo >&7
exec 7>&-
wait $tracer
expect 0 $?
expect "n 500" "$(grep ^n "$TMP/out")" "-p"
ktrace -c "$load -n 1" -n 'BEGIN { }'
expect_match '^dtrace: pid [0-9]+ has exited$' "$err"

# ---- stacks and symbols ----
ktrace -q -c "$load -n 1" -n "syscall::getppid:entry $mine { stack(); stack(1); sym(caller); func(caller); mod(caller); printf(\"%A\n\", caller); ustack(); exit(0); }"
if grep -q '^ffff' /proc/kallsyms; then
	expect_match '^ +vmlinux`[a-z_0-9A-Z.]+\+0x[0-9a-f]+$' "$out"
	expect_match 'vmlinux`[a-z_0-9A-Z.]+ +vmlinux`[a-z_0-9A-Z.]+ +vmlinux ' "$out"
fi
expect_match '^0xffff[0-9a-f]{12}$' "$(grep -oE '0xffff[0-9a-f]{12}$' <<<"$out" | tail -n 1)"
ktrace -q -c "$load -n $(scale 200000)" -n "profile-997 $mine { @[stack(3)] = count(); @u[ustack(2)] = count(); }"
expect 0 "$status"
expect_match '^ +[1-9][0-9]*$' "$out"

# ---- setopt ----
ktrace -x switchrate=10ms -n 'tick-20ms { printf("R %d\n", i++); setopt("quiet"); } tick-20ms /i == 4/ { exit(0); }'
expect 1 "$(lines ':tick-20ms R 0$')"
expect "1
2
3" "$(numbers)" 'setopt("quiet")'
ktrace -qn 'tick-10ms { setopt("bufsize", "1m"); exit(0); }'
expect_match '^dtrace: .*Operation illegal when tracing is active' "$err"

# ---- messages ----
ktrace -x bufsize=1k -q -c "$load -n 1000" -n "syscall::getppid:entry $mine { trace(1); }"
expect_match '^dtrace: [0-9]+ drops on CPUs? [0-9,-]+$' "$err"
ktrace -x droptags -x bufsize=1k -q -c "$load -n 1000" -n "syscall::getppid:entry $mine { trace(1); }"
expect_match '^dtrace: \[DTRACEDROP_PRINCIPAL\] [0-9]+ drops on CPUs? [0-9,-]+$' "$err"
ktrace -x aggsize=1k -q -c "$load -n 1000" -n "syscall::getppid:entry $mine { @[i++] = count(); } END { trunc(@); }"
expect_match '^dtrace: [0-9]+ aggregation drops on CPUs? [0-9,-]+$' "$err"
ktrace -x dynvarsize=1k -q -c "$load -n 1000" -n "syscall::getppid:entry $mine { a[i++] = 1; }"
expect_match '^dtrace: [0-9]+ dynamic variable drops$' "$err"
ktrace -x nspec=1 -q -c "$load -n 1000" -n "syscall::getppid:entry $mine { s = speculation(); }"
expect_match '^dtrace: [0-9]+ failed speculations? \(no speculative buffer available\)$' "$err"
expect 999 "$(lost "failed speculations?")" "failed speculations, in one message or several"
ktrace -x specsize=1k -q -c "$load -n 1000" -n "
	syscall::getppid:entry /pid == \$target && !s/ { s = speculation(); }
	syscall::getppid:entry $mine { speculate(s); printf(\"R\n\"); } END { commit(s); }"
expect_match '^dtrace: [0-9]+ speculative drops$' "$err"
expect 1000 $(($(lines '^R') + $(lost "speculative drops?"))) "speculative drops"
ktrace -q -c "$load -n 2" -n "ERROR { trace(*(int *)1); } syscall::getppid:entry $mine { trace(*(int *)2); }"
expect 2 "$(lost "errors? in ERROR probe enabling")"
