# Hostile programs: an error or success, quickly, and never a crash.
# timeout: 300
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
accepted() {
	cat >p.d
	timeout 150 "$DTRACE" -x engine=vm -q -s p.d >out 2>err </dev/null
	expect 0 "$?" "status for $(head -c 30 p.d | tr '\n\0' ' 0')"
	expect "${1-}" "$(tail -c 60 out | tr -d '\n ')"
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
