# Functions: what is refused, where they are defined; limits; in libraries and modules.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
# refused PATTERN PROGRAM
refused() {
	dt -L l -x errtags -e -n "$2"
	expect 1 "$status" "$2"
	expect_match "$1" "$err"
}
mkdir l
# where it is defined
refused 'D_IDENT_UNDEF.*failed to resolve y' 'inline int f(int x) { return y; } BEGIN { exit(0); }'
refused 'D_OP_INCOMPAT.*the function returns int, but this is string' 'inline int f(int x) { return "a"; } BEGIN { exit(0); }'
refused 'D_PROTO_LEN.*strlen' 'inline void f(int x) { strlen(x, 2); } BEGIN { exit(0); }'
refused 'D_SYNTAX.*function f can end without a return' 'inline int f(int x) { if (x) return 1; } BEGIN { exit(0); }'
refused 'D_SYNTAX.*function f must return a value' 'inline int f(int x) { return; } BEGIN { exit(0); }'
refused 'D_SYNTAX.*function f is void and cannot return a value' 'inline void f(int x) { return 1; } BEGIN { exit(0); }'
refused 'D_SYNTAX.*no statement is reached after a return' 'inline int f(int x) { return 1; x = 2; } BEGIN { exit(0); }'
refused 'D_CG_EXPR.*function f returns a value, so it cannot use printf' 'inline int f(int x) { printf("x"); return 1; } BEGIN { exit(0); }'
refused 'D_CG_EXPR.*function f returns a value, so it cannot use @a' 'inline int f(int x) { @a = count(); return 1; } BEGIN { exit(0); }'
refused 'D_DECL_IDRED.*"x" is declared twice in function f' 'inline int f(int x) { int x; return 1; } BEGIN { exit(0); }'
refused 'D_DECL_PROTO_FORM.*parameter 1 of function f needs a name' 'inline int f(int) { return 1; } BEGIN { exit(0); }'
refused 'D_DECL_IDRED.*"strlen" is built in' 'inline int strlen(int x) { return 1; } BEGIN { exit(0); }'
refused 'D_DECL_CLASS.*t cannot be struct s: in a function there are integers, pointers and strings' 'struct s { int a; }; inline int f(struct s t) { return 1; } BEGIN { exit(0); }'
refused 'D_SYNTAX.*a function begins with inline: inline int f' 'int f(int x) { return 1; } BEGIN { exit(0); }'
refused 'D_SYNTAX.*return' 'BEGIN { return; }'
refused 'D_SYNTAX.*function f can end without a return' 'inline int f(int x) { while (x) return 1; } BEGIN { exit(0); }'
refused 'D_OP_INCOMPAT.*the function returns int, but this is string' 'inline int f(int x) { while (x) return "a"; return 1; } BEGIN { exit(0); }'
refused 'D_CG_EXPR.*function f returns a value, so it cannot use printf' 'inline int f(int x) { while (x) printf("x"); return 1; } BEGIN { exit(0); }'
# where it is called
f='inline int f(int x) { return x; } inline void v(int x) { trace(x); }'
refused 'D_PROTO_ARG.*f\( \) argument #1 is string, but int is needed' "$f BEGIN { trace(f(\"a\")); }"
refused 'D_PROTO_LEN.*f\( \) takes 1 argument, not 2' "$f BEGIN { trace(f(1, 2)); }"
refused 'D_IDENT_BADREF.*f is a function: call it as f\( \)' "$f BEGIN { trace(f); }"
refused 'D_FUNC_IDKIND.*v\( \) has no value' "$f BEGIN { trace(v(1)); }"
refused 'D_OP_INCOMPAT' "$f BEGIN { v(\"a\"); }"
refused 'D_PROTO_LEN.*v\( \) takes 1 argument, not 0' "$f BEGIN { v(); }"
# a value that takes a loop is computed before the statement
f='inline int f(int x) { while (x) x--; return x; }'
for where in '{ trace(arg0 && f(1)); }' '{ trace(arg0 ? f(1) : 0); }' '{ this->x = 1, f(1); }' '{ trace(f(1) ?? 2); }'; do
	refused 'D_SYNTAX.*f\( \) has a loop or a switch: call it in a statement or a predicate, and not in \?\? or after && \|\| \?: or a comma' "$f BEGIN $where"
