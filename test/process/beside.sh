# A probe of the kernel in code that -x engine=process has changed would end the process: the kernel executes what the file has, and goes
# on in the middle of our jump. So there is none. Elsewhere in the process, and when tracing in it has ended, there are.
# needs: root bpf gcc python3
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
own_libraries "$TMP/victim"
LD_LIBRARY_PATH="$TMP/lib" "$TMP/victim" -t 3 -w "$TMP/stop" >"$TMP/victim.out" &
pid=$!
at_end 'kill $pid $tracer 2>/dev/null'
started() { [ "$(ls /proc/$pid/task | wc -l)" = 3 ]; }
wait_for 5 started
: >"$TMP/inside"
"$DTRACE" -x engine=process -qn 'pid$target:a.out:work:entry { @ = count(); } pid$target:libc.so.6:*alloc*:entry { @a = count(); }' \
	-p $pid >"$TMP/inside" 2>&1 </dev/null &
tracer=$!
patched() { python3 "$SRC/test/process/text.py" $pid | grep -q 'in the file'; }
wait_for 20 patched

# Prints the result of a program, and "lives" if the process does.
try() {
	"$DTRACE" -x engine=bpf "$@" -p $pid >"$TMP/out" 2>"$TMP/err" </dev/null
	echo "$? $(xargs <"$TMP/out") $(kill -0 $pid && echo lives)"
}
changed='its code in memory is not that of its file$'
expect "1  lives" "$(try -qn 'pid$target:a.out:work:entry { exit(0); }')"
expect_match "^dtrace: could not enable tracing: cannot enable pid$pid:victim:work:entry: $changed" "$(cat "$TMP/err")"
expect "1  lives" "$(try -qn 'pid$target:libc.so.6:malloc:entry { exit(0); }')"
expect_match "malloc:entry: $changed" "$(cat "$TMP/err")"
# others of the program are traced
expect_match "^0 .* 0 lives" "$(try -n 'pid$target:a.out:work:entry,pid$target:a.out:main:entry { n++; } tick-300ms { trace(n); exit(0); }')"
expect_match "^dtrace: cannot enable pid$pid:victim:work:entry: $changed" "$(cat "$TMP/err")"
expect "0 work lives" "$(try -qn 'pid$target:a.out:work:return { printf("%s\n", probefunc); exit(0); }')" "$(cat "$TMP/err")"

# another tracer's breakpoints are no such change
kill $tracer
wait $tracer
: >"$TMP/inside"
"$DTRACE" -x engine=bpf -qn 'BEGIN { printf("ready\n"); } pid$target:a.out:work: { @ = count(); }' -p $pid >"$TMP/inside" 2>"$TMP/err2" </dev/null &
tracer=$!
wait_for 20 grep -q ready "$TMP/inside"
expect "0 work lives" "$(try -qn 'pid$target:a.out:work:entry { printf("%s\n", probefunc); exit(0); }')" "$(cat "$TMP/err")"
expect "" "$(cat "$TMP/err")"
kill $tracer
wait $tracer
touch "$TMP/stop"
wait $pid
expect 0 $? "the process"
