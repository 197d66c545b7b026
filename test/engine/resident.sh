# Buffers are counted once in the resident memory of the tracer, although a ring buffer can be mapped twice.
# needs: root bpf
. "$SRC/test/lib.bash"
"$DTRACE" -q -b 32m -n 'syscall::getppid:entry /pid == 1/ { trace(arg0); }' >"$TMP/out" 2>"$TMP/err" </dev/null &
tracer=$!
at_end "kill $tracer 2>/dev/null"
attached() { grep -qs link_type "/proc/$tracer/fdinfo/"*; }
wait_for 60 attached
resident=$(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$tracer/status")
buffers=$(cat "/proc/$tracer/fdinfo/"* | awk '/^map_type/ { ring = $2 == 27 } ring && /^max_entries/ { sum += $2 } END { print int(sum / 1048576) }')
kill -TERM $tracer
wait $tracer
expect 0 $? "$(cat "$TMP/err")"
expect_match "^(3[2-9]|[4-9][0-9]|[1-9][0-9][0-9]+)$" "$buffers" "MB of buffers"
((resident < buffers * 3 / 2)) || expect "less than $((buffers * 3 / 2)) MB" "$resident MB" "resident, with buffers of $buffers MB"
