# timeout: 180
# Memory of a program seen through its own types: print(), members through pointers, variables, args[] of its functions.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
# Elsewhere large structs are passed by reference, and the address of one that is returned is lost; long double has registers.
x86=; case $HOSTTYPE in x86_64) x86=1 ;; esac
me='syscall::write:entry /pid == $target && (int)arg0 == -1 && arg2 == sizeof (pid$target`a.out`struct foo)/'

# gcc before 14 writes the dimensions of arrays to CTF in reverse.
reversed='s/short \[2\]\[3\] arr = .*/short [3][2] arr = [ [ 0x1, 0x2 ], [ 0x3, 0x4 ], [ 0x5, 0x6 ] ]/'

look() { # WHAT [SED]: what can be seen of the program that was built
	local arrays=${2-}
	# a pointer to it, a copy of it, and its variables
	trace -q -c ./types -n 'typedef pid$target`a.out`struct foo mine_t; '"$me"' {
		this->p = (pid$target`a.out`struct foo *)arg1;
		printf("%d %s %d %s\n", this->p->x, stringof(this->p->name), this->p->in->z, stringof(this->p->in->text));
		printf("%d %s %s\n", this->p->next->x, stringof(this->p->next->name), stringof(this->p->next->in->text));
		printf("%d %d %d %d\n", this->p->arr[0][1], this->p->named.in2, this->p->l, this->p->two[1].z);
		printf("%s %d %d\n", this->p->color == green ? "green" : "?", this->p->flag, this->p->yes);
		this->c = (pid$target`a.out`foo_t *)copyin(arg1, sizeof (pid$target`a.out`foo_t));
		printf("%d %s %s\n", this->c->x, this->c->name, stringof(this->c->next->in->text));
		printf("%d %d %d\n", *(pid$target`a.out`int *)arg1, *(userland int *)arg1, ((mine_t *)arg1)->next->x);
	}'
	expect "1 first 77 deep text
-2 second deep text
2 9 1094861636 2
green 200 1
1 first deep text
1 1 -2" "$(said)" "$1"

	# tags need no process prefix, unless the kernel also has the tag
	trace -q -c ./types -n "$me"' { this->p = (struct foo *)arg1; printf("%d %d %d", this->p->next->x, sizeof (enum color), sizeof (struct list_head)); }'
	expect "-2 4 16" "$(said)" "$1"

	trace -q -c ./types -n "$me"' { print(*(pid$target`a.out`foo_t *)arg1); printf("\n");
		print(*(pid$target`a.out`struct foo *)copyin(arg1, sizeof (pid$target`a.out`struct foo))); }'
	body='    int x = 0x1
    char [12] name = [ "first" ]
    struct inner *in = ADDRESS
    struct foo *next = ADDRESS
    enum color color = green
    double d = +2.5000000000000e+00
    short [3][2] arr = [ [ 0x1, 0x2 ], [ 0x3, 0x4 ], [ 0x5, 0x6 ] ]
    union  {
        long l = 0x41424344
        char [8] c = [ "DCBA" ]
    }
    struct named = {
        int in1 = 0x8
        int in2 = 0x9
    }
    struct inner [2] two = [ 
        struct inner {
            int z = 0x1
            const char *text = 0
        }, 
        struct inner {
            int z = 0x2
            const char *text = 0
        }
    ]
    int (*)(struct foo *, char **) fn = 0
    const volatile unsigned char flag = 0xc8
    _Bool yes = 0x1
    struct declared_only *opaque = 0
}'
	expect "foo_t {
$body
struct foo {
$body" "$(said | sed "s/0x[0-9a-f]\{10,\}/ADDRESS/; s/volatile const/const volatile/; $arrays")" "$1: print"

	trace -q -c ./types -n 'syscall::write:entry /pid == $target && (int)arg0 == -1 && arg2 == sizeof (pid$target`a.out`struct bits)/ {
		this->b = (pid$target`a.out`struct bits *)arg1;
		printf("%d %d %d %d %x %d %d\n", this->b->s, this->b->a, this->b->b, this->b->c, this->b->d, this->b->e, this->b->f);
		print(*this->b); }'
	expect "-5 5 100 -1000 abcdef0123 1 -3
struct bits {
    short s = 0xfffb
    unsigned int a :3 = 0x5
    unsigned int b :7 = 0x64
    int c :20 = 0xffc18
    unsigned long long d :40 = 0xabcdef0123
    _Bool e :1 = 0x1
    enum color f :4 = blue
}" "$(said)" "$1: bits"
}

variables() {
	trace -q -c ./types -n "$me"' { printf("%d %d %s %d %d\n", pid$target`a.out`numbers[1], pid$target`a.out`first.next->x,
		stringof(pid$target`a.out`global_inner.text), pid$target`a.out`favourite, &pid$target`a.out`first == (pid$target`a.out`foo_t *)arg1); }'
	expect "20 -2 deep text -3 1" "$(said)" "$1: variables"
	trace -q -c ./types -x errtags -n "$me"' { pid$target`a.out`favourite = 3; }'
	expect_match 'D_OP_LVAL|D_OP_WRITE' "$err"
}

