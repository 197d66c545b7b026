# The code of a large function is in the program once, however often it is called, also in files; nothing
# is shared in what is made for other DTraces. Its limits do not count calls.
# uses: root bpf
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
engines=dt
[ "$(id -u)" = 0 ] && ktrace -n 'BEGIN { exit(0); }' && [ "$status" = 0 ] && engines="dt ktrace"
calls() { # of a function of $2 statements, $1 of them
	awk -v n="$1" -v s="$2" 'BEGIN {
		print "inline int f(int x) {"
		for (i = 0; i < s; i++) printf "x = x * %d + (x >> 2) + %d;\n", i + 3, i
		print "return x; }\nBEGIN { t = 0;"
		for (i = 0; i < n; i++) printf "t += f(%d);\n", i
		print "printf(\"%d\", t); exit(0); }" }'
}
functions() { grep -o 'DIF_FUNC.*DIFO 0x[0-9a-f]*' "$1" | sed 's/.*DIFO//' | sort -u | wc -l; }

calls 100 50 >p.d
"$DTRACE" -x engine=vm -S -qs p.d >list 2>&1
expect 100 "$(grep -c DIF_FUNC list)"
expect 1 "$(functions list)"
expect 104 "$(grep -c "^DIFO" list)" "100 calls, the function, t = 0, t, 0"
for run in $engines; do
	$run -qs p.d
	expect -1516758410 "$(said)" "$run"
done
# small ones are repeated
calls 3 2 >small.d
"$DTRACE" -x engine=vm -S -qs small.d 2>&1 | grep -c DIF_FUNC >count
expect 0 "$(cat count)"
# more calls than could be repeated
calls 300 200 >many.d
for run in $engines; do
	$run -qs many.d
	expect -1123590879 "$(said)" "$run: 300 calls"
done
"$DTRACE" -x control=clauses -x engine=vm -S -qs p.d 2>&1 | grep -c DIF_FUNC >count
expect 0 "$(cat count)" "for other DTraces"
# Functions without a value, or with loops, are in a clause once: actions, and instructions for the kernel
apart() { # as calls, of a void function or one with loops
	awk -v n="$1" -v s="$2" -v void="$3" 'BEGIN {
		print "int t;\ninline " (void ? "void" : "int") " f(int x) { int i;"
		if (!void) print "for (i = 0; i < 3; i++) {"
		for (i = 0; i < s; i++) printf "x = x * %d + (x >> 2) + %d;\n", i + 3, i
		print void ? "t += x; @[x % 3] = sum(x); self->x = x; printf(\"%d\", x % 2 != 0);" : "switch (x % 4) { case 0: x++; } } return x;"
		print "}\nBEGIN {"
		for (i = 0; i < n; i++) printf void ? "f(%d);\n" : "t += f(%d);\n", i
		print "printf(\" %d\", t); exit(0); }" }'
}
for void in 1 0; do
	apart 10 40 $void >ten.d
	apart 50 40 $void >fifty.d
	for program in ten fifty; do
		"$DTRACE" -x engine=vm -S -qs $program.d 2>&1 | grep -c '^DIFO' >$program.difos
		for run in $engines; do
			$run -qs $program.d
			said >$program.$run.out
			DTRACE_BPF_DUMP=1 $run -qs $program.d
			grep -cE '^ *[0-9]+: ' "$TMP/err" >$program.$run
		done
	done
	# 40 more calls: an assignment each, and of the result
	expect $((40 * (2 - void) + (void ? 0 : 40))) $(($(cat fifty.difos) - $(cat ten.difos))) "void $void: DIFOs"
	case $engines in *ktrace*)
		expect "$(cat fifty.dt.out)" "$(cat fifty.ktrace.out)" "void $void"
		expect 1 $(($(cat fifty.ktrace) - $(cat ten.ktrace) < 1600)) "void $void: $(cat ten.ktrace fifty.ktrace) instructions" ;;
	esac
done
"$DTRACE" -x engine=vm -d -qs fifty.d 2>&1 | grep -c 'f();' >count
expect 50 "$(cat count)"
# a fault has the place of the call
cat >fault.d <<'D'
inline int f(int a, int b)
{
	int x = a * 2 + b * 3;
	int y = x % 7 + a / b;
	if (x > y) return x * y + a;
	if (x < y) return y - x + b;
	return a + b + x + y;
}
inline int g(int *p, int k)
{
	int a = p[k] + p[k + 1] * k, b = p[k + 2] - p[k + 3];
	if (a > b) return a * 2 + b;
	return a - b * 3;
}
BEGIN { trace(f(3, 4)); }
BEGIN { trace(g((int *)0x4000, 1)); }
BEGIN
{
	trace(1 + f(3, 0));
}
BEGIN { exit(0); }
D
for run in $engines; do
	$run -qs fault.d
	expect_match 'divide-by-zero in action #1 at DIF offset 20' "$err"
	expect_match 'fault.d:19: f\(3, 0\): division by zero' "$err"
	expect_match "fault.d:16: g\\(.*, 1\\): address 0x4004 is not the kernel's: read user memory with copyin" "$err"
done
