# Other names of the same probes: dashes for underscores, other names of the sdt provider, of system calls; -32.
. "$SRC/test/lib.bash"
listed() { "$DTRACE" -l "$@" 2>&1 | awk 'NR > 1 { print $2 ":" $3 ":" $4 ":" $5 }'; }
for pair in stat:newstat fstat:newfstat uname:newuname pread64:pread pwrite64:pwrite newfstatat:fstatat umount2:umount; do
	expect "syscall:vmlinux:${pair%:*}:entry" "$(listed -n "syscall:vmlinux:${pair#*:}:entry")"
done
# probefunc is the real name, and a pattern is not an alias
dt -ln 'syscall:vmlinux:newsta[t]:entry'
expect 1 "$status"
dt -n 'BEGIN { exit(0); }' -32
expect 0 "$status"
expect_match '^dtrace: -32 has no effect: D programs use the types of the kernel' "$err"
dt -qn 'BEGIN { trace(sizeof(long)); exit(0); }' -64
expect "" "$err"
expect 8 "$(grep -o "[0-9]*" <<<"$out")"
[ -r /sys/kernel/btf/vmlinux ] || { echo "the rest needs BTF"; exit; }
want=$("$DTRACE" -ln 'sdt:::sched_switch' | tail -n 1)
expect_match 'sdt .* sched_switch$' "$want"
for name in sdt:::sched-switch rawtp:::sched_switch tracepoint:::sched_switch rawtp:::sched-switch 'sdt:::sched-[r-t]witc*'; do
	expect "$want" "$("$DTRACE" -ln "$name" 2>&1 | tail -n 1)" "$name"
done
dt -ln sdt:::sched-swich
expect_match 'no tracepoint "sched_swich"; did you mean "sched_switch"\?$' "$err"
dt -en 'rawtp:::sched-switch { trace(args[2]->comm); }'
expect 0 "$status"
