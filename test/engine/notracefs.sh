# timeout: 120
# tracefs is not mounted: tracepoints still have their subsystems, and nothing is mounted afterwards.
# needs: root bpf btf mountns gcc
. "$SRC/test/lib.bash"
if [ "${1-}" != inside ]; then
	unshare -m bash "$0" inside
	exit
fi
build load engine/load.c -lpthread
for dir in /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug; do umount -q "$dir" 2>/dev/null; done
mounted() { grep -cE ' (tracefs|debugfs) ' /proc/self/mounts; }
expect 0 "$(mounted)" "tracefs is gone"
expect sched "$("$DTRACE" -ln sdt:::sched_switch | awk 'NR > 1 { print $3 }')"
ktrace -q -c "$TMP/load -t 2 -n $(scale 2000) -y" -n 'sdt:sched::sched_switch /pid == $target/ { @[probemod, args[1]->comm] = count(); } END { printa("%s %s\n", @); }'
expect 0 "$status" "$err"
expect "sched load" "$(grep . <<<"$out")"
expect 0 "$(mounted)" "what is mounted afterwards"
# what needs no tracefs
ktrace -q -c "$TMP/load -t 1 -n 10" -n 'syscall::getppid:entry /pid == $target/ { @ = count(); } profile-97 { @p = count(); } END { printa("n %@d\n", @); }'
expect "n 10" "$(grep ^n <<<"$out")"
