# The first interrupt stops tracing: a newline, END, aggregations. A second one ends at once.
. "$SRC/test/lib.bash"
set -m # background jobs keep SIGINT
for sig in INT TERM; do
	: >"$TMP/out" # what the last one wrote must not be seen
	"$DTRACE" -x engine=vm -qn 'BEGIN { printf("begin\n"); @a = count(); } END { printf("end\n"); }' >"$TMP/out" 2>"$TMP/err" &
	wait_for 20 grep -q begin "$TMP/out"
	kill -$sig $!
	wait $!
	expect 0 $? "$sig"
	expect "begin

end

                1" "$(cat "$TMP/out")"
done
# timeout(1) sends the signal twice, to the process and to its group: that is one interrupt
for sig in INT TERM; do
	: >"$TMP/out"
	"$DTRACE" -x engine=vm -qn 'BEGIN { printf("begin\n"); @a = count(); } END { printf("end\n"); }' >"$TMP/out" 2>"$TMP/err" </dev/null &
	wait_for 20 grep -q begin "$TMP/out"
	kill -$sig -- $! -$!
	wait $!
	expect "0begin

end

                1" "$?$(cat "$TMP/out")" "timeout -s $sig"
done
