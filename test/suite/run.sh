# test/run itself, on a small tree of tests: what passes, fails and is skipped; its options; misspelled directives.
. "$SRC/test/lib.bash"
tree=$TMP/tree
mkdir -p "$tree/test/a" "$tree/test/b" "$TMP/build"
cp "$SRC/test/run" "$SRC/test/needs.bash" "$SRC/test/lib.bash" "$tree/test/"
ln -s "$DTRACE" "$TMP/build/dtrace"
cd "$tree/test" || exit 1
run() { # ARGS: output in $out, status in $status
	out=$(BUILD=$TMP/build TIMES='' ENGINE=vm ./run "$@" 2>&1 </dev/null)
	status=$?
}

# what a test is and how it ends
printf '// Prints hi.\n// run: -q\nBEGIN { printf("hi\\n"); exit(3); }\n// status: 3 (too late: not at the top)\n' >a/hi.d
printf '// status: 3\n' | cat - a/hi.d >a/three.d
echo hi >a/three.out
echo hi >a/hi.out
printf '// tag: D_SYNTAX 2\nBEGIN { trace(1; }\n' >a/tag.d
printf '# Ends well.\necho a line\n' >b/well.sh
run
expect_match '^FAILED: test/a/hi.d' "$out"
expect_match '^status 3, expected 0$' "$out"
expect "3 passed, 1 failed" "$(tail -n 1 <<<"$out")"
run a/t b
expect "0 3 passed, 0 failed" "$status $out" "by name"
run a/t nosuch
expect "2 test/run: no such test: nosuch; see test/run --help" "$status $out"
run --list
expect "a/hi.d                             Prints hi.
a/tag.d
a/three.d                          Prints hi.
b/well.sh                          Ends well." "$out"
run --show b/well
expect "0 a line
1 passed, 0 failed" "$status $out" "--show"
run --show a
expect 2 "$status" "--show, several"
run --show a/hi
expect_match "^dtrace -x engine=vm '-q' -s hi.d" "$out"
expect_match '^status 3, expected 0$' "$out"
echo old >a/three.out
run --update a/three
expect "0 hi" "$status $(cat a/three.out)" "--update"
run --help
expect "0 test/run: run the tests." "$status $(head -n 1 <<<"$out")"
run --nosuch
expect "2 test/run: no such option: --nosuch; see test/run --help" "$status $out"
rm a/hi.d

# needs: skipped with the reason; uses: said at the end
printf '# needs: go\nfalse\n' >b/go.sh
printf '# needs: fast\necho "no"; exit 1\n' >b/fast.sh
printf '# uses: go\ntrue\n' >b/part.sh
if ! command -v go >/dev/null; then
	run b/go b/part
	expect "0 skipped: b/go.sh: needs go: Go compiler (package golang-go)
left out, parts of tests that use: go
1 skipped
1 passed, 0 failed" "$status $out" "not there"
	run --needs b
	expect_match '^go +no +\(golang-go\) +b/go.sh, b/part.sh \(a part\)$' "$out"
fi
SLOW=20 run b/fast
expect "0 skipped: b/fast.sh: needs fast: not an emulated machine (SLOW is not set)
1 skipped
0 passed, 0 failed" "$status $out" "SLOW"
run --needs b
expect_match '^fast +yes +- +b/fast.sh$' "$out"
printf 'echo "not today"\nexit 77\n' >b/today.sh
run b/today
expect "0 skipped: b/today.sh: not today
1 skipped
0 passed, 0 failed" "$status $out" "status 77"

# a misspelled directive or need fails the test
rm a/* b/*
echo '// neds: root' | tee a/one.d >a/two.sh
echo '# run: -q' >a/three.sh # not of a .sh test
echo '# needs: root gc' >a/four.sh
printf '#!/bin/sh\n# A: capital letters are prose. pid:::x\n#   note:x\n' >a/five.sh
run
expect "1 1 passed, 4 failed" "$status $(tail -n 1 <<<"$out")" "directives"
expect 2 "$(grep -cF 'line 1: "neds:" is not a directive of such a test' <<<"$out")"
expect 1 "$(grep -cF 'line 1: "run:" is not a directive of such a test' <<<"$out")"
expect 1 "$(grep -cF '"gc" is not in the table of test/needs.bash' <<<"$out")"

# at_end is for the end of the test, not for that of a child which a signal ends before it runs its program
rm a/*
cat >b/child.sh <<'T'
. "$SRC/test/lib.bash"
at_end 'echo the end'
for i in $(seq 50); do
	sleep 100 &
	builtin kill $! # at once
	wait $! 2>/dev/null
done
count_failure
T
run b/child
expect "1 the end" "$status $(grep 'the end' <<<"$out")" "at_end"
