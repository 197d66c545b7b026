# What one machine, or many, can make a front keep is bounded: connections, bytes that are not read, questions that it asks.
# needs: root bpf gcc python3
# timeout: 300
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
peer() { # WHAT
	: >"$TMP/said"
	python3 "$SRC/test/fleet/peer.py" "$TMP/t/peer.sock" "$1" >"$TMP/said" &
	peer=$!
	at_end "kill $peer 2>/dev/null"
	wait_for 10 test -S "$TMP/t/peer.sock"
}
gone() { kill $peer; wait $peer 2>/dev/null; rm -f "$TMP/t/peer.sock"; }
close="syscall::close:entry /$mine/"

# Answers to questions that were not asked bring no more questions: those of the beginning, and one each second.
peer pongs
before=$SECONDS
fleet -qn "web-1:$close { @ = count(); }" -c "$(load 100)"
expect 100 "$(last_fields)" "beside a flood of answers"
wait_for 20 test -s "$TMP/said"
brought=$(awk '{ n += $1 } END { print n }' "$TMP/said") # it may have come several times
[ "$brought" -le $(((20 + SECONDS - before) * $(wc -l <"$TMP/said"))) ] || { echo "the flood has brought $brought questions"; count_failure; }
gone

# One that joins and does not read the programs that it is sent: the front keeps 64 MB for it.
for i in $(seq 9); do
	{ echo '/*'; head -c 7500000 /dev/zero | tr '\0' 'y'; printf '*/\nliar:syscall::no_such_call:entry { trace(%d); }\n' "$i"; } >"$TMP/$i.d"
done
: >"$TMP/live" >"$TMP/live.err"
"$DTRACE" -E -Z -x targetwait=100s -x targets="$TMP/t/peer.sock" -q $(printf -- "-s $TMP/%d.d " $(seq 9)) -n 'BEGIN { printf("up\n"); }' >"$TMP/live" 2>"$TMP/live.err" &
front=$!
at_end "kill $front 2>/dev/null"
wait_for 100 grep -q up "$TMP/live"
peer unread
wait_for 60 grep -q 'liar: it does not read what it is sent' "$TMP/live.err"
kill -TERM $front
wait $front
expect 0 $? "status"
gone

# Records wait for a relay that does not promise what it is asked for, for 20 seconds, but no more than 64 MB of them.
peer late
: >"$TMP/live" >"$TMP/live.err"
"$DTRACE" -E -Z -x targetwait=100s -x targets="$TMP/t/peer.sock" -x bufsize=128m -x strsize=16k -qn "*:$close { printf(\"%d %s\n\", arg0, \"$(printf 'y%.0s' $(seq 16000))\"); }
	BEGIN { printf(\"up\n\"); }" >"$TMP/live" 2>"$TMP/live.err" &
front=$!
at_end "kill $front 2>/dev/null"
wait_for 100 grep -q up "$TMP/live" # it has been asked for nothing yet
calls=0
overflowed() { # all at once: after 20 seconds nobody waits
	$(load 8000)
	calls=$((calls + 8000))
	grep -q 'more records wait for slow machines than there is room for: some may be out of order' "$TMP/live.err"
}
wait_for 60 overflowed
kill -TERM $front
wait $front
expect 0 $? "status, beside one that promises nothing"
drops=$(sed -nE 's/^dtrace: ([0-9]+) drops? on CPU.*/\1/p' "$TMP/live.err" | awk '{ n += $1 } END { print n + 0 }')
expect $calls $(($(grep -c '^[0-9]* y' "$TMP/live") + drops)) "records and drops"
gone

# More sockets than connections.
: >"$TMP/said"
python3 "$SRC/test/fleet/crowd.py" "$TMP/t" x 4200 >"$TMP/said" &
at_end "kill $! 2>/dev/null"
wait_for 20 grep -q there "$TMP/said"
wait=1s
: >"$TMP/live" >"$TMP/live.err"
"$DTRACE" -E -x targetwait=1s -qn "web-1:$close { printf(\"%d\n\", arg0); } BEGIN { printf(\"up\n\"); }" >"$TMP/live" 2>"$TMP/live.err" &
front=$!
at_end "kill $front 2>/dev/null"
wait_for 60 grep -q up "$TMP/live"
shown() { $(load 1); grep -q 1000 "$TMP/live"; }
wait_for 60 shown
expect 4096 "$(ls -l "/proc/$front/fd" | grep -c 'socket:')" "connections"
expect 1 "$(grep -c 'there are more machines than this dtrace can have: the others are left out' "$TMP/live.err")"
kill -TERM $front
wait $front
expect 0 $?
