# The process engine refuses what it would harm, or cannot trace, and says why; the process goes on.
# needs: gcc python3
# uses: root
# timeout: 120
. "$SRC/test/lib.bash"
build refused process/refused.c -lpthread
build fake.so process/fake.c -shared -fPIC -ldl
at_end 'kill $pid 2>/dev/null'
begin() { # KIND COMMAND...: a target
	rm -f "$TMP/stop"
	: >"$TMP/own"
	"${@:2}" "$TMP/refused" "$1" "$TMP/stop" >"$TMP/own" &
	pid=$!
	wait_for 10 grep -q ready "$TMP/own"
}
end() { # WANT WHAT: its last line
	expect "" "$(python3 "$SRC/test/process/text.py" $pid)" "$2"
	touch "$TMP/stop"
	wait $pid
	expect "0 $1" "$? $(tail -1 "$TMP/own")" "$2"
}
inside() { # NAME=VALUE... ARGS of dtrace
	local vars=()
	while [[ $1 == [A-Z]*=* ]]; do vars+=("$1"); shift; done
	env "${vars[@]}" timeout 60 "$DTRACE" -x engine=process "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$? err=$(cat "$TMP/err")
}
refuses() { # PATTERN ARGS
	inside "${@:2}"
	expect "1 " "$status $(cat "$TMP/out")" "$1"
	expect_match "$1" "$err"
}
program='pid$target:a.out:work:entry { @ = count(); } tick-5hz { exit(0); }'

begin plain
echo 2 >"$TMP/two"
if ! sanitized; then # whose library must be loaded first
	refuses 'pid [0-9]+: it has a shadow stack' LD_PRELOAD="$TMP/fake.so" FAKE_SHADOW=1 -qn "$program" -p $pid
	refuses 'vm.overcommit_memory is 2' LD_PRELOAD="$TMP/fake.so" FAKE_OVERCOMMIT="$TMP/two" -qn "$program" -p $pid
fi
refuses 'option follow is not available' -x follow -qn "$program" -p $pid
refuses 'stack\(\) is not available' -qn 'pid$target:a.out:work:entry { stack(); }' -p $pid
refuses 'variable curthread is not available' -qn 'pid$target:a.out:work:entry { trace(curthread); }' -p $pid
first=$pid
"$TMP/refused" plain "$TMP/stop" >"$TMP/own2" &
second=$!
at_end 'kill $second 2>/dev/null'
wait_for 10 grep -q ready "$TMP/own2"
refuses 'probes in several processes are not available' -qn "pid$first:a.out:work:entry,pid$second:a.out:work:entry { @ = count(); }" -p $first -p $second
refuses 'need a process, by -c or -p, and only one' -qn 'syscall::read:entry { @ = count(); }' -p $first -p $second
# two dtraces at once trace different functions; where the other one is, a probe is refused
"$DTRACE" -x engine=process -qn 'pid$target:libc.so.6:usleep:entry { @ = count(); }' -p $pid >"$TMP/other" 2>&1 </dev/null &
other=$!
entered() { [ -n "$(python3 "$SRC/test/process/text.py" $pid | grep 'in the file')" ]; }
wait_for 10 entered
inside -qn "$program" -p $pid
expect 1 "$(($(tail -1 "$TMP/out") > 0))" "$err"
inside -n 'pid$target:libc.so.6:usleep:entry { @ = count(); } tick-5hz { exit(0); }' -p $pid
expect_match 'usleep:entry: its code in memory is not that of its file' "$err"
kill -TERM $other
wait $other
expect 1 "$(($(tail -1 "$TMP/other") > 0))" "$(cat "$TMP/other")"
# a restartable sequence
inside -n 'pid$target:a.out:restarts:entry { @ = count(); } tick-5hz { exit(0); }' -p $pid
expect_match 'restarts:entry: it has a restartable sequence' "$err"
end "wrong 0" "plain"
wait $second

