# timeout: 200
# A stack through a program whose table is larger than a bank: 480,000 rows, in pieces.
# needs: root bpf btf x86-64 fast gcc
. "$SRC/test/lib.bash"

# procedure NAME ROOM CALLEE: keeps ROOM bytes on the stack; then 120,000 small ones
procedure() {
	cat <<END
	.globl $1
	.type $1, @function
$1:	.cfi_startproc
	sub \$$2, %rsp
	.cfi_adjust_cfa_offset $2
	call $3
	add \$$2, %rsp
	.cfi_adjust_cfa_offset -$2
	ret
	.cfi_endproc
	.size $1, . - $1
	.rept ${4:-120000}
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.endr
END
}
{
	echo ".text"
	procedure early 24 middle
	procedure middle 40 late
	procedure late 56 getppid@plt 10
	echo '.section .note.GNU-stack,"",@progbits'
} >"$TMP/big.s"
echo 'int early(void); int main(void) { return early() * 0 + 0; }' >"$TMP/main.c"
gcc -O2 -fomit-frame-pointer -o "$TMP/big" "$TMP/main.c" "$TMP/big.s" || { echo "cannot build it"; exit 1; }
trace -qn 'syscall::getppid:entry /pid == $target/ { ustack(); }' -c "$TMP/big"
expect "late middle early main _start" "$(sed -n 's/.*big`\([a-z_]*\).*/\1/p' "$TMP/out" | tr '\n' ' ' | sed 's/ $//')" "$out$err"
exit $((fails != 0))
