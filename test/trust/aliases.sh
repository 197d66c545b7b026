# timeout: 200
# needs: root nobody bpf gcc
# 400,000 names of one function, each the tail of a long one: they are not worth reading, which is said in one line, and takes neither
# time nor memory that grows with the square of anything. And two interrupts end it whatever it does.
. ./lib.bash
make_file aliases aliases.so
start run "$THEIRS/aliases.so"
trace -qn 'syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-1s { exit(0); }' "$pid"
cheap aliases
expect_match 'aliases.so`0x' "$out"
expect_match 'aliases.so: not read: names of symbols that share their bytes' "$err"

for signal in HUP TERM; do # a shell has its background jobs ignore INT
	: >"$TMP/out" # discard earlier output
	"$DTRACE" -qn 'syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-10ms { printa(@); }' "$pid" >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	pids+=("$tracer")
	wait_for 20 test -s "$TMP/out"
	interrupt $signal $tracer
	wait $tracer
done
end_all
