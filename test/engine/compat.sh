# timeout: 120
# System calls of 32-bit programs: separate probes in module linux32, with their own numbers and registers.
# needs: root bpf gcc x86-64
# uses: mountns
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
build compat engine/compat.c
if [ ! -e /proc/sys/abi/vsyscall32 ]; then
	expect 0 "$("$DTRACE" -l -P syscall | grep -c linux32)" "listed without 32-bit programs"
	skip "this kernel does not run 32-bit programs"
fi
# listed, by name, by number, and by module
expect "linux32 entry
vmlinux entry" "$("$DTRACE" -ln syscall::getppid:entry | awk 'NR > 1 { print $3, $NF }' | sort)"
expect "socketcall" "$("$DTRACE" -ln syscall::socketcall:entry | awk 'NR > 1 { print $4 }')"
id=$("$DTRACE" -ln syscall:linux32:socketcall:return | awk 'NR > 1 { print $1 }')
expect "linux32 socketcall return" "$("$DTRACE" -l -i "$id" | awk 'NR > 1 { print $3, $4, $5 }')"
expect "		args[0]: unsigned int
		args[1]: userland void *
		args[2]: unsigned int" "$("$DTRACE" -lvn syscall:linux32:pread64:entry | grep 'args\[[012]\]' | head -n 3)"
ktrace -qn 'syscall:linux64::entry { }'
expect_match 'are in module vmlinux \(32-bit programs: linux32\)' "$err"

"$TMP/compat" 1
[ $? != 77 ] || skip "this kernel refuses 32-bit system calls"
n=$(scale 2000)
for btf in with without; do
	hide=()
	[ $btf = with ] || hide=(unshare -m sh -c 'mount --bind /dev/null /sys/kernel/btf/vmlinux; exec "$@"' sh)
	[ -e /sys/kernel/btf/vmlinux ] && ! lacks mountns >/dev/null || [ $btf = with ] || continue
	"${hide[@]}" "$DTRACE" -q -c "$TMP/compat $n" -n '
		syscall::getppid:entry /pid == $target/ { @both = count(); @by[probemod] = count(); }
		syscall:vmlinux:getppid:return /pid == $target/ { @r64 = count(); }
		syscall:linux32:getppid:return /pid == $target && arg1 == $pid/ { @r32 = count(); }
		syscall:linux32:write:entry /pid == $target && copyinstr(arg1) == "low" && arg2 == 4 && (arg0 > 2)/ { @args = count(); }
		syscall:linux32:write:return /pid == $target && arg1 == 4 && !errno/ { @wrote = count(); }
		syscall:linux32:close:entry /pid == $target && arg0 == 0xffffffff && (int)arg0 == -1/ { @minus = count(); }
		syscall:linux32:close:return /pid == $target && errno == EBADF/ { @failed = count(); }
		syscall::semget:entry, syscall::iopl:entry /pid == $target/ { @wrong[probefunc] = count(); }
		END {
			printa("both %@d\n", @both); printa("%s %@d\n", @by); printa("r64 %@d\n", @r64); printa("r32 %@d\n", @r32); printa("args %@d\n", @args);
			printa("wrote %@d\n", @wrote); printa("minus %@d\n", @minus); printa("failed %@d\n", @failed); printa("wrong %s %@d\n", @wrong);
		}' >"$TMP/out" 2>"$TMP/err" </dev/null
	expect 0 $? "$btf BTF: $(cat "$TMP/err")"
	# one more call of each first: does the kernel have them?
	expect "args $n
both $((3 * n + 2))
failed $n
linux32 $((n + 1))
minus $n
r32 $((n + 1))
r64 $((2 * n + 1))
vmlinux $((2 * n + 1))
wrote $n" "$(grep . "$TMP/out" | sort)" "$btf BTF"
done
# an argument that is tested early: those of 32-bit programs are in other registers
ktrace -q -c "$TMP/compat $n" -n 'syscall::close:entry /arg0 == 0xffffffff && pid == $target/ { @[probemod] = count(); } END { printa("%s %@d\n", @); }'
expect "linux32 $n" "$(grep . <<<"$out")"
ktrace -q -c "$TMP/compat $n" -n 'syscall:vmlinux:close:entry, syscall:linux32:getppid:entry /arg0 == 0xffffffff && pid == $target/ { @ = count(); } END { printa("%@d", @); }'
expect "" "$(grep . <<<"$out")"
# one number, two calls: 64 is semget of 64-bit programs and getppid of 32-bit ones
ktrace -q -c "$TMP/compat $n" -n 'syscall:vmlinux:semget:entry, syscall:linux32:getppid:entry /pid == $target/ { @[probefunc] = count(); } END { printa("%s %@d\n", @); }'
expect "getppid $((n + 1))" "$(grep . <<<"$out")"
# probes of 64-bit programs do not see the others
ktrace -q -c "$TMP/compat $n" -n 'syscall:vmlinux::entry /pid == $target && (probefunc == "getppid" || probefunc == "semget")/ { @[probefunc] = count(); } END { printa("%s %@d\n", @); }'
expect "getppid $((2 * n + 1))" "$(grep . <<<"$out")"
