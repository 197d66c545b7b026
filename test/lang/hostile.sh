# Hostile programs: an error or success, quickly, and never a crash.
# timeout: 300
# uses: root bpf
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
SIZE=10000000
case $BUILD in *san*) SIZE=1000000 ;; esac # ten times slower there
SIZE=$((SIZE / ${SLOW:-1})) # as in emulated guests
rep() { yes -- "$1" | tr -d '\n' | head -c "${2:-$SIZE}"; }
# refused PATTERN [FLAGS]: the program on standard input is refused with this message.
refused() {
	local want=$1
	shift
	cat >p.d
	timeout 150 "$DTRACE" -x engine=vm -x errtags "$@" -s p.d >out 2>err </dev/null
	expect 1 "$?" "status for $(head -c 30 p.d | tr '\n\0' ' 0')"
	expect_match "$want" "$(head -c 2000 err)"
}
engines=vm
[ "$(id -u)" = 0 ] && ktrace -n 'BEGIN { exit(0); }' && [ "$status" = 0 ] && engines="vm bpf"
accepted() { # OUTPUT [FLAGS]; in the kernel too, if it has functions or loops
	local want=${1-} engine
	[ $# = 0 ] || shift
	cat >p.d
	for engine in $engines; do
		[ $engine = vm ] || grep -qE 'inline|for \(' p.d || continue
		timeout 150 "$DTRACE" -x engine=$engine -q "$@" -s p.d >out 2>err </dev/null
		expect 0 "$?" "$engine: status for $(head -c 30 p.d | tr '\n\0' ' 0')"
		expect "$want" "$(tail -c 60 out | tr -d '\n ')" "$engine"
	done
}
for c in '(' '!' '~' '- ' '*' 'a[' 'strlen(' '(int)' '1?' '1?1:'; do
	{ printf 'BEGIN { trace('; rep "$c"; } | refused 'D_SYNTAX.*nested too deeply'
done
for c in '1+' '1,' 'x.'; do
	{ printf 'BEGIN { trace('; rep "$c"; } | refused 'D_SYNTAX|needs more than'
done
for c in '{' '}' '"' '/*' '@' '$' '/' '#' ':' '[' '\\' 'a'; do
	rep "$c" | refused 'D_(SYNTAX|STR_NL|PDESC_INVAL|PRAGCTL_INVAL|PDESC_ZERO|MACRO_UNDEF|EMPTY)'
done
head -c $SIZE /dev/zero | refused 'D_SYNTAX'
printf 'BEGIN { trace("a\0b"); }' | refused 'NUL byte'
rep 'struct {struct {' | refused 'D_SYNTAX.*nested too deeply'
{ printf 'int '; rep '*'; printf 'x;'; } | refused 'D_SYNTAX.*nested too deeply'
{ printf 'int x'; rep '[1]'; printf ';'; } | refused 'D_SYNTAX.*nested too deeply'
{ printf 'BEGIN { '; rep 'if (1) { '; } | refused 'D_SYNTAX.*nested too deeply'
{ printf 'BEGIN { trace('; rep 1; printf '); }'; } | refused 'D_INT_OFLOW'
{ printf "BEGIN { trace('"; rep a; printf "'); }"; } | refused 'D_CHR_OFLOW'
printf 'BEGIN { printf("%%999999999d", 1); }' | refused 'D_SYNTAX.*width'
printf 'struct s { char a[2000000000]; char b[2000000000]; } x; BEGIN { x.b[1] = 1; }' | refused 'limit'
# expressions that double at each step
awk 'BEGIN { print "inline int i0 = pid;"; for (i = 1; i < 64; i++) printf "inline int i%d = i%d + i%d;\n", i, i-1, i-1
	print "BEGIN { trace(i63); }" }' | refused 'D_SYNTAX.*expand to more than'
awk 'BEGIN { print "inline int i0[int a] = a;"; for (i = 1; i < 64; i++) printf "inline int i%d[int a] = i%d[i%d[a]];\n", i, i-1, i-1
	print "BEGIN { trace(i63[pid]); }" }' | refused 'D_SYNTAX.*expand to more than'
awk 'BEGIN { print "struct t0 { int x; }; translator struct t0 < int n > { x = n; };"
	for (i = 1; i < 64; i++) printf "struct t%d { int x; }; translator struct t%d < int n > { x = xlate<struct t%d>(n).x + xlate<struct t%d>(n).x; };\n", i, i, i-1, i-1
	print "BEGIN { trace(xlate<struct t63>(pid).x); }" }' | refused 'D_SYNTAX.*expand to more than'
# functions: large ones, chains, calls that double at each step, loops without an end
awk 'BEGIN { print "inline int f(int x) {"; for (i = 0; i < 10000; i++) print "x++;"; print "return x; } BEGIN { trace(f(1)); }" }' | refused 'D_SYNTAX.*more than 1000 statements'
awk 'BEGIN { print "inline int f0(int x) { return x; }"; for (i = 1; i < 1000; i++) printf "inline int f%d(int x) { return f%d(x) + 1; }\n", i, i-1
	print "BEGIN { trace(f999(1)); }" }' | refused 'D_SYNTAX.*nested too deeply'
