# -c runs a command held until tracing is on; -p watches a process; both end the trace.
. "$SRC/test/lib.bash"
dt -c "sh -c 'echo \$\$ >$TMP/pid'" -n 'BEGIN { printf("%d\n", $target); }'
expect 0 "$status"
expect "$(cat "$TMP/pid")" "$(sed -n '2s/.*BEGIN *//p' <<<"$out")"
expect "dtrace: pid $(cat "$TMP/pid") has exited" "$(tail -n 1 <<<"$err")"
dt -q -c 'sh -c "exit 3"' -n 'BEGIN { }'
expect 0 "$status"
expect "" "$err"
dt -c 'sh -c "exit 3"' -n 'BEGIN { }'
expect_match '^dtrace: pid [0-9]+ exited with status 3$' "$err"
dt -c 'sh -c "kill -9 $$"' -n 'BEGIN { }'
expect_match '^dtrace: pid [0-9]+ terminated by SIGKILL$' "$err"
# exit() ends the command
dt -c 'sleep 100' -n 'BEGIN { exit(0); }'
expect 0 "$status"
# a command is not run when the program does not compile
dt -c "touch $TMP/never" -n 'BEGIN { nosuch(); }'
expect 1 "$status"
[ ! -e "$TMP/never" ] || { echo "the command ran"; fails=1; }
dt -x setenv=DTRACE_TEST=yes -c "sh -c 'echo \$DTRACE_TEST >$TMP/env'" -q -n 'BEGIN { }'
expect yes "$(cat "$TMP/env")"
mkfifo "$TMP/go" # it must not exit before it is traced
sh -c "read -r x <$TMP/go" &
dt -w -p $! -n "BEGIN { trace(\$target); system(\"echo >$TMP/go\"); }"
expect 0 "$status"
expect "dtrace: pid $! has exited" "$(tail -n 1 <<<"$err")"
