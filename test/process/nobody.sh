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
engine=
nobody -qn 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/victim -n 100"
expect 1 "$status"
expect_match 'cannot .*CAP_BPF.*; without them, -x engine=process traces functions' "$err"
