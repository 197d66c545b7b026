# A kernel in lockdown: what is allowed works, the rest is refused with the reason. (test/guests/run boots
# such kernels.)
# needs: root bpf gcc
. "$SRC/test/lib.bash"
lockdown=$(unshare -m sh -c 'grep -q . /sys/kernel/security/lockdown 2>/dev/null || mount -t securityfs none /sys/kernel/security
	grep -o "\[[a-z]*\]" /sys/kernel/security/lockdown' 2>/dev/null)
case $lockdown in "" | '[none]') skip "this kernel is not locked down" ;; esac
build load engine/load.c -lpthread
n=$(scale 2000) load="$TMP/load -t 2 -n $(scale 2000)"

ktrace -q -c "$load" -n '
	syscall::getppid:entry /pid == $target/ { @n = count(); @k[execname, tid > 0] = count(); self->x = 1; }
	syscall::getppid:return /self->x/ { printf("r %d\n", errno); self->x = 0; }
	profile-97 { @clock = count(); }'
expect 0 "$status" "$err"
expect "" "$err"
expect_match "^  load +1 +$((2 * n))\$" "$out"
expect $((2 * n)) "$(lines '^r 0$')"
# numbers, members of the current thread among them, with every policy
for policy in switch ring; do
	ktrace -x bufpolicy=$policy -q -c "$load" -n '
		syscall::getppid:entry /pid == $target/ { printf("r %d %d\n", timestamp != 0, curthread->pid == tid && curthread->exit_state == 0); }'
	expect 0 "$status" "$err"
	expect "r 1 1" "$(grep . <<<"$out" | sort -u)" "bufpolicy=$policy"
done
# again and again: Linux 6.12 crashed on a private mount of a tracefs that it hides
for _ in 1 2 3; do
	ktrace -q -c "$load" -n 'sdt:sched::sched_switch /pid == $target/ { @s["switches"] = count(); }'
	expect 0 "$status" "$err"
	expect_match '^  switches +[1-9]' "$out"
done
ktrace -wq -c "$load" -n 'syscall::getppid:entry /pid == $target/ { copyoutstr("x", 0, 2); }'
expect 1 "$status"
expect_match 'locked down' "$err"
# functions of the kernel: what does not read its memory
ktrace -q -c "$load" -n 'fbt::__task_pid_nr_ns:entry, fbt::__task_pid_nr_ns:return /pid == $target/ { @[probename] = count(); }'
if [ "$status" = 0 ]; then
	for name in entry return; do [ "$(total "^  $name")" -ge $((2 * n)) ] || { echo "too few: $out"; fails=1; }; done
else
	expect_match 'built without kprobes' "$err"
fi
ktrace -e -n 'kinst::vfs_read:0'
[ "$lockdown" != '[confidentiality]' ] || { expect 1 "$status"; expect_match 'locked down|built without kprobes' "$err"; }
ktrace -qn 'BEGIN { trace(curthread->comm); exit(0); }'
if [ "$lockdown" = '[confidentiality]' ]; then
	expect 1 "$status"
	expect_match 'does not let BPF programs read its memory: it is locked down' "$err"
else
	expect 0 "$status"
	expect_match dtrace "$out"
fi
