# timeout: 600
# The fbt provider: exact counts by every method the kernel has, types, modules, the tree of calls, and what
# cannot be traced.
# needs: root bpf kprobes gcc
. "$SRC/test/lib.bash"
before=$(noise)
build load engine/load.c -lpthread
n=$(scale 20000) threads=3 mine='/pid == $target/'
events=$((n * threads))

# The function of a system call: on some kernels its arguments are only in registers.
call=$(cd "$TMP" && "$DTRACE" -l -n 'fbt::*sys_getppid:entry' 2>/dev/null | awk 'NR == 2 { print $(NF - 1) }')
ktrace -q -c "$TMP/load -t $threads -n $n" -n "
	fbt::$call:entry $mine { @[\"entry\"] = count(); }
	fbt:kernel:$call:return $mine { @[\"return\"] = count(); }
	fbt::__task_pid_nr_ns:entry $mine { @[\"inner\"] = count(); }"
expect 0 "$status" "$err"
expect "" "$err"
expect $events "$(total '^  entry')" "$call:entry"
expect $events "$(total '^  return')" "$call:return"

# Arguments and values, typed and raw, called directly and through registers.
dd="dd if=/dev/zero of=/dev/null bs=123 count=200"
for regs in '' "&& regs[$R_ARG2] == 123"; do
	ktrace -q -c "$dd" -n "
		fbt:vmlinux:vfs_read:entry /pid == \$target && args[2] == 123 && arg2 == 123 $regs/ {
			@[\"entry\", probemod, probefunc, probename] = count(); @f[stringof(args[0]->f_path.dentry->d_name.name)] = count();
			@c[func(caller)] = count(); @s[stack(2)] = count(); }
		fbt::vfs_read:return /pid == \$target && args[1] == 123 && arg1 == 123/ { @[\"return\", probemod, probefunc, probename] = count(); }"
	expect 0 "$status" "$err"
	expect_match '^  entry +vmlinux +vfs_read +entry +200$' "$out"
	expect_match '^  return +vmlinux +vfs_read +return +200$' "$out"
	expect_match '^  zero +200$' "$out"
	expect_match '^  vmlinux`ksys_read +200$' "$out"
	expect_match 'vmlinux`vfs_read(\+0x[0-9a-f]+)? vmlinux`ksys_read\+0x[0-9a-f]+ 200' "$(xargs <"$TMP/out")"
done

# Where a function returned, if it has a single return: the instruction that kinst finds executed as often.
ktrace -q -c "$TMP/load -t 1 -n 10" -n "fbt::$call:return, fbt::__task_pid_nr_ns:return, fbt::vfs_fsync:return, fbt::ksys_*:return $mine { @[probefunc, arg0] = count(); }"
expect 0 "$status" "$err"
expect "" "$(awk 'NF == 3 { n[$1]++ } END { for (f in n) if (n[f] > 1) print f }' "$TMP/out")" "functions with more than one place: $out"
read -r where at times < <(awk 'NF == 3 && $2 > 0' "$TMP/out")
if [ -n "${where-}" ]; then
	ktrace -q -c "$TMP/load -t 1 -n 10" -n "kinst::$where:$at $mine { @[\"there\"] = count(); } fbt::$where:return $mine { @[\"return\"] = count(); }"
	expect 0 "$status" "$err"
	expect "$(total '^  return')" "$(total '^  there')" "$where returns at $at"
else
	echo "no function with one place to return from: $out"
	fails=1
fi

# More than six arguments: the page offset of a mapping is the sixth or the seventh.
printf '#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\nint main(void) { return mmap(0, 4096, PROT_READ, MAP_PRIVATE, open("/bin/sh", 0), 5L * getpagesize()) == MAP_FAILED; }\n' >"$TMP/map.c"
gcc -o "$TMP/map" "$TMP/map.c"
for regs in '' "&& regs[$R_ARG2] == 4096"; do
	ktrace -q -c "$TMP/map" -n "fbt::do_mmap:entry /pid == \$target && arg2 == 4096 $regs/ { printf(\"%d %d\n\", arg5, arg6); }"
	expect 0 "$status" "$err"
	expect_match '(^5 | 5$)' "$out"
done

# Many at once.
many=$(cd "$TMP" && "$DTRACE" -l -n 'fbt::vfs_*:entry' | grep -c entry)
[ "$many" -gt 16 ] || { echo "only $many functions vfs_*"; fails=1; }
ktrace -q -c "$dd" -n 'fbt::vfs_*:entry /pid == $target && (probefunc != "vfs_read" || arg2 == 123)/ { @[probefunc] = count(); }'
expect 0 "$status" "$err"
expect_match '^  vfs_read +200$' "$out"
expect_match '^  vfs_write +2[0-9]+$' "$out"

# A module.
if grep -q ^overlay /proc/modules && [ "$(stat -f -c %T /bin/cat)" = overlayfs ]; then
	ktrace -q -c 'cat /etc/passwd' -n 'fbt:overlay:ovl_open:entry /pid == $target/ { @[probemod, stringof(args[1]->f_path.dentry->d_name.name)] = count(); }'
	expect 0 "$status" "$err"
	expect_match '^  overlay +passwd +1$' "$out"
fi

# -F
cat >"$TMP/flow.d" <<'D'
syscall::getppid:entry /pid == $target/ { self->t = 1; }
fbt::*_sys_getppid:, fbt::__task_pid_nr_ns: /self->t/ {}
syscall::getppid:return /self->t/ { self->t = 0; }
D
ktrace -F -s "$TMP/flow.d" -c "$TMP/load -t 1 -n 1"
expect 0 "$status" "$err"
expect "-> $call
-> __task_pid_nr_ns
<- __task_pid_nr_ns
<- $call" "$(sed -nE 's/^ *[0-9]+ +((->|<-) .*[^ ]) *$/\1/p' "$TMP/out" | sed 's/^\(..\) */\1 /')"

# The whole tree below a system call: what is entered is left again, and in the reverse order.
cat >"$TMP/tree.d" <<'D'
syscall::getppid:entry /pid == $target/ { self->t = 1; }
fbt::: /self->t/ {}
syscall::getppid:return /self->t/ { self->t = 0; exit(0); }
D
ktrace -F -s "$TMP/tree.d" -c "$TMP/load -t 1 -n 1"
if [ "$status" = 0 ]; then
	sed -nE 's/^ *[0-9]+ +((->|<-) .*[^ ]) *$/\1/p' "$TMP/out" | sed 's/^\(..\) */\1 /' >"$TMP/tree"
	expect 1 "$(grep -c -- "-> $call\$" "$TMP/tree")" "$call in the tree"
	expect 1 "$(grep -c -- '-> __task_pid_nr_ns$' "$TMP/tree")" "__task_pid_nr_ns in the tree"
	expect "" "$(sed "1,/-> $call\$/d; /<- $call\$/,\$d" "$TMP/tree" | awk '$1 == "->" { s[++n] = $2 } $1 == "<-" && s[n--] != $2 { print "left: " $2 }')" "$(cat "$TMP/tree")"
else
	expect_match 'are too many: .*\(CONFIG_FPROBE\)' "$err"
fi

# Everything, where the kernel can do that at once.
ktrace -q -c "$TMP/load -t 1 -n 20" -n 'fbt:::entry { @all = count(); } fbt::__task_pid_nr_ns:entry /pid == $target/ { @["inner"] = count(); }'
if [ "$status" = 0 ]; then
	expect_match '^  inner +2[0-9]$' "$out"
else
	expect_match '[0-9]+ probes are too many: at most 5000, because this kernel probes each function on its own.*\(CONFIG_FPROBE\)' "$err"
fi

# Listing: types, and ids that stay.
ktrace -lv -n fbt::vfs_read:
for type in 'args\[0\]: struct file \*' 'args\[2\]: size_t' 'args\[1\]: ssize_t'; do expect_match "$type\$" "$out"; done
id=$(awk '/vfs_read entry/ { print $1 }' "$TMP/out")
ktrace -l -i "$id"
expect_match "^ *$id +fbt +vmlinux +vfs_read entry\$" "$out"

bad() { # description, why
	ktrace -n "$1"
	expect 1 "$status"
	expect_match "$2" "$err"
}
bad fbt::vfs_raed:entry 'no function "vfs_raed"; did you mean "vfs_read"'
case $HOSTTYPE in x86_64) bad fbt::_raw_spin_lock:entry 'cannot be traced: the tracer itself calls it' ;; esac # inline elsewhere
case $HOSTTYPE in x86_64) bad fbt::do_int3:entry 'cannot be traced: the kernel itself calls it while it handles a probe' ;; esac # not listed elsewhere
bad fbt:nosuch:vfs_read:entry 'no module "nosuch" is loaded'
bad fbt::do_exit:return 'never returns'
bad fbt::vfs_read:start 'have the probes entry and return'
bad fbt::trace_call_bpf:entry '\(notrace\)'
ktrace -e -n 'fbt::vfs_read:entry { trace(args[4]); }'
expect_match 'args\[4\]' "$err"
expect "$before" "$(noise)" "the kernel's log"
