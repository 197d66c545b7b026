# A user who may not use BPF can use the process engine, and is told so.
# needs: gcc nobody
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
chmod 777 "$TMP"
nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -x evaltime=postinit $engine "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
engine='-x engine=process'
nobody -qn 'BEGIN { n = 1; } pid$target:a.out:work:entry { @[arg0] = count(); n++; } END { printf("%d", n); }' -c "$TMP/victim -n 100"
expect "0 calls 100 101 0 50 1 50 " "$status $(echo $out) $err"
# which is chosen by itself, where all probes are in the process
engine='-x debug'
nobody -qn 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/victim -n 100"
expect "0 calls 100 100" "$status $(echo $out)" "$err"
expect_match 'engine process, 1 clauses' "$err"
engine=
nobody -n 'syscall::write:entry { @[probefunc] = count(); }' -c "$TMP/victim -n 100"
expect "0 calls 100 write 1" "$status $(echo $out)" "$err"
expect_match 'probes of syscall, proc and profile fire in the target process only' "$err"
nobody -qn 'tick-10ms { n++; } tick-10ms /n == 3/ { trace(n); exit(0); }'
expect "0 3 " "$status $(echo $out) $err"
# in a user namespace, where capabilities do not count, the kernel refuses it first
if setpriv --reuid=nobody --regid=nogroup --clear-groups unshare -Ur true 2>/dev/null; then
	setpriv --reuid=nobody --regid=nogroup --clear-groups unshare -Ur "$DTRACE" -x evaltime=postinit \
		-qn 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/victim -n 100" >"$TMP/out" 2>"$TMP/err" </dev/null
	expect "calls 100 100" "$(echo $(cat "$TMP/out"))" "$(cat "$TMP/err")"
fi
# what it lacks needs the kernel
nobody -qn 'pid$target:a.out:work:entry { stack(); }' -c "$TMP/victim -n 100"
expect "1 " "$status $out"
expect_match 'engine=process: stack\(\) is not available; through the kernel: .*CAP_BPF' "$err"
nobody -qn 'pid$target:a.out:work:entry { @ = count(); } tick-1s { trace(curthread); }' -c "$TMP/victim -n 100"
expect 1 "$status"
expect_match 'cannot .*CAP_BPF.*; without them, -x engine=process traces functions' "$err"
nobody -x engine=bpf -qn 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/victim -n 100"
expect 1 "$status"
expect_match 'cannot .*CAP_BPF' "$err"
nobody -qn 'proc:::exit { printf("exit %d", args[0]); }' -c "$TMP/victim -n 100"
expect "0 calls 100 exit 1" "$status $(echo $out)" "$err"
