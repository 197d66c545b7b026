# A program that is started with -c stops when its libraries are there, although others have probes at that place: one tracer has probes
# in every process, and a second one in a process of which it watches the dynamic linker.
# needs: root bpf gcc
# timeout: 120
. "$SRC/test/lib.bash"
build pid processes/pid.c -pthread
"$TMP/pid" wait 1 >"$TMP/ready" &
pid=$!
at_end "kill $pid 2>/dev/null"
wait_for 20 grep -q ready "$TMP/ready"
trace_on() { # NAME ARGS: in the background, until it traces
	local name=$1
	shift
	"$DTRACE" -qn 'BEGIN { printf("on\n"); }' "$@" >"$TMP/$name.out" 2>"$TMP/$name.err" </dev/null &
	at_end "kill -TERM $! 2>/dev/null"
	wait_for 60 grep -q on "$TMP/$name.out"
}
trace_on every -n 'pid*:libc.so.6:getgrouplist:entry { @ = count(); }'
trace_on one -n 'pid$target:libc.so.6:getgrouplist:entry { @ = count(); }' -p $pid
for when in preinit main postinit; do
	ktrace -x evaltime=$when -qn 'pid$target:a.out:typed:entry { @ = count(); }' -c "$TMP/pid calls 7"
	expect "0 7 " "$status $(xargs <"$TMP/out") $err" "$when"
done
