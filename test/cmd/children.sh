# With SIGCHLD ignored by the parent, child processes run and their status is known.
. "$SRC/test/lib.bash"
trap '' CHLD
dt -wqn 'BEGIN { system("echo one"); printf("two\n"); exit(0); }'
expect "0 one two" "$status $err$(echo $out)"
dt -q -c "sh -c 'exit 3'" -n BEGIN
expect "0 " "$status $err"
dt -c "sh -c 'exit 3'" -n BEGIN
expect_match 'exited with status 3$' "$err"
command -v cpp >/dev/null || exit 0
printf '#define N 7\nBEGIN { trace(N); exit(0); }\n' >"$TMP/s.d"
dt -q -C -s "$TMP/s.d"
expect "0 7" "$status $err$(echo $out)"
printf '#error no\n' >"$TMP/s.d"
dt -q -C -s "$TMP/s.d"
expect_match '"cpp" returned errors$' "$err"
