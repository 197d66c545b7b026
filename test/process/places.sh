# dtrace -lv says how the process engine would place a probe, or why it would not; and so it does.
# needs: gcc x86-64
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'provider own { probe step(long, long); };' >own.d
"$DTRACE" -h -s own.d || exit 1
cat >program.c <<'EOT'
#include "own.h"
__asm__(".text\n"
	".type good,@function\ngood: push %rbp; mov %rsp,%rbp; lea 1(%rdi),%rax; lea 0(%rax),%rax; pop %rbp; ret\n.size good,.-good\n"
	".type padded,@function\npadded: ret\n.size padded,.-padded\n.byte 0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0\n"
	".type tiny,@function\ntiny: ret\n.size tiny,.-tiny\nlea 1(%rax),%rax\n lea 1(%rax),%rax\n"
	".type looping,@function\nlooping: xor %eax,%eax\n dec %rdi\n jnz looping+2\n ret\n.size looping,.-looping\n.skip 16,0x90\n");
long good(long), padded(long), tiny(long), looping(long);
int main(void)
{
	padded(1);
	tiny(1);
	looping(3);
	OWN_STEP(1, 2);
	return good(1) != 2;
}
EOT
gcc -O1 -o program program.c || exit 1
list() { "$DTRACE" -x evaltime=postinit "$@" -lvn "$probe" -c ./program 2>err </dev/null | sed -n 's/^\t\t\(in the process: .*\)/\1/p'; }
probe='pid$target:a.out:good:entry'
expect 'in the process: 0: a jump, in place of 8 bytes (3 instructions)' "$(list -x engine=process)" "$(cat err)"
probe='pid$target:a.out:good:return'
expect 'in the process: 8: a jump, in place of 5 bytes (3 instructions)' "$(list -x engine=process)" "$(cat err)"
probe='pid$target:a.out:padded:entry'
expect 'in the process: 0: a jump, in place of 12 bytes (2 instructions)' "$(list -x engine=process)" "$(cat err)"
probe='pid$target:a.out:tiny:entry'
expect 'in the process: not available: it is too short' "$(list -x engine=process)" "$(cat err)"
probe='pid$target:a.out:looping:entry'
expect 'in the process: not available: something jumps into the instructions that would be replaced' "$(list -x engine=process)" "$(cat err)"
probe='own$target:::step'
expect_match '^in the process: [0-9a-f]+: a jump, in place of ' "$(list -x engine=process)"
# also where that engine is chosen by itself; not where the kernel runs the program
expect_match '^in the process: ' "$(list -x fast)"
expect "" "$(list -x engine=bpf)" "$(cat err)"

# the same when they are traced
"$DTRACE" -x engine=process -x evaltime=postinit -n 'pid$target:a.out:good:entry,pid$target:a.out:good:return,pid$target:a.out:padded:entry,pid$target:a.out:tiny:entry,pid$target:a.out:looping:entry { @[probefunc, probename] = count(); }' -c ./program >out 2>err </dev/null
expect "0 good entry 1 good return 1 padded entry 1" "$? $(echo $(LC_ALL=C sort out | grep .))" "$(cat err)"
expect_match '2 probes are not available in the process, one of them: pid[0-9]+:program:tiny:entry: it is too short' "$(cat err)"

# nothing that matches can be traced: an error, though a library of that name could still be loaded
"$DTRACE" -x engine=process -x evaltime=postinit -n 'pid$target:a.out:tiny:entry,pid$target:a.out:looping:entry { @ = count(); }' -c ./program >out 2>err </dev/null
expect 1 $? "nothing can be traced"
expect_match '^dtrace: .*engine=process: pid[0-9]+:program:tiny:entry: it is too short$' "$(cat err)"