arguments() {
	trace -q -c "./types run" -n '
	pid$target:a.out:take_pointers:entry { printf("%s %d %s %s\n", probefunc, args[0]->next->x, stringof(args[1]), stringof(args[2][0])); }
	pid$target:a.out:narrow:entry { printf("%s %d %d %d %d\n", probefunc, args[0], args[1], args[2], args[3]); }
	pid$target:a.out:floats_between:entry { printf("%s %d %d %d\n", probefunc, args[1], args[3], args[5]); }
	pid$target:a.out:many:entry { printf("%s %d %d %d %d %d\n", probefunc, args[0], args[5], args[6], args[8], args[9]); }
	pid$target:a.out:objects:entry { printf("%s %d %d %d %d\n", probefunc, args[1], args[3], args[5], args[7]); }
	pid$target:a.out:make_large:entry { printf("%s %d %d\n", probefunc, args[0], args[1]); }
	pid$target:a.out:make_color:entry { printf("%s %d\n", probefunc, args[0] == blue); }
	pid$target:a.out:make_char:entry { printf("%s %d\n", probefunc, args[1]); }
	'"${x86:+pid\$target:a.out:make_large:return { printf(\"%s %d\\n\", probefunc, args[1]->c); \}}"'
	pid$target:a.out:make_color:return { printf("%s %d\n", probefunc, args[1] == green); }
	pid$target:a.out:make_char:return, pid$target:a.out:narrow:return { printf("%s %d\n", probefunc, args[1]); }
	pid$target:a.out:make_pointer:return { printf("%s %s\n", probefunc, stringof(args[1]->name)); }'
	expect "take_pointers -2 words ./types
narrow -1 -2 1 65535
narrow 65533
narrow -5 -2 1 2
narrow -4
floats_between 2 4 6
many 1 6 -7 9 10
objects 3 7 10 13
make_large 1 2${x86:+
make_large 3}
make_color 1
make_color 1
make_char -4
make_char -3
make_pointer second" "$(said)" "$1: args"
}

# types_of PROBE: its argument types as -lv lists them
types_of() { trace -lv -c ./types -n "pid\$target:a.out:$1"; sed -n 's/^\t\targs/args/p' "$TMP/out"; }
# refuse MESSAGE PROBE EXPRESSION
refuse() {
	trace -x errtags -q -c ./types -n "pid\$target:a.out:$2 { trace($3); }"
	expect_match "\\[D_ARGS_[A-Z]*\\] .*$1" "$err"
}
unavailable() {
	expect 'args[0]: userland struct foo *
args[1]: userland const char *
args[2]: userland char **' "$(types_of take_pointers:entry)"
	expect "args[0]: uint64_t
args[1]: ${x86:+userland }struct large${x86:+ *}" "$(types_of make_large:return)"
	expect 'args[0]: uint64_t' "$(types_of nothing:return)"
	refuse 'args\[0\] is not available: double is passed in a floating-point register' floats_between:entry 'args[0]'
	refuse "args\[4\] is not available: long double is passed $([ -n "$x86" ] && echo by value on the stack || echo in a floating-point register)" floats_between:entry 'args[4]'
	refuse 'args\[10\] is not available: int is passed on the stack, beyond arg9' many:entry 'args[10]'
	refuse 'args\[0\] is not available: struct small is passed by value in a register: its bytes are arg0' objects:entry 'args[0]'
	if [ -n "$x86" ]; then
		refuse 'args\[2\] is not available: struct large is passed by value on the stack' objects:entry 'args[2]'
	else
		expect_match 'args\[2\]: userland struct large \*' "$(types_of objects:entry)"
	fi
	refuse 'args\[4\] is not available: struct mixed is passed by value in several registers' objects:entry 'args[4]'
	refuse 'args\[1\] is not available: double is returned in a floating-point register' make_double:return 'args[1]'
	refuse 'index 1 is out of range' nothing:return 'args[1]'
	refuse 'different argument types' 'make_*:entry' 'args[0]'
}

gcc -O1 -g -o types "$SRC/test/processes/types.c" || exit 1
# Types of the executable do not make it run before tracing begins.
trace -q -c ./types -n 'syscall:::entry /pid == $target/ { @ = count(); } END { printa("%@d", @); }'
all=$(said)
trace -q -c ./types -n 'syscall:::entry /pid == $target && sizeof (pid$target`a.out`struct foo)/ { @ = count(); } END { printa("%@d", @); }'
expect "$all" "$(said)" "all system calls"
look DWARF
variables DWARF
arguments DWARF
unavailable
if gcc -O1 -gctf -rdynamic -o types "$SRC/test/processes/types.c" 2>/dev/null; then
	look CTF "$reversed"
	variables CTF
	arguments CTF
	unavailable
fi
strip -o none types && mv none types
objcopy -R .ctf types
refuse 'the probe has no typed arguments' take_pointers:entry 'args[0]'

# args[] from a separate debug file
gcc -O1 -g -Wl,--build-id -o types "$SRC/test/processes/types.c" || exit 1
id=$(readelf -n types | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}" && objcopy --only-keep-debug types "debug/.build-id/${id:0:2}/${id:2}.debug" && strip -g types
trace -q -x debugdir="$TMP/debug" -c ./types -n 'pid$target:a.out:make_pointer:return { printf("%s", stringof(args[1]->name)); }'
expect second "$(said)" "debug file"
