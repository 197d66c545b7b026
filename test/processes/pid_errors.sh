# timeout: 300
# Invalid descriptions of the pid provider: each has its tag and a sentence, and nothing is left behind.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build pid processes/pid.c -pthread
"$TMP/pid" wait 1 >"$TMP/ready" &
pid=$!
wait_for 20 grep -q ready "$TMP/ready"

# refused TAG SENTENCE DESCRIPTION: with -x errtags
refused() {
	trace -x errtags -n "$3"
	expect 1 $status "$3"
	expect_match "\\[$1\\]" "$err"
	expect_match "$2" "$err"
	kill -0 $pid || expect alive dead
	wait_for 20 running $pid
}
refused D_PROC_GRAB 'No such process' 'pid4194000:a.out:main:entry'
refused D_PROC_BADPID '0 is not a process id; \$target is 0 without -c and -p' 'pid$target:a.out:main:entry'
refused D_PROC_BADPID 'pid needs a process: pid123' 'pid:a.out:main:entry'
refused D_PROC_BADPID 'not a process id' 'pid99999999999:a.out:main:entry'
refused D_PROC_LIB 'no object libcc.so.6.*libc.so.6' "pid$pid:libcc.so.6:malloc:entry"
refused D_PROC_LIB 'no object libloadedlater mapped; if it is loaded later, -Z waits for it' "pid$pid:libloadedlater::entry"
refused D_PROC_FUNC 'no function ways2 in a.out; did you mean "ways"' "pid$pid:a.out:ways2:entry"
refused D_PROC_FUNC 'table is a variable, not a function' "pid$pid:a.out:table:entry"
refused D_PROC_NAME 'neither entry, return, nor an offset' "pid$pid:a.out:add:enter"
refused D_PROC_NAME 'without 0x' "pid$pid:a.out:add:0x3"
refused D_PROC_OFF 'offset 0x1000 is outside of add' "pid$pid:a.out:add:1000"
refused D_PROC_ALIGN 'no instruction of branch begins at offset 0x1' "pid$pid:a.out:branch:1"
refused D_PROC_CREATEFAIL 'no instruction by which it returns' "pid$pid:a.out:leave:return"
refused D_PROC_OFF 'no code is mapped at 0x10' "pid$pid:a.out:-:10"
refused D_PROC_NAME 'the name is an address' "pid$pid:a.out:-:entry"
refused D_PDESC_ZERO 'does not match any probes' "pid$pid:a.out:nosuch*:entry"
refused D_PROC_LIB 'pid\* needs a module' 'pid*::malloc:entry'
refused D_PROC_LIB '/nosuch/file: No such file' 'pid*:/nosuch/file:malloc:entry'
refused D_PROC_GRAB 'no process 4194000' 'nosuch4194000:::x'
refused D_PDESC_ZERO 'has no static probes of a provider named nosuch; if a library that it loads later has them, -Z waits for it' "nosuch$pid:::x"
refused D_PROC_LIB 'any probes: [^:]*pid.c: not an ELF file' "pid*:$SRC/test/processes/pid.c:main:entry"
expect "" "$(lsof -p $pid 2>/dev/null | grep uprobe)"

# a process that ends while it is instrumented, in every phase of it: it is gone when dtrace looks for it, or it goes while traced.
# Which of both is up to the machine; neither is a crash, and none takes longer than this test may.
for i in 1 2 3 4 5 6 7 8; do
	"$TMP/pid" wait 1 >"$TMP/ready2" &
	victim=$!
	(sleep 0.0$i; kill -9 $victim) &
	run_dtrace "$DTRACE" -qn "pid$victim:::entry { @ = count(); } tick-200ms { exit(0); }"
	case $status in
	0) expect "" "$err" "tracing one that ends" ;;
	1) expect_match "pid$victim.*|process $victim|$victim" "$err" ;;
	*) expect "0 or 1" $status "$err" ;;
	esac
	wait $victim 2>/dev/null
done

# a process of another user, without permission
if setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -V >/dev/null 2>&1; then
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" -x errtags -n "pid$pid:a.out:add:entry" >"$TMP/out" 2>"$TMP/err"
	expect 1 $?
	expect_match 'D_PROC_GRAB.*(Permission|permitted)' "$(cat "$TMP/err")"
fi
kill -USR1 $pid
wait $pid
expect 0 $? "the target ends as it should"