awk 'BEGIN { print "inline int f0(int x) { while (x) x--; return x; }"; for (i = 1; i < 40; i++) printf "inline int f%d(int x) { while (x > f%d(x)) x -= f%d(x); return x; }\n", i, i-1, i-1
	for (; i < 70; i++) printf "inline int f%d(int x) { while (x) x--; return f%d(x); }\n", i, i-1
	print "BEGIN { trace(f69(1)); }" }' | refused 'D_SYNTAX.*(more than 64 loops|expand to more than)'
double() { awk -v n="$1" 'BEGIN { print "int t; inline void f0(int x) { t += x; }"
	for (i = 1; i < n; i++) printf "inline void f%d(int x) { f%d(x); f%d(x); t = t %% 99 + x * 3 - x / 2 + (x >> 2) * (x & 5); t -= x * 3 - x / 2 + (x >> 2) * (x & 5); t -= x * 3 - x / 2 + (x >> 2) * (x & 5); }\n", i, i-1, i-1
	printf "BEGIN { f%d(1); trace(t); exit(0); } ERROR { trace(arg4); exit(0); }\n", n - 1 }'; }
double 60 | accepted 10
double 1000 | refused 'D_SYNTAX.*expand to more than'
awk 'BEGIN { print "int t; inline void f0(int x) { t += x; }"; for (i = 1; i < 1000; i++) printf "inline void f%d(int x) { f%d(x); t++; }\n", i, i-1
	print "BEGIN { f999(1); trace(t); exit(0); }" }' | accepted 1000
awk 'BEGIN { print "int n; inline int f(int x) { int i; for (i = 0; i < 3; i++) x += x * 3 - i; return x; }"
	for (i = 0; i < 1000; i++) printf "BEGIN /f(pid + %d) != 0/ { n++; }\n", i; print "BEGIN { trace(n); exit(0); }" }' | accepted 1000
awk 'BEGIN { print "int t; inline void f(int x) {"; for (i = 0; i < 990; i++) print "t += x % " i + 2 ";"
	print "} BEGIN {"; for (i = 0; i < 50; i++) print "f(" i ");"; print "trace(t); exit(0); }" }' | accepted 1180337
awk 'BEGIN { print "int t; inline void f(int x) { int y;"; for (i = 0; i < 900; i++) printf "y = y * %d + (x >> 2);\n", i + 3
	print "t += y % 7; }"; for (i = 0; i < 200; i++) printf "BEGIN { f(%d); }\n", i; print "BEGIN { trace(t); exit(0); }" }' | accepted -84
echo 'this int64_t s; BEGIN { for (this->i = 0; this->i < 999999; this->i++) this->s += this->i; trace(this->s); exit(0); }' | accepted 499998500001 -x loopmax=1000000
awk 'BEGIN { print "BEGIN { "; for (i = 0; i < 64; i++) printf "for (this->i%d = 0; this->i%d < 1000000; this->i%d++) {", i, i, i; print "@ = count();"
	for (i = 0; i < 64; i++) print "}"; print "} ERROR { trace(arg4); exit(0); }" }' | accepted 101000001 -x loopmax=1000000
# large but honest
rep ';' | sed 's/$/ BEGIN { exit(0); }/' | accepted
{ rep '/* */'; printf 'BEGIN { exit(0); }'; } | accepted
{ yes '' | head -c $SIZE; printf 'BEGIN { exit(0); }'; } | accepted
awk 'BEGIN { printf "enum e {"; for (i = 0; i < 300000; i++) printf "E%d,", i; print "}; BEGIN { trace(E299999); exit(0); }" }' | accepted 299999
awk 'BEGIN { for (i = 0; i < 30000; i++) print "BEGIN { x++; }"; print "BEGIN { trace(x); exit(0); }" }' | accepted 30000
awk 'BEGIN { printf "struct s {"; for (i = 0; i < 60000; i++) printf "int m%d;", i; print "};"
	printf "translator struct s < int n > {"; for (i = 0; i < 60000; i++) printf "m%d = n;", i
	print "}; BEGIN { trace(xlate<struct s>(7).m59999); exit(0); }" }' | accepted 7
awk 'BEGIN { for (i = 0; i < 50000; i++) printf "struct t%d { int x; }; translator struct t%d < int n > { x = n; };\n", i, i
	print "BEGIN { trace(xlate<struct t49999>(8).x); exit(0); }" }' | accepted 8
awk 'BEGIN { for (i = 0; i < 50000; i++) printf "#pragma D attributes Stable/Stable/Common x%d\n", i
	for (i = 0; i < 50000; i++) printf "inline int x%d = %d;\n", i, i; print "BEGIN { trace(x49999); exit(0); }" }' | accepted 49999
awk 'BEGIN { printf "BEGIN /"; for (i = 1; i < 2000; i++) printf "timestamp == %d || ", i; print "1/ { trace(9); exit(0); }" }' | accepted 9
awk 'BEGIN { printf "typedef int t0;\n"; for (i = 1; i < 100000; i++) printf "typedef t%d t%d;\n", i-1, i; print "t99999 x; BEGIN { x = 3; trace(x); exit(0); }" }' | accepted 3
