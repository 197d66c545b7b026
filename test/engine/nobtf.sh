# A kernel whose type information cannot be read, and no tracefs: what is possible works, the rest is refused
# with the reason.
# needs: root bpf mountns gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
if [ "${1-}" != inside ]; then
	mkdir -p /sys/kernel/btf 2>/dev/null
	[ -d /sys/kernel/btf ] || skip "this kernel has no BTF anyway"
	unshare -m bash "$0" inside
	exit
fi
mount -t tmpfs none /sys/kernel/btf
for dir in /sys/kernel/tracing /sys/kernel/debug; do umount -q "$dir" 2>/dev/null; done
n=$(scale 2000) load="$TMP/load -t 2 -n $(scale 2000)"

ktrace -qn 'BEGIN { a["x", 1] = strjoin("a", "b"); @[a["x", 1]] = count(); printf("%s %d\n", execname, pid == $pid); exit(4); }'
expect 4 "$status"
expect "" "$err"
expect_match '^dtrace 1$' "$out"
ktrace -q -c "$load" -n '
	syscall::getppid:entry /pid == $target/ { @n = count(); @k[execname, cpu >= 0] = count(); t[tid] = timestamp; }
	syscall::getppid:return /t[tid]/ { @r[arg1 > 0, errno] = count(); t[tid] = 0; }
	profile-997 { @clock = count(); }
	END { printa("n %@d\n", @n); printa("k %s %d %@d\n", @k); printa("r %d %d %@d\n", @r); }'
expect "" "$err"
expect "n $((2 * n))
k load 1 $((2 * n))
r 1 0 $((2 * n))" "$(grep '^[nkr] ' <<<"$out")"
for x in 'BEGIN { trace(curthread->pid); }' 'BEGIN { trace(ppid); exit(0); }' 'BEGIN { trace(vtimestamp); exit(0); }' \
	'sdt:sched::sched_switch { exit(0); }'; do
	ktrace -qn "$x"
	expect 1 "$status" "$x"
	expect_match '/sys/kernel/btf/vmlinux' "$err"
done
ktrace -l -P sdt
expect_match 'tracepoints are not known: /sys/kernel/btf/vmlinux' "$err"
