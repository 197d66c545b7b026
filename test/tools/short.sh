# Tools about memory that is short: in a group of processes that may have little.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
build counters providers/counters.c
group=
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	group=/sys/fs/cgroup/memory/$name limit=memory.limit_in_bytes
elif { [ -e /sys/fs/cgroup/cgroup.controllers ] || { [ -d /sys/fs/cgroup ] && mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; }; } &&
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	group=/sys/fs/cgroup/$name limit=memory.max
fi
[ -n "$group" ] && mkdir "$group" 2>/dev/null && echo 6M >"$group/$limit" || skip "no group with little memory"
swap=
no_swap() { [ -z "$swap" ] || swapoff "$swap" 2>/dev/null; } # what is about to end still has pages there
at_end 'wait_for 20 no_swap; case $swap in /dev/loop*) losetup -d "$swap" ;; esac; rmdir "$group" 2>/dev/null'
inside() { printf 'echo $$ >%s/cgroup.procs\nexec %s\n' "$group" "$*" >"$TMP/run"; }

# 64 MB without swap: it is killed
if "$DTRACE" -en 'sdt:oom::mark_victim { trace(args[0]->comm); }' >/dev/null 2>&1; then
	inside "$TMP/$name touch 16384"
	tool oomkill "$name" -- /usr/bin/env bash "$TMP/run"
	want 1 "$(rows "^[0-9]+ [A-Z][a-z]+ [0-9]+ [0-9:]+ [0-9]+ $name [0-9]+ $name [0-9]+ 0\$")"
fi

module loop && swap=$(dd if=/dev/zero of="$TMP/swap" bs=1M count=32 status=none && losetup -f --show "$TMP/swap") &&
	mkswap -q "$swap" >/dev/null && swapon "$swap" || { swap=; echo "no device for swap"; exit; }
inside "$TMP/counters swap 3000"
tool swapin 100 -n 'vminfo:::anonpgin /progenyof($target)/ { @_n["_pages"] = sum(arg0); } END { printa("%s %@d\n", @_n); }' -x argref -- /usr/bin/env bash "$TMP/run"
want "$(value _pages)" "$(sum 3 '^[0-9]+ counters [0-9]+$')"
[ "$(value _pages)" -ge 1000 ] || want "at least 1000 pages" "$(value _pages)" # 3000 pages do not fit into 6 MB, and each is used again
tool drsnoop counters -n 'sdt:vmscan::mm_vmscan_memcg_reclaim_end, sdt:vmscan::mm_vmscan_direct_reclaim_end /progenyof($target) && execname == "counters"/ { @_n["_ends"] = sum(1); @_n["_pages"] = sum(arg0); }
	END { printa("%s %@d\n", @_n); }' -x argref -- /usr/bin/env bash "$TMP/run"
want "$(value _ends)" "$(rows '^[0-9]+ [0-9]+ counters (group|memory) [0-9]+ [0-9]+$')"
want "$(value _pages)" "$(sum 6 '^[0-9]+ [0-9]+ counters (group|memory) ')" pages
[ "$(value _ends)" -gt 0 ] || want "some" 0
