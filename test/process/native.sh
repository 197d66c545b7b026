# The process engine: a clause that runs as machine code does what the same clause does in the interpreter.
# needs: gcc
. "$SRC/test/lib.bash"
cat >"$TMP/calls.c" <<'EOT'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long work(long a, unsigned long b, long c, long d, long e, long f, long g)
{
	__asm__ volatile("" ::: "memory");
	return a * 3 + (long)b - c + d * e - f + g;
}
int main(void)
{
	unsigned long x = 1;
	long sum = 0;

	for (int i = 0; i < 400; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		sum += work(i % 7 - 3, x, (long)x >> (i % 50), i, -i, i % 5, 11);
	}
	return sum == 1;
}
EOT
gcc -O1 -o "$TMP/calls" "$TMP/calls.c" || exit 1

# A clause whose predicate compares strings is interpreted.
run() { # PREDICATE RETURN-PREDICATE: the output of a program with these
	"$DTRACE" -x engine=process -x evaltime=postinit -q -c "$TMP/calls" -n '
	BEGIN { n = 5; g = 1; }
	pid$target:a.out:work:entry /'"$1"'/ { @c = count(); @s = sum(arg1); @lo = min(arg2); @hi = max(arg2); @a = avg((int)arg4);
		@d = stddev((int)arg0); @q = quantize(arg2); @l = lquantize((int)arg0, -2, 3, 1); @ll = llquantize(arg3, 10, 0, 3, 10); }
	pid$target:a.out:work:entry /'"$1"'/ { @k[arg0] = count(); @kk[(int)arg0, (char)arg3, arg5 == 2] = sum((short)arg1); @t[tid == pid, pid != 0] = count(); }
	pid$target:a.out:work:entry /'"$1"' && (int)arg0 < 2 && (arg5 & 1 || arg2 > 7)/ { self->from = arg3; this->x = (int)arg0 * 3 - g; g += this->x; @x = sum(this->x ^ g);
		printf("%d %d %u %d %d\n", (int)arg0, (char)arg1, (unsigned short)arg2, arg3 > 200 ? arg4 : arg5, self->from); }
	pid$target:a.out:work:return /'"$2"' && self->from/ { @r[self->from % n] = sum(arg1); @at = max(arg0 != 0); @none = sum(arg2 + arg9); self->from = 0; }
	pid$target:a.out:work:entry /'"$1"'/ { trace(arg3); @div = sum(100 / (int)arg0); @mod = sum((int)arg1 % (int)arg5); }
	pid$target:a.out:work:entry /'"$1"' && 7 % arg5/ { @never = count(); }
	ERROR { @e[arg4, arg2, arg3 >= 0] = count(); }' 2>"$TMP/err" >"$TMP/out"
	cat "$TMP/out"
	grep -c 'divide-by-zero' "$TMP/err"
}
run 1 1 >"$TMP/native"
run 'probefunc == "work"' 'probefunc == "work"' >"$TMP/interpreted"
run 'probefunc == "work"' 1 >"$TMP/mixed"
expect "$(cat "$TMP/interpreted")" "$(cat "$TMP/native")"
expect "$(cat "$TMP/interpreted")" "$(cat "$TMP/mixed")"
[ "$(wc -l <"$TMP/native")" -gt 300 ] || { echo "only $(wc -l <"$TMP/native") lines"; count_failure; }
expect_match '^[1-9][0-9]*$' "$(tail -1 "$TMP/native")"
