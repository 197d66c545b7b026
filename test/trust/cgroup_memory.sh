# Buffers follow the memory limit of the control group: dtrace works in groups of 12 to 64 MB, and is not killed there.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
! sanitized || skip "sanitizers need more memory than that"
build load engine/load.c -lpthread
top=/sys/fs/cgroup
group=dtrace-test-$$
if [ -e $top/memory/memory.limit_in_bytes ]; then
	group=$top/memory/$group limit=memory.limit_in_bytes
elif grep -qsw memory $top/cgroup.controllers; then
	echo +memory >$top/cgroup.subtree_control 2>/dev/null || skip "control groups for memory are not for us"
	group=$top/$group limit=memory.max
else
	skip "no control groups for memory are mounted at $top"
fi
mkdir "$group" 2>/dev/null || skip "no control group can be made"
rmdir "$group"
groups=0
at_end 'for ((i = 1; i <= groups; i++)); do wait_for 20 rmdir "$group-$i"; done'
# within MB ARGS: dtrace in a new group of that size: what it has in the kernel may be freed after its end.
within() {
	local dir=$group-$((++groups))
	mkdir "$dir"
	echo $(($1 << 20)) >"$dir/$limit"
	shift
	(echo "$BASHPID" >"$dir/cgroup.procs" && exec timeout -k 5 60 "$DTRACE" "$@") >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
n=$(scale 2000)
for mb in 12 16 32 64; do
	within $mb -qn 'BEGIN { trace("hello"); exit(0); }'
	expect "0 hello" "$status $(echo $out)" "$mb MB: BEGIN"
	within $mb -q -c "$TMP/load -t 2 -n $n" -n '
		syscall::getppid:entry /pid == $target/ { @n = count(); @k[execname, tid] = quantize(vtimestamp); self->x = 1; t[tid] = timestamp; }
		syscall::getppid:return /self->x && t[tid]/ { @r = count(); self->x = 0; }
		END { printa("n %@d\n", @n); printa("r %@d\n", @r); }'
	expect 0 "$status" "$mb MB: status ($err)"
	expect "n $((2 * n)) r $((2 * n))" "$(grep '^[nr] ' "$TMP/out" | xargs)" "$mb MB: counts"
	expect "" "$(grep -v ' size lowered to ' "$TMP/err")" "$mb MB: messages"
done
within 12 -qn 'BEGIN { exit(0); }'
expect_match 'buffer size lowered to [0-9]+k' "$err"
within 12 -q -b 1g -x aggsize=1g -x dynvarsize=1g -x specsize=1g -n 'syscall:::entry { @ = count(); t[tid] = 1; trace(1); } tick-100ms { exit(0); }'
expect 0 "$status" "sizes beyond the group: status ($err)"
within 12 -q -b 1g -x bufresize=manual -n 'BEGIN { exit(0); }'
expect "1 dtrace: could not enable tracing: bufsize does not fit in this machine's memory" "$status $err"
