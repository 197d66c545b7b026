# The vminfo provider: every probe, with known page faults and page I/O, against getrusage() and /proc/vmstat.
# timeout: 600
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
watch vminfo
build counters providers/counters.c -lpthread
n=$(scale 400)
[ "$n" -ge 40 ] || n=40

cat >"$TMP/window.d" <<'D'
self int on;
syscall::getppid:return /pid == $target/ { self->on = 1; }
syscall::getpgid:entry /pid == $target/ { self->on = 0; }
vminfo::: /self->on/ { @[probename] = sum(arg0); @bad[arg1] = count(); }
END { printa("%s %@d\n", @); printa("arg1 %d\n", @bad); }
D
# window ARGS: what counters does, and vminfo counts meanwhile
window() {
	ktrace -q -s "$TMP/window.d" -c "$TMP/counters $*"
	expect 0 "$status" "$*: $err"
	expect "" "$(grep -v 'drops\? on CPU' <<<"$err")" "$*"
}
at_least() { [ "$(value "$1")" -ge "$2" ] || { echo "$3: $1 is $(value "$1"), expected at least $2"; cat "$TMP/out"; count_failure; }; }

# ---- page faults: all of the thread's, to the last one ----
window zero "$n"
expect "$(value faults)" $(($(value as_fault) + $(value cow_fault))) "zero: faults"
at_least as_fault "$n" zero
at_least zfod "$n" zero
expect "arg1 0" "$(grep ^arg1 "$TMP/out")" arg1
window copy "$n"
expect "$(value faults)" $(($(value as_fault) + $(value cow_fault))) "copy: faults"
at_least cow_fault "$n" copy
window protect 10
expect 10 "$(value prot_fault)" prot_fault
window trap 10
expect 0 "$(value prot_fault)" "no prot_fault"

# ---- the kernel's own, where it has a tracepoint for them: a tracer that follows a bad pointer ----
listed kernel_asflt && ktrace -q -c "$TMP/counters ipc 1" -n 'vminfo:::kernel_asflt { @n = sum(arg0); } syscall::getppid:entry /pid == $target/ { x = *(int *)0xffffc00000000000; }
	END { printa("kernel %@d\n", @n); }'
! listed kernel_asflt || at_least kernel 1 kernel_asflt

# ---- files: a disk is needed ----
find_disk
file=
swap= zram=
undo() {
	rm -f "$file"
	leave_disk
	[ -z "$swap" ] || swapoff "$swap" 2>/dev/null
	case $swap in /dev/loop*) losetup -d "$swap" ;; esac
	[ -z "$zram" ] || { echo 1 >"/sys/block/zram$zram/reset"; echo "$zram" >/sys/class/zram-control/hot_remove; }
}
at_end undo
if [ -n "$disk" ]; then
	file=$(mktemp "$disk/vminfo.XXXXXX")
	dd if=/dev/urandom of="$file" bs=1M count=4 conv=fsync status=none
	ktrace -q -s "$TMP/window.d" -c "$TMP/counters major $file"
	expect "$(value majflt)" "$(value maj_fault)" "major faults"
	at_least maj_fault 1 major
	for p in pgin pgpgin fspgin; do at_least $p 1 major; done
	expect "$(value faults)" $(($(value as_fault) + $(value cow_fault))) "major: faults"
	# read once more, from the disk: all are pages of the file
	dd if="$file" iflag=nocache count=0 status=none
	ktrace -q -c "dd if=$file of=/dev/null bs=64k status=none" -n 'vminfo:::pgpgin, vminfo:::fspgin /pid == $target/ { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }'
	expect "$(value pgpgin)" "$(value fspgin)" "pages of files"
	at_least fspgin 1000 "pages of files"
	# what dd writes: 4 MB, 1024 pages, some of them by a thread of the kernel
	ktrace -q -c "dd if=/dev/zero of=$file bs=1M count=4 conv=fsync,notrunc status=none" -n '
		vminfo::: { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }'
	for p in pgout; do at_least $p 1 dd; done
	for p in pgpgout fspgout; do at_least $p 1024 dd; done
else
	echo "no disk: pgin, pgout and such are not tried"
fi

