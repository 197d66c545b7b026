# What the tests of hostile processes share. They need root nobody bpf gcc. Source it: . ./lib.bash
. "$SRC/test/lib.bash"
chmod 755 "$TMP"
THEIRS=$TMP/theirs # what the other user may write
mkdir -m 777 "$THEIRS"
gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wall -Wextra -o "$TMP/hostile" "$SRC/test/trust/files/hostile.c" || exit 1

# Where the call in the code of files returns to
case $HOSTTYPE in x86_64) BACK=0x6 ;; *) BACK=0xc ;; esac

# Sanitizers need memory of their own.
LIMIT=400
case $BUILD in *san*) LIMIT=2500 ;; esac

theirs() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
# make KIND NAME [TEXT]: a file of theirs
make_file() { theirs "$TMP/hostile" make "$1" "$THEIRS/$2" "${@:3}" || { echo "cannot make $2"; exit 1; }; }

pids=()
end_all() {
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=()
}
at_end end_all
# start ARGS: a hostile process of the other user, in $pid
start() {
	: >"$TMP/start" # discard earlier output
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$TMP/hostile" "$@" >"$TMP/start" 2>&1 &
	pid=$!
	pids+=("$pid")
	wait_for 20 grep -qs ready "$TMP/start" || { echo "$* does not start: $(cat "$TMP/start")"; exit 1; }
}
# trace ARGS: dtrace, watched. Output in $out, messages in $err, status in $status, the most memory in $peak (MB)
trace() {
	timeout -k 5 $((50 * ${SLOW:-1})) "$TMP/hostile" peak "$TMP/peak" "$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out") err=$(cat "$TMP/err") peak=$(cat "$TMP/peak")
}
# cheap WHAT: it ended well, and took no more memory than a session does
cheap() {
	expect 0 "$status" "$1: status ($err)"
	[ "$peak" -le $LIMIT ] || { echo "$1: $peak MB"; count_failure; }
}
