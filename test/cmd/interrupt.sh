# The first interrupt stops tracing: a newline, END, aggregations. A second one ends at once.
. "$SRC/test/lib.bash"
set -m # background jobs keep SIGINT
for sig in INT TERM; do
	"$DTRACE" -x engine=vm -qn 'BEGIN { printf("begin\n"); @a = count(); } END { printf("end\n"); }' >"$TMP/out" 2>"$TMP/err" &
	for _ in $(seq 100); do grep -q begin "$TMP/out" && break; sleep 0.02; done
	kill -$sig $!
	wait $!
	expect 0 $? "$sig"
	expect "begin

end

                1" "$(cat "$TMP/out")"
done
