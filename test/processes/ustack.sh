# timeout: 200
# User stacks of code without frame pointers, from the first firing on: down to the first frame, through any code.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl
LINKS="last link9 link8 link7 link6 link5 link4 link3 link2 link1"

# names: the functions of the stacks in $out, without objects and offsets, those of libc's own start left out
names() {
	grep '`' "$TMP/out" | sed 's/.*`//; s/+0x.*//' |
		sed -E -e '/^0x/d' -e 's/^__?libc_start_(main|call_main|main_impl|main@@.*)$/libc_start/' | uniq | tr '\n' ' ' | sed 's/ $//'
}
# between LOW HIGH PATTERN WHAT: so many lines match
between() {
	local n
	n=$(grep -c -- "$3" "$TMP/out")
	[ "$n" -ge "$1" ] && [ "$n" -le "$2" ] || { echo "$4: $n frames: $out"; fails=1; }
}
# stack HOW N: as the key of an aggregation, so that equal ones are one
stack() { trace -qn 'syscall::getppid:entry /progenyof($target)/ { @[ustack(60)] = count(); }' -c "$TMP/chain $1 $2"; }

stack plain 7
expect "getppid $LINKS once main libc_start _start" "$(names)" "plain: $err"
expect 7 "$(awk 'NF == 1 && /^ *[0-9]+$/ { print $1 }' "$TMP/out")" "plain, how often"
stack aligned 2
expect "getppid $LINKS aligned once main libc_start _start" "$(names)" "aligned"
stack thread 3
expect "getppid $LINKS thread" "$(names | sed 's/ start_thread.*//')" "thread"
stack fork 3
expect "3 $(yes "getppid $LINKS once main libc_start _start" | head -n 3 | sort -u)" \
	"$(grep -c getppid "$TMP/out") $(names | sed 's/_start getppid/_start\ngetppid/g' | sort -u)" "fork"

# qsort() calls from libc, which has no frame pointers either
stack qsort 2
expect "getppid $LINKS compare" "$(names | sed 's/ compare .*/ compare/')" "qsort"
expect "once main libc_start _start" "$(names | sed 's/.* once/once/')" "below qsort"
grep -q 'libc.*`.*qsort' "$TMP/out" || { echo "no qsort on the stack"; fails=1; }

# through a signal frame, on the same stack and on another: the interrupted function is there
for how in signal altstack; do
	stack $how 2
	expect "getppid $LINKS handler" "$(names | sed 's/ handler .*/ handler/')" "$how"
	expect "$LINKS once main libc_start _start" "$(names | sed 's/.* last/last/')" "$how, below the signal"
done

# aarch64: from such code on only callers with frame pointers are found (doc/aarch64.md)
[ "$HOSTTYPE" = x86_64 ] || build chain processes/chain.c -fno-omit-frame-pointer -lpthread -ldl

# code in anonymous memory has no table; its frame pointer is followed
stack jit 2
expect "getppid $LINKS through_jit once main libc_start _start" "$(names)" "jit"
expect 1 "$(grep -cE '^ +0x[0-9a-f]+$' "$TMP/out")" "the frame of the jit"

# likewise assembler without a description, in the same mapping as what is described
stack nocfi 2
expect "getppid nocfi once main libc_start _start" "$(names)" "nocfi"

[ "$HOSTTYPE" = x86_64 ] || build chain processes/chain.c -fomit-frame-pointer -lpthread -ldl

# the number of frames, the caller, the registers: all say the same
trace -qn 'syscall::getppid:entry /pid == $target/ { printf("%d %d %d ", ustackdepth, ucaller == 0, uregs[R_PC] == 0);
	ustack(2); @[ufunc(ucaller)] = count(); printf("%A %A", uregs[R_PC], ucaller); }' -c "$TMP/chain plain 1"
expect "last" "$(sed -n 's/.*`\(last\)  *1$/\1/p' "$TMP/out")" "ucaller: $out"
expect 0 "$(awk 'NF >= 3 && $1 ~ /^[0-9]+$/ { print $2 + $3 }' "$TMP/out" | head -n 1)" "no ucaller"
depth=$(awk 'NF >= 3 && $1 ~ /^[0-9]+$/ { print $1 }' "$TMP/out" | head -n 1)
stack plain 1
expect "$(grep -c '`' "$TMP/out")" "$depth" "ustackdepth"
expect 3 "$(trace -qn 'syscall::getppid:entry /pid == $target/ { ustack(3); }' -c "$TMP/chain plain 1"; grep -c '`' "$TMP/out")" "ustack(3)"
trace -x ustackframes=4 -qn 'syscall::getppid:entry /pid == $target/ { jstack(5); ustack(); }' -c "$TMP/chain plain 1"
expect 9 "$(grep -c '`' "$TMP/out")" "jstack(5), ustackframes=4"

# by frame pointers only, as requested: there are none
trace -x unwind=fp -qn 'syscall::getppid:entry /pid == $target/ { ustack(); }' -c "$TMP/chain plain 1"
between 0 3 'chain`' "unwind=fp"

# a stripped and static program says the same, in addresses
if build static processes/chain.c -static -fomit-frame-pointer -lpthread -ldl 2>/dev/null && [ -x "$TMP/static" ]; then
	strip "$TMP/static"
	mv "$TMP/static" "$TMP/chain"
	stack plain 1
	between 15 20 '`0x' "static"
	stack signal 1
	between 28 35 '`0x' "static, signal"
fi
exit $((fails != 0))
