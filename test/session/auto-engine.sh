# Without -x engine: the interpreter unless the program asks for what only the kernel knows.
. "$SRC/test/lib.bash"
out=$("$DTRACE" -x engine=auto -qn 'BEGIN { printf("%d", -1000000000); exit(0); }' 2>&1)
expect -1000000000 "$out" "no kernel needed"
[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$DTRACE" -V >/dev/null 2>&1 || exit 0
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$DTRACE" -qn "$1" 2>&1; }
expect 5 "$(nobody 'BEGIN { trace(strlen("12345")); exit(0); }' | tr -d ' \n')" "an ordinary user"
expect_match 'CAP_BPF' "$(nobody 'BEGIN { trace(curthread->comm); exit(0); }')"
expect_match 'CAP_BPF' "$(nobody 'BEGIN { stack(); exit(0); }')"
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 || exit 0
expect dtrace "$("$DTRACE" -qn 'BEGIN { printf("%s", curthread->comm); exit(0); }' 2>&1)" curthread
