# Option fast: the target process runs the program if that means the same there; otherwise the kernel does, and a note says why.
# needs: root bpf gcc x86-64
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
fast() {
	"$DTRACE" -x debug -x fast -x evaltime=postinit "$@" -c "$TMP/victim -n 100" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(echo $(cat "$TMP/out")) err=$(cat "$TMP/err")
}
used() { sed -n 's/.*DEBUG: engine \([a-z]*\), .*/\1/p' "$TMP/err" | tr '\n' ' '; }

fast -qn 'pid$target:a.out:work:entry { @ = count(); } BEGIN { n = 1; } tick-1s { n++; }'
expect "0 calls 100 100" "$status $out" "$err"
expect "process " "$(used)"
expect "" "$(grep 'option fast' "$TMP/err")"

# system calls are those of all processes in the kernel
fast -n 'pid$target:a.out:work:entry { @ = count(); } syscall::write:entry /pid == $target/ { @w = count(); }'
expect "0 calls 100 100 1" "$status $out" "$err"
expect "bpf " "$(used)"
expect_match 'option fast: the kernel runs the program: not all probes are in one target process' "$err"

# what the process lacks
fast -n 'pid$target:a.out:once:entry { @[stack(1)] = count(); } pid$target:a.out:work:entry { @w = count(); }'
expect "0 calls 100 1 100" "$status $(tr -s ' ' '\n' <<<"$out" | grep -E '^(calls|[0-9]+)$' | tr '\n' ' ' | sed 's/ $//')" "$err"
expect "process bpf " "$(used)"
expect_match 'option fast: the kernel runs the program: .*stack\(\) is not available' "$err"

# an engine that is named stays
fast -x engine=bpf -qn 'pid$target:a.out:work:entry { @ = count(); }'
expect "0 calls 100 100 bpf " "$status $out $(used)" "$err"

# a probe that cannot be placed in the process: the kernel runs the program, and none is lost; named, the engine refuses that one
gcc -O1 -o "$TMP/short" -x c - <<'EOT' || exit 1
__asm__(".text\n.type tiny,@function\ntiny: ret\n.size tiny,.-tiny\n lea 1(%rax),%rax\n lea 1(%rax),%rax\n"
	".type large,@function\nlarge: lea 1(%rdi),%rax\n lea 0(%rax),%rax\n ret\n.size large,.-large\n");
long tiny(long), large(long);
int main(void) { for (int i = 0; i < 10; i++) tiny(large(i)); return 0; }
EOT
"$DTRACE" -x debug -x fast -x evaltime=postinit -n 'pid$target:a.out:tiny:entry,pid$target:a.out:large:entry { @[probefunc] = count(); }' \
	-c "$TMP/short" >"$TMP/out" 2>"$TMP/err" </dev/null
expect "0 large 10 tiny 10" "$? $(echo $(grep . "$TMP/out" | LC_ALL=C sort))" "$(cat "$TMP/err")"
expect "process bpf " "$(used)"
expect_match 'option fast: the kernel runs the program: .*tiny:entry: it is too short' "$(cat "$TMP/err")"
"$DTRACE" -x engine=process -x evaltime=postinit -n 'pid$target:a.out:tiny:entry,pid$target:a.out:large:entry { @[probefunc] = count(); }' \
	-c "$TMP/short" >"$TMP/out" 2>"$TMP/err" </dev/null
expect "0 large 10" "$? $(echo $(grep . "$TMP/out"))" "$(cat "$TMP/err")"
expect_match 'a probe is not available in the process: .*tiny:entry: it is too short' "$(cat "$TMP/err")"
