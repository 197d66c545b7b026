# A user who may not use BPF gets the process engine without asking, if all probes are in target processes.
# needs: gcc nobody
. "$SRC/test/lib.bash"
build victim process/victim.c -lpthread
chmod 777 "$TMP"
nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -x evaltime=postinit "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
nobody -qn 'BEGIN { n = 1; } pid$target:a.out:work:entry { @[arg0] = count(); n++; } END { printf("%d", n); }' -c "$TMP/victim -n 100"
expect "0 calls 100 101 0 50 1 50 " "$status $(echo $out) $err"
# what is not there is said, and what would help
nobody -qn 'pid$target:a.out:work:entry { @[ustack()] = count(); }' -c "$TMP/victim -n 100"
expect 1 "$status"
expect_match 'ustack\(\) is not available; to use the kernel instead, this needs .*CAP_BPF' "$err"
# other probes need the kernel
nobody -qn 'pid$target:a.out:work:entry, syscall::read:entry { @ = count(); }' -c "$TMP/victim -n 100"
expect 1 "$status"
expect_match 'cannot .*CAP_BPF.*; without them you can trace functions' "$err"
# who may, gets the kernel
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 || exit 0
"$DTRACE" -x debug=engine -x evaltime=postinit -qn 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/victim -n 10" >"$TMP/out" 2>&1
expect "" "$(grep 'engine process' "$TMP/out")"
