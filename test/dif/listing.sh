# -S: the listing of each kind of instruction.
. "$SRC/test/lib.bash"
lines() { # D text: the instructions without offsets and opcodes
	dt -e -Z -S "${flags[@]}" -n "$1"
	sed -nE 's/^[0-9]+: [0-9a-f]{8}    (.*)$/\1/p' <<<"$err" | sed 's/\t/~/g'
}
has() { # D text, lines that must be there
	local got line
	got=$(lines "$1")
	shift
	for line; do grep -qxF -- "$line" <<<"$got" || { echo "no \"$line\" in:"; echo "$got"; fails=1; }; done
}
flags=()
has 'BEGIN { trace(pid + tid); }' 'ldgs DT_VAR(278), %r1~~! DT_VAR(278) = "pid"' 'add  %r1, %r2, %r1' 'ret  %r1'
has 'BEGIN { trace(~pid); }' 'not  %r1, %r1'
has 'BEGIN { trace(pid == tid); }' 'cmp  %r1, %r2' 'be   6' 'mov  %r0, %r1' 'ba   7' 'setx DT_INTEGER[0], %r1~~! 0x1'
has 'BEGIN { trace(!pid); }' 'tst  %r1'
has 'BEGIN { trace(execname == "sh"); }' 'sets DT_STRING[1], %r2~~! "sh"' 'scmp %r1, %r2'
has 'BEGIN { trace(pid < tid); trace((uint_t)pid < (uint_t)tid); }' 'bl   6' 'blu  12'
has 'BEGIN { trace(*(int *)arg0); trace(*(char *)arg0); trace(*(uint64_t *)arg0); trace(*(uint16_t *)arg0); }' \
	'ldsw [%r1], %r1' 'ldsb [%r1], %r1' 'ldx  [%r1], %r1' 'lduh [%r1], %r1'
has 'BEGIN { trace(*(userland int *)arg0); }' 'uldsw [%r1], %r1'
has 'BEGIN { this->p = (int *)alloca(4); *this->p = 5; }' 'stw  %r1, [%r2]' 'call DIF_SUBR(15), %r1~~! alloca'
has 'BEGIN { x = 1; self->y = 2; this->z = 3; }' 'stgs %r1, DT_VAR(1280)~~! DT_VAR(1280) = "x"' \
	'stts %r1, DT_VAR(1280)~~! DT_VAR(1280) = "y"' 'stls %r1, DT_VAR(1280)~~! DT_VAR(1280) = "z"'
has 'BEGIN { a[1, "k"] = 5; self->b["q"] = a[1, "k"]; }' 'flushts' 'pushtv DT_TYPE(0), %r2~~! DT_TYPE(0) = D type' \
	'pushtr DT_TYPE(1), %r0, %r3~! DT_TYPE(1) = string' 'stgaa %r1, DT_VAR(1280)~~! DT_VAR(1280) = "a"' \
	'ldgaa DT_VAR(1280), %r1~~! DT_VAR(1280) = "a"' 'sttaa %r1, DT_VAR(1280)~~! DT_VAR(1280) = "b"'
has 'BEGIN { trace(uregs[0]); }' 'ldga DT_VAR(2), %r1, %r1~~! DT_VAR(2) = "uregs"'
has 'struct s { int a[10]; } x; struct s y; BEGIN { self->x = x; this->p = (struct s *)alloca(sizeof (x)); *this->p = x; }' 'copys %r1, %r3, %r2'
has 'BEGIN { trace(pid << 2 | tid >> 1 ^ pid & 3); trace(pid * tid / 5 % 7 - 1); }' 'sll  %r1, %r2, %r2' 'sra  %r3, %r4, %r3' 'and  %r1, %r4, %r1' \
	'xor  %r3, %r1, %r3' 'or   %r2, %r3, %r2' 'mul  %r1, %r2, %r1' 'sdiv %r1, %r2, %r1' 'srem %r1, %r2, %r1' 'sub  %r1, %r2, %r1'

# The whole of it: header, columns, variables.
dt -e -Z -S -n 'fbt::malloc:entry /execname == "csh"/ { trace(arg0); }'
expect '
DIFO ADDR returns D type (integer) (size 4)
OFF OPCODE      INSTRUCTION
00: 29011801    ldgs DT_VAR(280), %r1		! DT_VAR(280) = "execname"
01: 26000102    sets DT_STRING[1], %r2		! "csh"
02: 27010200    scmp %r1, %r2
03: 12000006    be   6
04: 0e000001    mov  %r0, %r1
05: 11000007    ba   7
06: 25000001    setx DT_INTEGER[0], %r1		! 0x1
07: 23000001    ret  %r1

NAME             ID   KND SCP FLAG TYPE
execname         118  scl glb r    string (unknown) by ref (size 256)

DIFO ADDR returns D type (integer) (size 8)
OFF OPCODE      INSTRUCTION
00: 29010601    ldgs DT_VAR(262), %r1		! DT_VAR(262) = "arg0"
01: 23000001    ret  %r1

NAME             ID   KND SCP FLAG TYPE
arg0             106  scl glb r    D type (integer) (size 8)' "$(sed 's/0x[0-9a-f]\{6,\}/ADDR/' <<<"$err")"

# Types: strings, structures, pointers, by user reference; variables read and written.
dt -e -S -n 'struct s { int a; } g; string t; userland char *u; BEGIN { trace(g); t = "x"; t = strjoin(t, t); trace(u); self->n++; a[t] = 1; }'
expect_match '^DIFO 0x[0-9a-f]+ returns D type \(struct\) by ref \(size 4\)$' "$err"
expect_match '^DIFO 0x[0-9a-f]+ returns D type \(pointer\) \(size 8\)$' "$err"
expect_match '^t                50[0-9]  scl glb r/w  string \(unknown\) by ref \(size 256\)$' "$err"
expect_match '^n                500  scl tls r/w  D type \(integer\) \(size 8\)$' "$err"
expect_match '^a                50[0-9]  arr glb w    D type \(integer\) \(size 4\)$' "$err"
