# Where ptrace is refused, processes are traced nevertheless, and a notice says so.
# needs: gcc
. "$SRC/test/lib.bash"
build noptrace processes/noptrace.c
"$TMP/noptrace" true || skip "no seccomp here"
refused() { # sanitizers need ptrace to look for leaks
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 "$TMP/noptrace" "$DTRACE" -x engine=vm "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	err=$(cat "$TMP/err")
}
refused -c "sh -c 'echo ran; exit 3'" -n 'BEGIN { printf("%d", $target); }'
expect 0 "$status" "$err"
expect_match '^ran$' "$(cat "$TMP/out")"
expect_match '^dtrace: pid [0-9]+ cannot be held after its exec \(ptrace is refused\): it execs when tracing begins$' "$err"
expect_match '^dtrace: pid [0-9]+ exited with status 3$' "$err"
refused -c nosuchcommand -n 'BEGIN { }'
expect 0 "$status" "$err"
expect_match '^dtrace: pid [0-9]+ failed to execute its command: No such file or directory$' "$err"
expect_match '^dtrace: pid [0-9]+ exited with status 127$' "$err"
refused -c "touch $TMP/never" -n 'BEGIN { nosuch(); }'
expect 1 "$status"
sleep 0.1
[ ! -e "$TMP/never" ] || { echo "the command ran"; fails=1; }
sleep 1000 &
refused -p $! -n 'BEGIN { exit(0); }'
expect "0 dtrace: pid $! cannot be traced by ptrace: it is not stopped while probes are made" "$status $(head -n 1 "$TMP/err")"
kill $!
