# timeout: 60
# Option follow: the end of a process may be missed (there are kernels that do not always run programs). A later process with its
# number does not belong to the family.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ] || skip "not the first pid namespace"
build stale processes/stale.c
mkfifo "$TMP/go"
"$DTRACE" -q -x follow -c "$TMP/stale root" -n 'pid$target:a.out:work:entry { @ = count(); } END { printa("%@d\n", @); }' \
	<"$TMP/go" >"$TMP/out" 2>"$TMP/err" &
tracer=$!
exec 7>"$TMP/go"
wait_for 30 grep -q ready "$TMP/out"
root=$(pgrep -P $tracer -x stale)
"$TMP/stale" child "$root" $(sed -n 's/^map_id:[[:space:]]*//p' /proc/"$tracer"/fdinfo/*) || count_failure
exec 7>&-
wait $tracer
expect 0 $? "$(cat "$TMP/err")"
expect "ready 1" "$(xargs <"$TMP/out")"
