# The process engine: probes of proc, of the target alone: its threads, the processes and programs that it starts, its end.
# needs: gcc x86-64
. "$SRC/test/lib.bash"
build life process/life.c -lpthread
cat >"$TMP/life.d" <<'D'
proc:::start, proc:::lwp-start, proc:::lwp-create, proc:::create, proc:::lwp-exit, proc:::exec-success { @[probename, execname, pid == $target] = count(); }
proc:::exec { printf("exec %s\n", args[0]); } proc:::exec-failure { printf("failure %d\n", args[0]); }
proc:::exit { printf("exit %d %s %d\n", args[0], execname, pid == $target); }
proc:::lwp-start { self->began = 1; } proc:::lwp-exit /self->began/ { @own["both ends", "", 0] = count(); }
END { printa("%s %s %d %@d\n", @); printa("%s %@d\n", @own); }
D
inside() {
	: >"$TMP/out"
	"$DTRACE" -x engine=process -x evaltime=postinit -qo "$TMP/out" "$@" >"$TMP/own" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
common='create life 1 5
exec /there/is/none
failure 2
lwp-create life 1 10'
check() { # HOW LINE...: what it prints besides
	inside -s "$TMP/life.d" -c "$TMP/life $1"
	expect "0 ready" "$status $(cat "$TMP/own")" "$err"
	# the name is that of the new program if dtrace has seen it alive
	[ "$1" != exec ] || out=$(sed -E '/^exec-success|^exit/s/ (sh|life) / NAME /' <<<"$out")
	expect "$(printf '%s\n' "$common" "${@:2}" | LC_ALL=C sort)" "$(LC_ALL=C sort <<<"$out")" "$1: $err"
}
# those that end by themselves; and all of them where the process says so
check return 'both ends 11' 'exit 1 life 1' 'lwp-exit life 1 11' 'lwp-start life 1 11' 'start life 1 1'
check kill 'both ends 10' 'exit 2 life 1' 'lwp-exit life 1 10' 'lwp-start life 1 11' 'start life 1 1'
check exec 'both ends 10' 'exec /bin/sh' 'exec-success NAME 1 1' 'exit 1 NAME 1' 'lwp-exit life 1 10' 'lwp-start life 1 11' 'start life 1 1'
common=${common/10/11}
check thread 'both ends 12' 'exit 1 life 1' 'lwp-exit life 1 12' 'lwp-start life 1 12' 'start life 1 1'

# a process that runs, and is killed: it is not ours
: >"$TMP/own"
"$TMP/life" wait "$TMP/never" >"$TMP/own" &
pid=$!
at_end 'kill -9 $pid 2>/dev/null'
wait_for 10 grep -q ready "$TMP/own"
: >"$TMP/out"
"$DTRACE" -x engine=process -qo "$TMP/out" -n 'proc:::exit { printf("exit %d %s %d\n", args[0], execname, pid == $target); } tick-20ms { printf("tick\n"); }' \
	-p $pid >/dev/null 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 20 grep -q tick "$TMP/out"
kill -9 $pid
wait $tracer
expect "0 exit 2 life 1" "$? $(grep exit "$TMP/out")" "$(cat "$TMP/err")"

# a thread takes the place of one that has ended: more than there are places for, between two looks of dtrace
n=$(scale 1000)
inside -x switchrate=10s -n 'pid$target:a.out:work:entry { @ = sum(arg0); @t[tid != pid] = count(); self->n++; } pid$target:a.out:work:return /self->n == 1/ { @n = count(); }' \
	-c "$TMP/life churn $n"
expect "0 $n" "$status $(cat "$TMP/own")" "$err"
expect "$n 1 $n $n" "$(echo $out)" "$err"
expect "" "$err"

# what is known only in the kernel
inside -n 'proc:::create { trace(args[0]->pr_pid); }' -c "$TMP/life return"
expect_match 'engine=process: the arguments of proc:::create are not available' "$err"
inside -n 'proc:::fault { trace(1); }' -c "$TMP/life return"
expect_match 'engine=process: proc:.*:fault is not a probe in one process' "$err"
inside -n 'proc:::exit { trace(1); }'
expect_match 'profile, proc and syscall probes need a process' "$err"
