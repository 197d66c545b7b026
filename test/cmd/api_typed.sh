# The example programs of the typed API build without warnings and show what they should (examples/api, doc/api.md).
# needs: gcc
# uses: root bpf
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
cd "$TMP" || exit 1
san=
nm -D "$BUILD/libdtrace.so" | grep -q __asan_init && san=-fsanitize=address,undefined
for p in events watch; do
	gcc $san -g -std=c11 -Wall -Wextra -Werror -I "$SRC/include" -o $p "$SRC/examples/api/$p.c" -L"$BUILD" -ldtrace -Wl,-rpath,"$BUILD" ||
		{ echo "$p does not build"; exit 1; }
done
expect 1 "$(./events -x engine=vm 'BEGIN { trace(nosuch); }' >out 2>&1; echo $?)"
expect_match '^events: .*failed to resolve nosuch' "$(cat out)"
got=$(./events -x engine=vm '
	typedef struct { int a; char s[4]; struct { short x; unsigned y : 3; }; int z[2]; } t;
	this t v;
	enum e { A = 3, B };
	BEGIN { this->v.a = -5; printf("%s %d\n", "one", 5); trace((uint64_t)-1); print((enum e)3); print(this->v); trace(this->v.a); }
	BEGIN { trace(*(int *)0); }
	BEGIN { @a["x", 3] = count(); @a["y", 3] = count(); @a["y", 3] = count(); normalize(@a, 1); printa(@a); }
	BEGIN { @q = quantize(-5); @q = quantize(100); @l[1] = lquantize(3, 0, 10, 2); @l[1] = lquantize(-3, 0, 10, 2); exit(3); }
	END')
expect 3 $? status
expect 'dtrace:::BEGIN
  printf [one 5
]
    - (string): "one"
    - (int): 5
  trace
    - (uint64_t): 18446744073709551615
  print
    - (enum e): A
  print
    v (t): 4 inside
      a (int): -5
      s (char [4]): ""
      - (struct {...}): 2 inside
        x (short): 0
        y (unsigned int): 0
      z (int [2]): 2 inside
        - (int): 0
        - (int): 0
  trace
    a (int): -5
fault in clause 2, action 1: invalid address
@a count = 1
  - (string): "x"
  - (int): 3
@a count = 2
  - (string): "y"
  - (int): 3
dtrace:::END
@q quantize
  -7..-4: 1
  64..127: 1
@l lquantize
  - (int): 1
  -9223372036854775808..-1: 1
  2..3: 1' "$got" "values and rows"
if ! lacks root >/dev/null && ! lacks bpf >/dev/null; then
	got=$(./watch sh -c 'exit 5' 2>&1)
	expect "status 1280" "$(head -n 1 <<<"$got")" "watch"
	expect_match '^exit_group +1$' "$got"
	# stacks come with names
	got=$(./events 'profile-997 /arg0/ { stack(); exit(0); }')
	expect_match '^  stack$' "$got"
	lacks kallsyms >/dev/null || expect_match '^ *vmlinux`[A-Za-z0-9_.]+[+]0x' "$got"
fi
