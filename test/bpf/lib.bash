# What the tests of the kernel engine share: skip without it, and a workload with known counts.
. "$SRC/test/lib.bash"
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>"$TMP/probe" || { echo "no BPF here: $(cat "$TMP/probe")"; exit 77; }
command -v gcc >/dev/null || { echo "needs gcc"; exit 77; }
gcc -O2 -o "$TMP/work" "$SRC/test/bpf/work.c" -lpthread || exit 1
work=$TMP/work
# k ARGS: dtrace in the kernel; output in $out, messages in $err, status in $status.
k() {
	timeout -k 5 40 "$DTRACE" -x engine=bpf "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
# sanitized: the build of make test-san, which cannot live everywhere.
sanitized() { ldd "$DTRACE" | grep -q libasan; }
# The n-th number of the output.
numbers() { tr -cs '0-9\n' ' ' <"$TMP/out" | grep '[0-9]' | sed 's/^ *//; s/ *$//'; }
