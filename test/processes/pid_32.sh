# timeout: 200
# 32-bit programs: entry, return, offsets, arguments from the stack, user stacks by frame pointers, libraries that are loaded later,
# static probes, holding at every point.
# needs: root bpf gcc 32-bit
. "$SRC/test/lib.bash"
cat >"$TMP/narrow.c" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define PLAIN __attribute__((noinline))
#define STAY __asm__ volatile("" ::: "memory")
PLAIN int three(int a, long long b, const char *s) { STAY; return a + (int)b + s[0]; }
PLAIN int ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
	STAY;
	return a + b + c + d + e + f + g + h + i + j;
}
PLAIN int deep(int n) { int r = n ? deep(n - 1) + 1 : three(-7, 0x100000002LL, "hello"); STAY; return r; }
PLAIN int ways(int n) { STAY; if (n % 3 == 0) return n * 2; if (n % 3 == 1) return -1; STAY; return n; }
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]);
	void *volatile memory = malloc(4321);

	for (int i = 0; i < rounds; i++) {
		deep(3);
		ten(1, 2, 3, 4, 5, 6, 7, 8, 9, i);
		ways(i);
	}
#ifndef STATIC
	for (int k = 0; argc > 2 && k < 3; k++) {
		void *h = dlopen(argv[2], RTLD_NOW);
		int (*f)(int, int) = h ? (int (*)(int, int))dlsym(h, "plugged") : NULL;

		for (int i = 0; f && i < 50; i++)
			f(i, -1);
		if (h)
			dlclose(h);
	}
#endif
	free(memory);
	return 0;
}
EOT
echo 'int plugged(int n, int m) { __asm__ volatile("" ::: "memory"); return n + m; }' >"$TMP/plugged.c"
flags='-fno-optimize-sibling-calls'
gcc -m32 -O1 -g $flags -fno-omit-frame-pointer -o "$TMP/frames" "$TMP/narrow.c" -ldl &&
	gcc -m32 -O2 $flags -fcf-protection=full -o "$TMP/fast" "$TMP/narrow.c" -ldl &&
	gcc -m32 -O2 $flags -DSTATIC -static -o "$TMP/static" "$TMP/narrow.c" &&
	gcc -m32 -O2 -shared -fPIC -o "$TMP/plugged.so" "$TMP/plugged.c" || exit 1

for p in frames fast static; do
	trace -qn 'pid$target:a.out:three:entry { @t[(int)arg0, arg1, arg2, copyinstr(arg3)] = count(); }
		pid$target:a.out:ten:entry { @n[arg0 + arg1 + arg2 + arg3 + arg4 + arg5 + arg6 + arg7 + arg8] = sum(arg9); }
		pid$target:a.out:ways:return { @w["ways", (int)arg1 < 0, arg0 > 0] = count(); }
		pid$target:a.out:ten:0 { @first = count(); }' -c "$TMP/$p 30"
	expect 0 "$status" "$p: $err"
	expect "-7 2 1 hello 30
30
45 435
ways 0 1 20
ways 1 1 10" "$(sorted)" "$p"
done

# every instruction of a function, at its real boundaries
trace -qn 'pid$target:a.out:ten: { @[probename] = count(); }' -c "$TMP/frames 7"
n=$(objdump -d "$TMP/frames" --disassemble=ten | grep -cE '^ +[0-9a-f]+:')
expect "$((n + 2)) 7" "$(awk 'NF { n++; counts[$2] } END { for (c in counts) all = all " " c; print n all }' "$TMP/out")" "$err"
trace -qn 'pid$target:a.out:ten:1 { }' -c "$TMP/fast 1" # inside endbr32
expect 1 "$status"
expect_match 'no instruction|begins at' "$err"

# the stack, by frame pointers
trace -qn 'pid$target:a.out:three:entry { ustack(6); exit(0); }' -c "$TMP/frames 1"
expect 'frames`three frames`deep frames`deep frames`deep frames`deep frames`main' "$(sed 's/+0x[0-9a-f]*//' "$TMP/out" | xargs)" "$err"

# held at every point; a process that runs; returns by the kernel's trampoline; the name of a library's function
for e in exec preinit postinit main; do
	trace -x evaltime=$e -qn 'pid$target:a.out:ten:entry { @ = count(); }' -c "$TMP/fast 5"
	expect "5" "$(sorted)" "$e: $err"
done
trace -x uretprobe -qn 'pid$target:a.out:ways:return { @[(int)arg1 < 0] = count(); }' -c "$TMP/fast 30"
expect "0 20
1 10" "$(sorted)" "uretprobe: $err"
trace -qn 'pid$target:libc.so.6:malloc:entry /arg0 == 4321/ { @ = count(); }' -c "$TMP/fast 5"
expect "1" "$(sorted)" "$err"

# a library that is loaded later: no call is missed
trace -qZn 'pid$target:plugged.so:plugged:entry { @[(int)arg1] = sum(arg0); } pid$target:plugged.so:plugged:return { @r = count(); }' \
	-c "$TMP/fast 1 $TMP/plugged.so"
expect "-1 3675
150" "$(sorted)" "$err"

# types are not read: one clear sentence each
trace -qn 'pid$target:a.out:three:entry { trace(args[0]); }' -c "$TMP/frames 1"
expect_match 'no typed arguments' "$err"
trace -qn 'BEGIN { trace(sizeof (pid$target`a.out`struct x)); }' -c "$TMP/frames 1"
expect_match 'is a 32-bit object: its types are not supported' "$err"

# static probes made by <sys/sdt.h>
cat >"$TMP/sdt.c" <<'EOT'
#include <stdlib.h>
#define CONCAT "990:\tnop\n\t.pushsection .note.stapsdt,\"?\",\"note\"\n\t.balign 4\n\t.4byte 992f-991f, 994f-993f, 3\n" \
	"991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n993:\t.4byte 990b, 0, 0\n" \
	"\t.asciz \"narrow\"\n\t.asciz \"go__on\"\n\t.asciz \"-4@%0 4@%1\"\n994:\t.balign 4\n\t.popsection\n"
__attribute__((noinline)) static void fire(int a, const char *s) { __asm__ volatile(CONCAT : : "nor"(a), "nor"(s)); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++)
		fire(-i, argv[argc - 1]);
	return 0;
}
EOT
for o in -O0 -O2; do
	gcc -m32 $o -o "$TMP/sdt" "$TMP/sdt.c" || exit 1
	trace -qn 'narrow$target:::go-on { @[copyinstr(arg1), probefunc] = sum(args[0]); }' -c "$TMP/sdt word"
	expect "word fire -4950" "$(sorted)" "$o: $err"
done
exit $fails
