# The process engine: tick and profile.
# needs: gcc
# timeout: 60
. "$SRC/test/lib.bash"
build spinner process/spinner.c -O0 -lpthread
build victim process/victim.c -lpthread
inside() { # the program's own output is in $TMP/own
	rm -f "$TMP/stop"
	"$DTRACE" -x engine=process -x evaltime=postinit -o "$TMP/out" "$@" >"$TMP/own" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
	rm -f "$TMP/out"
}

# tick alone, on the variables that BEGIN, END and probes have
inside -qn 'BEGIN { n = 100; } tick-5ms /++n == 110/ { trace(n); exit(4); } END { trace("end"); }'
expect "4 110end" "$status $out" "$err"
inside -q -c "$TMP/spinner $TMP/stop" -n 'int n; pid$target:a.out:outer:entry { n++; last["call"] = n; }
	tick-20ms /n >= 5 && last["call"] >= 5/ { printf("%s %s", probeprov, probename); exit(0); }'
expect "0 profile tick-20ms" "$status $out" "$err"
# the command does not end by itself: it was killed with its tracing; and records of tick and of threads are in order of time
inside -q -c "$TMP/spinner $TMP/stop" -n 'pid$target:a.out:outer:entry { printf("%d call\n", timestamp); } tick-7ms { printf("%d tick\n", timestamp); }
	tick-7ms /++n == 30/ { exit(0); }'
expect 30 "$(grep -c tick <<<"$out")" "$err"
grep -q call <<<"$out" || { echo "no calls: $err"; count_failure; }
expect "" "$(sort -snc <<<"$out" 2>&1)"
# a fault in it
inside -qn 'tick-5ms { trace(*(int *)0); } tick-5ms { exit(1); } ERROR { trace("error"); }'
expect "error" "$out" "$err"

# profile: threads that run, with their registers and variables; the program is not affected
"$TMP/spinner" "$TMP/stop" >"$TMP/own2" &
pid=$!
at_end 'kill $pid 2>/dev/null'
wait_for 10 eval '[ "$(ls /proc/$pid/task | wc -l)" = 4 ]'
inside -q -p $pid -n '
	pid$target:a.out:outer:entry { self->in = 1; } pid$target:a.out:outer:return { self->in = 0; }
	profile-499 /self->in/ { n++; @f[ufunc(arg1)] = count(); @t[tid] = count(); @r[arg0, arg1 == uregs[R_RIP]] = count(); }
	profile-499 { @p[pid == $target, probename] = count(); }
	profile-499 /n >= 100/ { exit(0); }
	END { printa("thread %d %@d\n", @t); printa("registers %d %d %@d\n", @r); printa("%d %s\n", @p); printa("%A\n", @f); }'
expect 0 "$status" "$err"
expect 2 "$(grep -c ^thread <<<"$out")" "$out"
expect_match '^registers 0 1 1' "$out"
expect 1 "$(grep -c ^registers <<<"$out")"
expect "1 profile-499" "$(grep profile <<<"$out")"
expect_match '^spinner`inner$' "$(grep -o 'spinner`.*' <<<"$out")"
touch "$TMP/stop"
wait $pid
expect_match '^wrong 0 ' "$(cat "$TMP/own2")"
# faster, without anything else in the process: none of its system calls is interrupted
rm -f "$TMP/stop"
: >"$TMP/out"
"$DTRACE" -x engine=process -x evaltime=postinit -o "$TMP/out" -q -c "$TMP/spinner $TMP/stop" -n 'int n; profile-1999 { n++; } tick-20ms /n >= 500/ { printf("enough\n"); }' \
	>"$TMP/own" 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 100 grep -q enough "$TMP/out"
touch "$TMP/stop"
wait $tracer
expect "0 wrong 0 interrupted 0" "$? $(cat "$TMP/own")" "$(cat "$TMP/err")"

# what it needs
inside -n 'profile-97 { trace(1); }'
expect_match 'profile, proc and syscall probes need a process' "$err"
inside -n 'tick-10ms { speculate(1); }'
expect_match 'speculations are not available in clauses of tick' "$err"
