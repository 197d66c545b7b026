# The reader of the output exits, or is slow.
. "$SRC/test/lib.bash"
set -m # background jobs keep SIGINT
cd "$TMP" || exit 1
mkfifo fifo
prog='BEGIN { printf("%60000d%60000d%60000d\n", 1, 2, 3); } END { printf("the end\n"); }' # more than a pipe holds
# gone: the process ends without a message
{ "$DTRACE" -x engine=vm -qn "$prog" 2>err; echo $? >st; } | true
expect "141 " "$(cat st) $(cat err)"
{ "$DTRACE" -x engine=vm -l 2>err; echo $? >st; } | head -n 1 >/dev/null
expect_match '^(141|0) $' "$(cat st) $(cat err)"
# the command of -c also ends
{ "$DTRACE" -x engine=vm -q -c "sh -c 'echo \$\$ >pid; exec sleep 100'" -n "$prog" 2>err; echo $? >st; } | { until [ -s pid ]; do sleep 0.02; done; }
expect "141 " "$(cat st) $(cat err)"
kill -0 "$(cat pid)" 2>/dev/null && { echo "the command still runs"; fails=1; kill "$(cat pid)"; }
waiting() { # until it sleeps in a write to the pipe
	wait_for 20 grep -qsE 'pipe_write|^1 0x1 ' "/proc/$1/wchan" "/proc/$1/syscall"
}
# slow: one interrupt, and everything still arrives
exec 8<>fifo # so that the pipe has a reader that does not read
"$DTRACE" -x engine=vm -qn "$prog" >fifo 2>err 8<&- &
p=$!
waiting $p
kill -INT $p
sleep 0.1
cat <&8 >got &
reader=$!
wait $p
expect 0 $? "one interrupt"
wait_for 20 grep -q end got
kill $reader
wait $reader 2>/dev/null
expect "the end" "$(grep -a end got)$(cat err)" "slow reader"
expect 180001 "$(head -n 1 got | wc -c)"
# two interrupts: it leaves
"$DTRACE" -x engine=vm -qn "$prog" >fifo 2>err 8<&- &
p=$!
waiting $p
interrupt INT $p
wait $p
expect "0 " "$? $(cat err)" "two interrupts"
