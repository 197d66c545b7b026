# timeout: 300
# The same frames as gdb shows, address by address: a static and stripped program, held in pause() at the end of its chain.
# needs: root bpf btf gcc gdb
. "$SRC/test/lib.bash"
build chain processes/chain.c -static -fomit-frame-pointer -lpthread -ldl 2>/dev/null
strip "$TMP/chain"
mkfifo "$TMP/go"
at_end 'kill $pid 2>/dev/null'

# The addresses of the innermost thread's frames; a signal frame has none in gdb
by_gdb() {
	gdb -nx -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' \
		-ex "thread apply $2 bt" -p "$1" 2>/dev/null | sed -n 's/^#[0-9]* *<signal handler called>.*/signal/p; s/^#[0-9]* *0x0*\([0-9a-f]*\) .*/\1/p'
}
# pause() calls ppoll where the kernel has no call of that name
case $HOSTTYPE in x86_64) pause=pause number=34 ;; *) pause=ppoll number=73 ;; esac
paused() { grep -q "^$number " "/proc/$pid/task/$1/syscall" 2>/dev/null; }

for how in plain qsort signal altstack aligned thread; do
	"$TMP/chain" $how 1 wait <"$TMP/go" &
	pid=$!
	exec 9>"$TMP/go"
	: >"$TMP/out"
	timeout 500 "$DTRACE" -qn 'BEGIN { printf("on\n"); } syscall::'$pause':entry /pid == $target/ { ustack(60); exit(0); }' -p $pid >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	wait_for 60 grep -q on "$TMP/out"
	wait_for 20 running $pid
	printf x >&9
	exec 9>&-
	wait $tracer
	tid=$pid which=1
	[ $how = thread ] && which=2 tid=$(ls /proc/$pid/task | sort -n | tail -n 1)
	wait_for 20 paused $tid
	by_gdb $pid $which >"$TMP/gdb"
	# aarch64: while a debugger holds it, the thread is before the instruction, to make the call again
	[ "$HOSTTYPE" = x86_64 ] || sed -i "1s/.*/$(printf %x $((0x$(head -n 1 "$TMP/gdb") + 4)))/" "$TMP/gdb"
	sed -n 's/.*`0x\([0-9a-f]*\)$/\1/p' "$TMP/out" >"$TMP/ours"
	# gdb gives no address for the frame that the signal handler returns to
	line=$(grep -n signal "$TMP/gdb" | cut -d: -f1)
	[ -n "$line" ] && sed -i "${line}s/.*/signal/" "$TMP/ours"
	[ "$(wc -l <"$TMP/gdb")" -ge 13 ] || skip "gdb shows nothing: $(cat "$TMP/gdb")"
	expect "$(cat "$TMP/gdb")" "$(cat "$TMP/ours")" "$how"
	kill $pid
	wait $pid 2>/dev/null
done
exit $((fails != 0))