# ---- memory is short: in a group of processes that may have little ----
group=
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	group=/sys/fs/cgroup/memory/vminfo.$$ limit=memory.limit_in_bytes
elif { [ -e /sys/fs/cgroup/cgroup.controllers ] || { [ -d /sys/fs/cgroup ] && mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; }; } &&
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	group=/sys/fs/cgroup/vminfo.$$ limit=memory.max
fi
if [ -n "$disk" ] && [ -n "$group" ] && mkdir "$group" 2>/dev/null && echo 6M >"$group/$limit"; then
	cat >"$TMP/run" <<-R
		echo \$\$ >$group/cgroup.procs
		dd if=/dev/zero of=$file bs=1M count=12 conv=fsync status=none
		exec $TMP/counters read $file
	R
	ktrace -q -n 'vminfo::: { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' -c "bash $TMP/run"
	for p in scan pgrrun dfree fsfree; do at_least $p 1 reclaim; done
	rmdir "$group" 2>/dev/null
else
	echo "no group with little memory: scan, pgrrun, dfree are not tried"
fi
# a page that is used again and again is kept; by generations this is not an event
by_generation=
if grep -qsv 0x0000 /sys/kernel/mm/lru_gen/enabled; then
	by_generation=":(pgrec)\$: pages are kept by generation"
elif [ -n "$disk" ]; then
	ktrace -q -n 'vminfo:::pgrec { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' \
		-c "bash -c 'dd if=/dev/zero of=$file bs=1M count=4 conv=fsync status=none; for i in 1 2 3 4; do cat $file >/dev/null; done'"
	at_least pgrec 1 "used again"
fi

# ---- swap: a device of our own, in memory, for as long as it takes; the kernel's own count beside ours ----
vmstat() { awk -v k="$1" '$1 == k { print $2 }' /proc/vmstat; }
# Before 6.3 zram takes pages without a request, which cannot be seen.
if [[ $(uname -r) != 6.[012].* ]] && { module zram; [ -e /sys/class/zram-control/hot_add ]; }; then
	zram=$(cat /sys/class/zram-control/hot_add)
	echo 32M 2>/dev/null >"/sys/block/zram$zram/disksize" && swap=/dev/zram$zram
fi
if [ -z "$swap" ] && module loop; then
	dd if=/dev/zero of="$TMP/swap" bs=1M count=32 status=none
	swap=$(losetup -f --show "$TMP/swap")
fi
# before that of another test, which may be slower: there what is written stays in memory
if [ -n "$swap" ] && mkswap -q "$swap" >/dev/null && swapon -p 32767 "$swap"; then
	was_in=$(vmstat pswpin) was_out=$(vmstat pswpout)
	window swap 64
	was_in=$(($(vmstat pswpin) - was_in)) was_out=$(($(vmstat pswpout) - was_out))
	for p in anonpgout pgswapout; do at_least $p 64 swap; [ "$(value $p)" -le "$was_out" ] || { echo "$p: $(value $p), pswpout: $was_out"; count_failure; }; done
	# what is written while others go on stays in memory until that is short: below
	for p in anonpgin pgswapin; do [[ $swap == /dev/loop* ]] || at_least $p 64 swap; [ "$(value $p)" -le "$was_in" ] || { echo "$p: $(value $p), pswpin: $was_in"; count_failure; }; done
	if [ -n "$group" ] && mkdir "$group" 2>/dev/null && echo 6M >"$group/$limit"; then
		printf 'echo $$ >%s/cgroup.procs; exec %s/counters swap 3000\n' "$group" "$TMP" >"$TMP/run"
		ktrace -q -n 'vminfo:::anonfree, vminfo:::anonpgin, vminfo:::pgswapin { @[probename] = sum(arg0); } END { printa("%s %@d\n", @); }' -c "bash $TMP/run"
		at_least anonfree 1000 "memory of processes"
		for p in anonpgin pgswapin; do at_least $p 1000 "memory of processes"; done
		rmdir "$group"
	fi
else
	echo "no device for swap"
fi

expect "args[0]: uint64_t
args[1]: uint64_t *" "$("$DTRACE" -lvn vminfo:::zfod | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
case $HOSTTYPE in x86_64) more=kernel_asflt ;; *) more= ;; esac
for p in as_fault cow_fault maj_fault prot_fault $more zfod pgin pgout scan; do
	listed $p || { echo "$p is missing"; count_failure; }
done
fired ${by_generation:+"$by_generation"}
