# Hostile modules and libraries in -L: an error that names the file, or success, quickly; nothing of them runs or leaks out.
# timeout: 120
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
# module PATTERN: m.dm on standard input; importing it fails with this message. accepted OUTPUT PROGRAM: it does not.
try() { timeout 60 "$DTRACE" -x engine=vm -q -L d -n "$1" >out 2>err </dev/null; }
fresh() { rm -rf d; mkdir d; }
refused() {
	fresh
	cat >d/m.dm
	try 'import m; BEGIN { exit(0); }'
	expect 1 $? "$1"
	expect_match "$1" "$(head -c 2000 err)"
}
accepted() {
	fresh
	cat >d/m.dm
	try "import m; $2"
	expect 0 $? "$2: $(cat err)"
	expect_match "$1" "$(tr '\n' ' ' <out)"
}
: | refused 'd/m.dm does not begin with module m'
echo 'module other; export int x;' | refused 'line 1: the file of module m declares module other'
echo 'module m; import m; export int x;' | refused 'm imports m'
echo 'module m 1.2.3.4; export int x;' | refused 'invalid version'
echo 'module m 99999999999999999999; export int x;' | refused 'invalid version'
echo 'module m; BEGIN { system("true"); }' | refused 'may not contain probe clauses'
printf 'module m;\n#pragma D option destructive\n' | refused 'line 2: a library cannot allow destructive'
printf 'module m;\n#pragma D depends_on module nosuch\nexport int x;' | refused 'depends on is absent'
printf 'module m;\n/* never closed' | refused 'line 2: this comment has no end'
printf 'module m; export int a\0b;' | refused 'NUL byte'
echo 'module m; export inline int f(int x) { return x; } } }' | refused 'line 1: syntax error'
echo 'module m; export inline int f(int x) { return g(x); } inline int g(int x) { return f(x); }' | refused 'undefined function name: m::g'
echo 'module m; inline int f(int x) { return f(x); }' | refused 'calls m::f'
echo 'module m; export translator psinfo_t < int x > { pr_pid = x; };' | refused 'types of its own'
{ echo 'module m; export inline void f(int x) {'; yes 'x++;' | head -n 10000; echo '}'; } | refused 'more than 1000 statements'
{ printf 'module m; export inline int f(int x) { return '; yes '(' | head -n 200000 | tr -d '\n'; } | refused 'nested too deeply'
{ echo 'module m; export inline int a0 = pid;'; for i in $(seq 1 60); do echo "export inline int a$i = a$((i - 1)) + a$((i - 1));"; done; } | refused 'expand to more than'
yes 'module m; ' | head -c 20000000 | refused 'larger than 16 MB'
{ echo 'module m;'; for i in $(seq 1 5000); do echo "export inline int f$i(int x) { return x + $i; }"; done; } | accepted '^5000 ' 'BEGIN { trace(m::f4999(1)); exit(0); }'
echo 'module m; export inline void f() { while (1) { @ = count(); } }' | accepted '^10 ' 'BEGIN { m::f(); } ERROR { trace(arg4); exit(0); }'
expect_match 'd/m.dm:1: 1: more rounds of a loop' "$(cat err)"
echo 'module m; export @a; export inline void f() { @a[1] = count(); @b[2] = sum(3); self->x = 1; }' |
	accepted 'a 1 1 .* 4' 'BEGIN { self->x = "s"; @a["x"] = count(); @b = max(4); m::f(); printa("a %d %@d ", @m::a); printa(@b); trace(self->x); exit(0); }'
echo 'module m; export int x; int secret;' >d/m.dm
try 'import m; BEGIN { m::secret = 1; }'
expect_match 'does not export m::secret' "$(cat err)"
try 'import m; int m::y; BEGIN { exit(0); }'
expect_match 'module m has no m::y' "$(cat err)"
# what is not a file of ours
for make in 'mkdir d/m.dm' 'mkfifo d/m.dm' 'ln -s /dev/zero d/m.dm'; do
	fresh
	$make
	try 'import m; BEGIN { exit(0); }'
	expect_match 'd/m.dm": not a regular file' "$(cat err)" "$make"
done
fresh
ln -s m.dm d/m.dm
try 'import m; BEGIN { exit(0); }'
expect_match 'module m is not found' "$(cat err)"
fresh
echo 'module m; export int x;' >d/m.dm
chmod 666 d/m.dm
try 'import m; BEGIN { exit(0); }'
expect_match 'every user can write it' "$(cat err)"
# chains and circles
fresh
for i in $(seq 0 200); do echo "module m$i; import m$((i + 1)); export int x;" >d/m$i.dm; done
echo 'module m201; export int x;' >d/m201.dm
try 'import m0; BEGIN { m0::x = 3; trace(m0::x); exit(0); }'
expect_match '^3' "$(cat out)" "a chain of modules: $(cat err)"
echo 'module m201; import m0; export int x;' >d/m201.dm
try 'import m0; BEGIN { exit(0); }'
expect_match 'modules import each other' "$(cat err)"
fresh
echo '#pragma D depends_on library y.d' >d/x.d
echo '#pragma D depends_on library x.d' >d/y.d
try 'BEGIN { exit(0); }'
expect_match 'circular dependency of libraries' "$(cat err)"
fresh
echo 'inline int pid = 3;' >d/x.d
try 'BEGIN { trace(pid); exit(0); }'
expect_match 'd/x.d", line 1: "pid" is built in' "$(cat err)"
