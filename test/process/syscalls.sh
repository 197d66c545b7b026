# The process engine: system calls of the target, at the entry and at the return.
# needs: gcc x86-64
. "$SRC/test/lib.bash"
build caller process/caller.c -lpthread
inside() { # the program's own output is in $TMP/own
	: >"$TMP/out"
	"$DTRACE" -x engine=process -x evaltime=postinit -o "$TMP/out" "$@" >"$TMP/own" 2>"$TMP/err" </dev/null
	status=$? out=$(cat "$TMP/out") err=$(cat "$TMP/err")
}
touch "$TMP/go"
inside -q -c "$TMP/caller $TMP/go" -n 'syscall::getppid:entry,syscall::getppid:return,syscall::getpgrp:,syscall::open*:return { @[probefunc, probename, errno] = count(); }
	syscall::write:entry /arg2 == 7/ { @w = sum(arg2); } syscall::read:return /arg1 == 7/ { @r = sum(arg0); }
	syscall::openat:entry { self->path = arg1; } syscall::openat:return { @p[copyinstr(self->path), (int)arg1] = count(); }
	syscall::getppid:entry { @t[tid] = count(); self->t = timestamp; } syscall::getppid:return /self->t && timestamp >= self->t/ { @later = count(); }
	END { printa("%s %s %d %@d\n", @); printa("written %@d\n", @w); printa("read %@d\n", @r); printa("%s %d %@d\n", @p); printa("thread %@d\n", @t); printa("later %@d\n", @later); }'
expect "0 ready wrong 0" "$status $(echo $(cat "$TMP/own"))" "$err"
expect "/there/is/none -2 15
getpgrp entry 0 150
getpgrp return 0 150
getppid entry 0 3000
getppid return 0 3000
later 3000
openat return 2 15
read 210
thread 1000
thread 1000
thread 1000
written 210" "$(LC_ALL=C sort <<<"$out" | grep .)" "$err"

# a process that runs: the call that a thread is in is not counted, and returns as it should; stacks
rm -f "$TMP/go"
"$TMP/caller" "$TMP/go" >"$TMP/theirs" &
pid=$!
at_end 'kill $pid 2>/dev/null'
wait_for 10 grep -q ready "$TMP/theirs"
: >"$TMP/out"
"$DTRACE" -x engine=process -o "$TMP/out" -q -p $pid -n 'syscall:::entry,syscall:::return { @[probefunc, probename] = count(); } syscall::getpgrp:entry { @s[ustack(2)] = count(); }
	tick-10ms { printf("tick\n"); } END { printa("%s %s %@d\n", @); printa(@s); }' >"$TMP/own" 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 50 grep -q tick "$TMP/out"
touch "$TMP/go"
wait $pid
expect "0 wrong 0" "$? $(tail -1 "$TMP/theirs")"
wait $tracer
expect "getppid entry 3000 getppid return 3000 read entry 30 read return 30 write entry 32 write return 32" \
	"$(grep '^getppid\|^read\|^write' "$TMP/out" | LC_ALL=C sort | paste -sd' ')" "$(cat "$TMP/err")"
expect 'libc.so.6`syscall caller`thread 150' "$(grep -A2 'syscall+' "$TMP/out" | sed 's/+0x.*//' | paste -sd' ' | tr -s ' ' | sed 's/^ //')"

# programs that start others, and are interrupted: their output is the same. What cannot be traced is said
try() { # COMMAND...
	want=$(bash -c "$1" 2>&1)
	inside -c "$1" -n 'syscall:::entry,syscall:::return { @[probefunc] = count(); } END { printf("calls\n"); }'
	expect "$want" "$(cat "$TMP/own")" "$err"
	expect_match calls "$out"
}
cat >"$TMP/script" <<'EOT'
trap 'echo signal' USR1
for i in 1 2 3; do echo $i | cat | tr 1 one; done
kill -USR1 $$
sleep 0.01 & wait $!
echo $(exec echo end)
EOT
try "bash $TMP/script"
expect_match 'makes system calls at [0-9]+ places' "$err"

# what it needs
inside -n 'syscall::write:entry { trace(1); }'
expect_match 'syscall probes need a process' "$err"
