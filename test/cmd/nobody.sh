# Without privilege: all that needs no kernel works, and the rest says what it needs.
# needs: nobody
. "$SRC/test/lib.bash"
chmod 777 "$TMP"
cd "$TMP" || exit 1
nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
nobody -V
expect "0 dtrace: Sun D 1.14" "$status $out"
nobody -e -n 'syscall::read:entry { @[execname] = count(); }'
expect "0  " "$status $out $err"
nobody -e -S -n 'BEGIN { trace(pid); }'
expect_match '^DIFO 0x' "$err"
nobody -l -n 'syscall::read:'
expect_match ' read entry$' "$out"
nobody -l
expect "0 " "$status $err"
echo 'provider p { probe q(int); };' >p.d
nobody -h -s p.d
expect "0 " "$status $err"
expect_match 'P_Q_ENABLED' "$(cat p.h)"
nobody -G -s p.d
expect 0 "$status"
nobody -x engine=vm -qn 'BEGIN { printf("%d %d %s\n", uid, ENOENT, execname); exit(3); }'
expect "3 $(id -u nobody) 2 dtrace" "$status $out"
# BEGIN and END need no kernel, so no engine option is needed
nobody -qn 'BEGIN { printf("hello\n"); exit(0); }'
expect "0 hello " "$status $out $err"
nobody -x engine=vm -qw -c 'id -u' -n 'BEGIN { }'
expect "$(id -u nobody)" "$out"
# what needs the kernel
nobody -qn 'syscall::read:entry { exit(0); }'
expect "1 " "$status $out"
expect_match '^dtrace: could not enable tracing: .*(root|CAP_BPF).*; without them, -x engine=process traces functions' "$err"