begin seccomp
refuses 'its system calls are restricted \(seccomp\)' -qn "$program" -p $pid
end ready "seccomp"

begin plain bash -c 'ulimit -v 1000000; exec "$@"' -
refuses 'its address space is limited' -qn "$program" -p $pid
end "wrong 0" "ulimit"

"$TMP/refused" lock "$TMP/two" >/dev/null
if [ $? != 77 ]; then
	begin lock
	refuses 'it locks all memory that it maps' -qn "$program" -p $pid
	end "wrong 0" "mlockall"
fi

# 32 bits; Go, by its mark
if gcc -m32 -nostdlib -static -o "$TMP/narrow" -x c - 2>/dev/null <<<'void work(void) { __asm__ volatile("nop\n nop\n nop\n nop\n nop"); } void _start(void) { for (;;) { work(); __asm__ volatile("int $0x80" :: "a"(158)); } }'; then
	"$TMP/narrow" &
	pid=$!
	refuses 'it is a 32-bit program' -qn "$program" -p $pid
	kill -0 $pid || { echo "it has ended"; count_failure; }
	kill $pid
	wait $pid 2>/dev/null
fi
gcc -O1 -o "$TMP/go" -x c - <<<'__asm__(".section .note.go.buildid,\"a\"\n.long 1\n.text\n"); __attribute__((noipa)) int work(int n) { return n + 1; } int main(void) { return work(1) != 2; }'
inside -x evaltime=postinit -n 'pid$target:a.out:work:entry { @ = count(); }' -c "$TMP/go"
expect_match 'program of Go' "$err"
if [ "$(id -u)" = 0 ] && unshare -fp true 2>/dev/null; then
	begin plain unshare -fp --kill-child
	read -r child _ <"/proc/$pid/task/$pid/children"
	refuses 'it is in another pid namespace' -qn "$program" -p $child
	end "wrong 0" "pid namespace"
fi

# a uprobe of all processes that comes and goes on a jump; nobody calls the function
if [ "$(id -u)" = 0 ] && "$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1; then
	begin plain
	function='pid$target:libc.so.6:gethostid:entry { @ = count(); }'
	"$DTRACE" -x engine=process -qn "$function" -p $pid >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	wait_for 10 entered
	was=$(python3 "$SRC/test/process/text.py" $pid)
	: >"$TMP/out2" # discard earlier output
	"$DTRACE" -x engine=bpf -qn "BEGIN { printf(\"on\n\"); } ${function/\$target/*}" >"$TMP/out2" 2>"$TMP/err2" </dev/null &
	other=$!
	wait_for 20 grep -q on "$TMP/out2"
	expect 1 "$([ "$was" != "$(python3 "$SRC/test/process/text.py" $pid)" ] && echo 1)" "a breakpoint on the jump"
	kill $other
	wait $other
	expect "0 " "$? $(cat "$TMP/err2")"
	kill -TERM $tracer
	wait $tracer
	expect "0 " "$? $(cat "$TMP/err")" "uprobe"
	end "wrong 0" "uprobe"
fi

# code that is moved, or changed, while it is traced, is as it should be afterwards
for kind in copy change; do
	begin $kind
	"$DTRACE" -x engine=process -qn 'pid$target:a.out:work:entry { @ = count(); }' -p $pid >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	wait_for 10 entered
	kill -USR1 $pid
	wait_for 10 grep -q changed "$TMP/own"
	kill -TERM $tracer
	wait $tracer
	expect "0 " "$? $(cat "$TMP/err")" "$kind"
	# what it has made of its code is not of us
	expect "" "$(python3 "$SRC/test/process/text.py" $pid | grep -v "refused at 3005: 09, in the file 07\|rwxp 00000000 00:00 0 *$")" "$kind"
	touch "$TMP/stop"
	wait $pid
	expect "0 wrong 0" "$? $(tail -1 "$TMP/own")" "$kind"
done
