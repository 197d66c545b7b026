# Without privilege one line says what is missing and how to get it; CAP_BPF and CAP_PERFMON are enough.
# needs: root nobody bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
chmod 755 "$TMP"

as_nobody() { # capabilities ("" for none), arguments of dtrace
	local caps=()
	[ -z "$1" ] || caps=(--inh-caps="$1" --ambient-caps="$1")
	shift
	setpriv --reuid=nobody --regid=nogroup --clear-groups "${caps[@]}" "$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
refused() {
	expect 1 "$status"
	expect 1 "$(wc -l <"$TMP/err")" "lines of message"
	expect_match '^dtrace: could not enable tracing: .*(root|CAP_BPF and CAP_PERFMON)' "$err"
	expect_match 'setcap cap_bpf,cap_perfmon' "$err"
}
for probe in 'syscall::getppid:entry' 'profile-97' 'tick-1s, profile-97' 'sdt:sched::sched_switch'; do
	as_nobody "" -qn "$probe { exit(0); }"
	refused
	as_nobody +bpf -qn "$probe { @ = count(); exit(0); }"
	refused
	as_nobody +perfmon -qn "$probe { exit(0); }"
	refused
done
as_nobody "" -qx engine=bpf -n 'BEGIN { exit(0); }'
refused
# what needs no privilege works without
as_nobody "" -qn 'BEGIN { @[execname == "dtrace"] = count(); exit(3); }'
expect 3 "$status"
expect_match '^ +1 +1$' "$out"
case $HOSTTYPE in x86_64) # the process engine has clocks
	as_nobody "" -qn 'tick-10ms { exit(4); }'
	expect "4 " "$status $err"
	;;
esac
as_nobody "" -ln syscall::getppid:entry
expect 0 "$status"

# what only root may do: the message says so, unless the kernel is locked down
as_nobody +bpf,+perfmon -wqn 'syscall::getppid:entry /pid == 0/ { copyoutstr("x", 0, 2); } BEGIN { exit(0); }'
expect 1 "$status"
expect_match 'write user memory.*cannot be used' "$err"
if grep -qs '\[none\]' /sys/kernel/security/lockdown; then
	expect_match 'without the capability CAP_SYS_ADMIN' "$err"
fi

# Debian's kernels can be configured to let only root sample the clock
clock='profile-997 { @clock = count(); }'
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || {
	as_nobody +bpf,+perfmon -qn "$clock"
	expect 1 "$status"
	expect_match 'perf_event_paranoid' "$err"
	clock=
}
n=$(scale 2000)
as_nobody +bpf,+perfmon -q -c "$TMP/load -t 2 -n $n" -n '
	BEGIN { printf("begin %d\n", $target > 0); }
	syscall::getppid:entry /pid == $target/ { @n = count(); @k[execname, tid > 0] = count(); self->x = timestamp; t[tid] = 1; }
	syscall::getppid:return /self->x && t[tid]/ { @r = count(); self->x = 0; }
	END { printa("n %@d\n", @n); printa("k %s %d %@d\n", @k); printa("r %@d\n", @r); } '"$clock"
expect 0 "$status"
expect "" "$err"
expect "begin 1
n $((2 * n))
k load 1 $((2 * n))
r $((2 * n))" "$(grep '^[a-z]' <<<"$out")"
if [ -r /sys/kernel/btf/vmlinux ]; then
	as_nobody +bpf,+perfmon -q -c "$TMP/load -t 2 -n $n -y" -n '
		sdt:sched::sched_switch /pid == $target/ { @[args[1]->comm] = count(); }
		syscall::getppid:entry /progenyof($target)/ { @p[ppid > 0] = count(); }
		END { printa("switch %s\n", @); printa("p %d %@d\n", @p); }'
	expect 0 "$status"
	expect_match '^switch load$' "$out"
	expect_match "^p 1 $((2 * n))\$" "$out"
fi
