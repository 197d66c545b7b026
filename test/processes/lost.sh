# timeout: 180
# Process events that were lost, or that the kernel refuses: living processes are read again; there is a message if a process
# that has ended is concerned.
# needs: root bpf fast gcc pgrep taskset
. "$SRC/test/lib.bash"
build addresses processes/addresses.c
echo 'int library_function(int n) { return n + 2; }' | gcc -O2 -shared -fPIC -o "$TMP/liblater.so" -xc - || exit 1
mkfifo "$TMP/in" "$TMP/hold"

# Small rings, as for who may not lock much memory; others of this user may have locked all that is free.
small=(setpriv --bounding-set=-ipc_lock prlimit --memlock=614400)

# The library is opened after the rings have filled up with forks: the event is lost.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
: >"$TMP/said" # discard earlier output
taskset -c "$cpu" "$TMP/addresses" wait 0 fork 20000 open "$TMP/liblater.so" libc say done wait 3 <"$TMP/in" 3<"$TMP/hold" >"$TMP/said" &
pid=$!
exec 7>"$TMP/in" 8>"$TMP/hold"
: >"$TMP/out" # discard earlier output
timeout 500 "${small[@]}" "$DTRACE" -q -n 'BEGIN { printf("ready\n"); } syscall::getppid:entry /pid == $1/ { usym(arg0); printf("\n"); n++; }
	syscall::getppid:entry /pid == $1 && n == 2/ { exit(0); }' $pid >"$TMP/out" 2>"$TMP/err" 7>&- 8>&- &
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
real=$(pgrep -P $tracer) # timeout's child
kill -STOP "$real"
exec 7>&-
wait_for 100 grep -q done "$TMP/said"
kill -CONT "$real"
wait $tracer
expect "" "$(cat "$TMP/err")" "no name is missing"
expect 'ready liblater.so`library_function libc.so.6`l64a' "$(xargs <"$TMP/out")" "read again"
exec 8>&-
wait $pid

# Children that begin and end while the tracer is stopped
: >"$TMP/said" # discard earlier output
taskset -c "$cpu" "$TMP/addresses" wait 0 fork 20000 say done wait 3 <"$TMP/in" 3<"$TMP/hold" >"$TMP/said" &
pid=$!
exec 7>"$TMP/in" 8>"$TMP/hold"
: >"$TMP/out" # discard earlier output
timeout 500 "${small[@]}" "$DTRACE" -q -x bufsize=4m -n 'BEGIN { printf("ready\n"); } syscall::getppid:entry /ppid == $1/ { usym(arg0); printf("\n"); n++; }
	syscall::getppid:entry /ppid == $1 && n == 20000/ { exit(0); }' $pid >"$TMP/out" 2>"$TMP/err" 7>&- 8>&- &
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
real=$(pgrep -P $tracer)
kill -STOP "$real"
exec 7>&-
wait_for 100 grep -q done "$TMP/said"
kill -CONT "$real"
wait $tracer
expect_match '^dtrace: [0-9]+ process events lost: addresses of processes that have ended may stay without names$' "$(cat "$TMP/err")"
expect 20000 "$(grep -cE '^  *(addresses`global_function|0x[0-9a-f]+) *$' "$TMP/out")" "addresses with and without names"
expect_match '^[1-9]' "$(grep -c 0x "$TMP/out")" "addresses without names"
exec 8>&-
wait $pid

# A target that has ended while the tracer is stopped, and is a zombie: it has no mappings that could be read again
: >"$TMP/said" # discard earlier output
: >"$TMP/out"
mkfifo "$TMP/go"
taskset -c "$cpu" timeout 500 "${small[@]}" "$DTRACE" -q -n 'syscall::getppid:entry /pid == $target/ { usym(arg0); printf("\n"); }' \
	-c "$TMP/addresses say up wait 0 fork 20000 open $TMP/liblater.so say done" <"$TMP/go" >"$TMP/said" 2>"$TMP/err" &
tracer=$!
exec 7>"$TMP/go"
wait_for 20 grep -q up "$TMP/said"
real=$(pgrep -P $tracer)
target=$(pgrep -P "$real" addresses)
kill -STOP "$real"
exec 7>&-
zombie() { [ "$(field "$target" State)" = Z ]; }
wait_for 100 zombie
kill -CONT "$real"
wait $tracer
expect_match '^dtrace: [0-9]+ process events lost: addresses of processes that have ended may stay without names$' "$(cat "$TMP/err")"
expect_match '^ *0x[0-9a-f]+ *$' "$(cat "$TMP/said")"

# No events at all, since perf_event_open() fails
if ! sanitized; then # its own functions come first there
	gcc -shared -fPIC -o "$TMP/fail.so" "$SRC/test/torture/fail.c" -ldl || exit 1
	without() {
		timeout 500 env FAIL_WHAT=perf FAIL_AT=1 FAIL_ON=1 LD_PRELOAD="$TMP/fail.so" "$DTRACE" -x engine=bpf -q "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	}
	without -n 'syscall::getppid:entry /ppid == $target/ { @[usym(arg0)] = count(); }' -c "$TMP/addresses fork 3"
	expect "dtrace: perf events: Too many open files: addresses of processes that have ended may stay without names" "$(cat "$TMP/err")" "events that are refused"
	expect 3 "$(grep -cE '^  *0x[0-9a-f]+ +1$' "$TMP/out")" "addresses without names"
	without -n 'syscall::getppid:entry /pid == $target/ { usym(arg0); stop(); exit(0); }' -w -c "$TMP/addresses libc"
	expect "libc.so.6\`l64a" "$(xargs <"$TMP/out")" "a living process is known from /proc"
	expect "" "$(grep 'without names' "$TMP/err")"
fi
