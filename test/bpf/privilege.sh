# Without privilege one line says what is missing; the two capabilities are enough.
. "$SRC/test/bpf/lib.bash"
as_nobody() { timeout 20 setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
err=$(as_nobody "$DTRACE" -qn 'syscall:::entry { @ = count(); }' 2>&1 >/dev/null)
expect 1 "$(wc -l <<<"$err")"
expect_match 'needs root, or the capabilities CAP_BPF and CAP_PERFMON' "$err"
as_nobody --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon "$DTRACE" -q \
	-n 'syscall:::entry /pid == $target/ { @ = count(); } END { exit(4); }' -c /bin/true >/dev/null 2>"$TMP/err"
expect 4 "$?" "$(cat "$TMP/err")"