done
refused 'D_SYNTAX.*f\( \) has a loop or a switch' "$f inline int one = f(1); BEGIN { trace(one); }"
refused 'D_PROTO_LEN.*f\( \) takes 1 argument, not 0' "$f BEGIN { trace(f()); }"
refused 'D_OP_INCOMPAT' "$f BEGIN { trace(f(\"a\")); }"
refused 'D_FUNC_UNDEF.*a function cannot call itself: f calls f' 'inline int f(int x) { while (x) x = f(x - 1); return 0; } BEGIN { exit(0); }'
# recursion, also through libraries
refused 'D_FUNC_UNDEF.*a function cannot call itself: f calls f' 'inline int f(int x) { return x ? f(x - 1) : 0; } BEGIN { exit(0); }'
refused 'D_FUNC_UNDEF.*a function cannot call itself: v calls v' 'inline void v(int x) { v(x); } BEGIN { exit(0); }'
mkdir sys
echo 'inline int f(int x) { return g(x); }' >sys/a.d
echo 'inline int g(int x) { return f(x); }' >sys/b.d
dt -x syslibdir="$TMP/sys" -x errtags -e -n 'BEGIN { trace(f(1)); }'
expect_match 'D_FUNC_UNDEF.*sys/b.d", line 1: a function cannot call itself: f calls g calls f' "$err"
# libraries, on demand; modules
echo 'inline int three = 3; inline int plus(int x) { int r = x; r += three; return r; }' >sys/plus.d
cat >l/m.dm <<'E'
module m;
int base, calls;
inline int twice(int base) { return base * 2; }
export inline int four(int x) { calls++; this->x = twice(x); return twice(this->x); }
export inline int called() { return calls; }
export inline int count_down(int n) { while (n > base) n--; calls++; return n + calls; }
export inline void say(string s) { int calls = 7; printf("%s %d|", s, calls); @[s] = count(); base++; }
E
for run in dt trace; do
	$run -L l -x syslibdir="$TMP/sys" -qn 'import m; int base, calls; BEGIN /plus(1) == 4/ { this->x = 1; base = 5; printf("%d %d %d %d %d ", plus(4), m::four(plus(1)), m::called(), this->x, calls); m::say("a"); m::say(strjoin("b", "c")); printf("%d", base); exit(0); }'
	expect "7 16 1 1 0 a 7|bc 7|5" "$(said | head -1)" "$run"
done
echo 'inline int loops(int x) { do x++; while (x % 10); return x; }' >sys/loops.d
for run in dt trace; do
	$run -L l -x syslibdir="$TMP/sys" -qn 'import m; int base, calls; BEGIN /m::count_down(3) == 1/ { printf("%d %d %d", m::count_down(9), loops(13), calls); exit(0); }'
	expect "2 20 0" "$(said | head -1)" "$run"
done
refused 'D_MODULE.*module m does not export m::twice' 'import m; BEGIN { trace(m::twice(1)); }'
# limits: clear errors, quickly
many() { awk -v n="$1" -v s="$2" -v t="$3" 'BEGIN { print t " f(int x) {"; for (i = 0; i < n; i++) print s; print (t ~ /void/ ? "" : "return x;") "}" }'; }
refused 'D_SYNTAX.*function f has more than 1000 statements' "$(many 10000 'x++;' 'inline int') BEGIN { exit(0); }"
refused 'D_SYNTAX.*function f has more than 1000 statements' "$(many 10000 'trace(x);' 'inline void') BEGIN { exit(0); }"
refused 'D_SYNTAX.*nested too deeply' "$(many 900 'if (x == 5) return 2;' 'inline int') BEGIN { exit(0); }"
refused 'D_SYNTAX.*needs more than 1000 statements' "$(many 400 'if (x) { if (x > 1) return; trace(x); }' 'inline void') BEGIN { exit(0); }"
awk 'BEGIN { print "inline int f0(int x) { return x; }"; for (i = 1; i < 64; i++) printf "inline int f%d(int x) { return f%d(x) + f%d(x); }\n", i, i-1, i-1; print "BEGIN { trace(f63(pid)); }" }' >p.d
dt -x errtags -e -s p.d
expect_match 'D_SYNTAX.*expand to more than' "$err"
{ many 990 'x++;' 'inline int'; echo 'BEGIN { printf("%d", f(10)); exit(0); }'; } >p.d
dt -qs p.d
expect 1000 "$(said)"
