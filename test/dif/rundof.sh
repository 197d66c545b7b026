# Blocks as DOF: compiled, written, read and run, the output is that of the script; on both engines. The
# form for other DTraces (control=clauses) does the same.
# needs: gcc
# uses: root bpf
. "$SRC/test/lib.bash"
san=
nm -D "$BUILD/libdtrace.so" | grep -q __asan_init && san=-fsanitize=address,undefined
gcc $san -Wall -Wextra -Werror -I "$SRC/include" -o "$TMP/rundof" files/rundof.c -L"$BUILD" -ldtrace -Wl,-rpath,"$BUILD" || exit 1
cat >"$TMP/if.d" <<'D'
BEGIN /pid/
{
	this->n = 2;
	if (this->n == 1) { printf("one "); } else if (this->n == 2) { printf("two "); @["two"] = count(); } else { printf("more "); }
	printf("end\n");
}
BEGIN { if (!pid) { trace(1); } exit(3); }
D
cat >"$TMP/spec.d" <<'D'
BEGIN
{
	for (this->i = 0; this->i < 4; this->i++) {
		this->s = speculation();
		if (this->s) { speculate(this->s); printf("%d ", this->i); }
		if (this->i % 2) commit(this->s); else discard(this->s);
	}
	exit(0);
}
D
engines=vm
[ "$(id -u)" = 0 ] && ktrace -n 'BEGIN { exit(0); }' && [ "$status" = 0 ] && engines="vm bpf"
same() { # ENGINE CONTROL SCRIPT
	trace -x engine="$1" -x control="$2" -qs "$3"
	expect "$(cat "$TMP/out") [$status]" "$("$TMP/rundof" "$1" "$2" "$3") [$?]" "$3 on $1, $2"
}
for engine in $engines; do
	for script in loop switch if function function-loop function-shared function-apart function-clauses; do
		same $engine blocks "$SRC/test/lang/$script.d"
	done
	for script in if spec; do
		same $engine blocks "$TMP/$script.d"
	done
	expect_match '[13]' "$out"
	same $engine clauses "$TMP/if.d"
	expect_match '^two end' "$out"
done
