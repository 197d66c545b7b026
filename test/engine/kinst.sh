# timeout: 600
# The kinst provider: every instruction of a function, registers, and invalid offsets.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
ktrace -l -n kinst::vfs_read:0
[ "$status" = 0 ] || skip "${err#dtrace: failed to match kinst::vfs_read:0: }"
before=$(noise)
build load engine/load.c -lpthread
n=$(scale 20000) threads=2
events=$((n * threads))

# A function without branches: all of its instructions are executed as often as it is called.
call=$("$DTRACE" -l -n 'fbt::*sys_getppid:entry' 2>/dev/null | awk 'NR == 2 { print $(NF - 1) }')
ktrace -l -n "kinst::$call:"
offsets=$(awk 'NR > 1 { print $NF }' "$TMP/out")
expect 0 "$(head -n 1 <<<"$offsets")"
expect "$(sort -n <<<"$offsets")" "$offsets" "in order"
first=$(sed -n 2p <<<"$offsets")
ktrace -q -c "$TMP/load -t $threads -n $n" -n "
	kinst::$call:0, kinst:vmlinux:$call:$first /pid == \$target/ { @[probefunc, probename] = count(); }
	kinst::$call:0 /pid == \$target && regs[R_PC] != 0 && (int64_t)regs[R_SP] < 0 && arg0 == 0/ { @r[\"regs\"] = count(); }"
expect 0 "$status" "$err"
expect "" "$err"
expect_match "^  $call +0 +$events\$" "$out"
expect_match "^  $call +$first +$events\$" "$out"
expect_match "^  regs +$events\$" "$out"

# All of them.
ktrace -q -c "$TMP/load -t 1 -n 10" -n "kinst::$call: /pid == \$target/ { @[probename] = count(); }"
expect 0 "$status" "$err"
expect_match '^  0 +10$' "$out"
[ "$(lines '^  [0-9]+ +10$')" -gt 3 ] || { echo "few instructions: $out"; fails=1; }

# An id finds the instruction again.
ktrace -l -n "kinst::$call:$first"
id=$(awk 'NR == 2 { print $1 }' "$TMP/out")
ktrace -l -i "$id"
expect_match "^ *$id +kinst +vmlinux +$call $first\$" "$out"
ktrace -q -c "$TMP/load -t 1 -n 10" -i "$id /pid == \$target/ { @[probefunc, probename, id] = count(); }"
expect_match "^  $call +$first +$id +10\$" "$out"

# As many are enabled as are said to match, also of a function with a tracepoint, where the kernel rewrites a jump itself.
traced=wake_up_new_task
listed=$("$DTRACE" -l -n kinst::$traced: | grep -c " $traced ")
(cd / && exec "$DTRACE" -n "kinst::$traced: { @ = count(); } tick-1s { printf(\"on\"); }" >"$TMP/on" 2>"$TMP/err") &
pid=$!
wait_for 60 grep -qs on$ "$TMP/on"
expect "dtrace: description 'kinst::$traced: ' matched $((listed + 1)) probes" "$(cat "$TMP/err")"
mkdir "$TMP/debug" && mount -t debugfs none "$TMP/debug" 2>/dev/null &&
	{ expect "$listed" "$(grep -c " $traced+" "$TMP/debug/kprobes/list")" "kprobes in place"; umount "$TMP/debug"; }
kill -TERM $pid
wait $pid

# Registers are the arguments.
ktrace -q -c 'dd if=/dev/zero of=/dev/null bs=123 count=50' -n 'kinst::vfs_read:0 /pid == $target && regs['"$R_ARG2"'] == 123/ { @[func(regs[R_PC])] = count(); @s[stack(2)] = count(); }'
expect 0 "$status" "$err"
expect_match '^  vmlinux`vfs_read +50$' "$out"
case $HOSTTYPE in x86_64) expect_match 'vmlinux`ksys_read' "$out" ;; esac # aarch64: doc/aarch64.md, stacks

bad() { # description, why
	ktrace -n "$1"
	expect 1 "$status"
	expect_match "$2" "$err"
}
bad kinst::vfs_read:1 'offset 1 is inside an instruction of vfs_read: the one at 0 is [45] bytes long'
bad kinst::vfs_read:999999 'has no offset 999999: it is [0-9]+ bytes long'
bad kinst::vfs_raed:0 'did you mean "vfs_read"'
bad kinst::vfs_read:entry 'named by a decimal offset'
bad kinst:::0 'needs the name of a function'
case $HOSTTYPE in x86_64) bad kinst::_raw_spin_lock:0 'cannot be traced: the tracer itself calls it' ;; esac # inline elsewhere
expect "$before" "$(noise)" "the kernel's log"

# -lv: the instruction itself; a return, and where a call goes
trace -lvn kinst::vfs_read:
expect 0 $status
expect "" "$(grep '\.inst 0xffff' "$TMP/out")" "data between functions, the upper half of an address (aarch64)"
expect_match '^		ret$|^		jmp .* <__x86_return_thunk>$' "$(grep -A1 Instruction "$TMP/out")"
expect_match '^		(call|bl) .* <[a-z_]+>$' "$(grep -A1 Instruction "$TMP/out")"
