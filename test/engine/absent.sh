# User memory that is not in the page tables is read from the page cache: absent.c.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
build absent engine/absent.c
mount_tmpfs absent
mount -o remount,huge=always "$dir" 2>/dev/null # large folios, where the kernel has them
disk=
find_disk
at_end leave_disk
files=${disk:+$(mktemp -d "$disk/absent.XXXXXX")}
[ -z "$files" ] || at_end 'rm -rf "$files"'

# how many faults were counted instead of told
more() { sed -nE 's/.*: invalid address in action #1 at DIF offset [0-9]+ \(([0-9]+) more like this\)$/\1/p' <<<"$err" | awk '{ n += $1 } END { print n + 0 }'; }

file_cases() {
	printf '%s\n' "$1 <file page 0>" "$(($1 + 1)) <file page 599>" "$(($1 + 2)) <file page 512>" \
		"$(($1 + 3)) <00000063 over the end>" "$(($1 + 4)) <my own copy>" "$(($1 + 5)) <file page 6>" \
		"$(($1 + 6)) <file page 5>" "$(($1 + 7)) <new text>"
}
# Swap space: only in a guest.
if [ -n "${SLOW:-}" ] && module loop; then
	dd if=/dev/zero of="$TMP/swap" bs=1M count=16 status=none
	loop=$(losetup -f --show "$TMP/swap") && mkswap "$loop" >/dev/null && swapon "$loop" &&
		at_end 'swapoff "$loop"; losetup -d "$loop"'
fi

want() {
	printf '%s\n' "0 <constant 3>" "1 <constant 6>" "2 fault" "3 fault" "4 fault" "5 fault"
	if grep -q swapped "$TMP/out"; then echo "6 fault"; else echo "6 <my own copy>"; fi
	file_cases 10
	[ -z "$files" ] || { file_cases 20; echo "30 fault"; }
}

# strings, in each kind of program: lines without a text are faults
ktrace -q -n 'syscall::openat:entry /pid == $target && arg2 == O_DIRECTORY/ { self->s = copyinstr(arg1); self->ok = 1; }
syscall::close:entry /pid == $target && (int)arg0 >= 1000/ { printf("%d %s\n", arg0 - 1000, self->ok ? strjoin("<", strjoin(self->s, ">")) : "fault"); self->s = 0; self->ok = 0; }' \
	-c "$TMP/absent $dir $files"
expect "$(want)" "$(grep '^[0-9]' "$TMP/out")" "copyinstr(): $err"
# a line for the first of those that were not in memory, a number for the others
faults=$(grep -c 'invalid address (0x[0-9a-f]*) in action #1 at DIF offset [0-9]*$' <<<"$err")
expect "$(want | grep -c fault)" "$((faults + $(more)))" "$err"

# other ways to read, all at the same two constants
both() { # D text for the value at arg1, what it is
	ktrace -q -n 'syscall::openat:entry /pid == $target && arg2 == O_DIRECTORY && n++ < 2/ { '"$1"'; }' -c "$TMP/absent $dir"
	expect "$2" "$(grep -v -e swapped -e '^$' "$TMP/out")" "$1: $err"
}
both 'printf("%s\n", stringof(copyin(arg1, 12)))' "constant 3
constant 6"
both 'this->p = alloca(64); copyinto(arg1 + 2, 10, this->p); printf("%s\n", (string)this->p)' "nstant 3
nstant 6"
both 'printf("%x\n", *(uint32_t userland *)(arg1 + 2))' "6174736e
6174736e"
both '@[copyinstr(arg1)] = count()' "$(printf '  %-64s %2d\n' 'constant 3' 1 'constant 6' 1)"
both 'printf("%s\n", copyinstr(arg1, 4))' "cons
cons"

# the line is DTrace's, and a note says why, once
ktrace -n 'syscall::openat:entry /pid == $target && arg2 == O_DIRECTORY && ++n == 3/ { trace(copyinstr(arg1)); }' -c "$TMP/absent $dir"
expect_match 'invalid address \(0x[0-9a-f]+\) in action #1 at DIF offset 12$' "$err"
expect_match '^dtrace: 1 invalid address: user memory that was not in memory' "$err"

# repeated, it is counted; ERROR sees all of them
ktrace -q -n 'syscall::openat:entry /pid == $target && arg2 == O_DIRECTORY/ { trace(copyinstr(arg1)); } ERROR { errors++; } END { printf("%d\n", errors); }' -c "$TMP/absent $dir past 50"
expect "50 1 49" "$(grep . "$TMP/out") $(grep -c 'invalid address (0x' <<<"$err") $(more)" "$err"
