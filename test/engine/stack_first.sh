# The first frame of stack() is the function with the event, and caller the one that called it: whether ours is the only program
# at that event (the kernel then calls it from there) or somebody else traces it as well (then another function is in between).
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build first engine/stack_first.c
cat >"$TMP/first.d" <<'D'
sdt:::sched_process_fork /pid == $target/ { @first["fork", stack(1)] = count(); @depth["fork", stackdepth - 1] = count(); @whole["fork", stack()] = count(); }
sdt:::sched_process_exit /progenyof($target)/ { @first["exit", stack(1)] = count(); }
sdt:::sched_switch /pid == $target/ { @first["switch", stack(1)] = count(); @second["switch", caller] = count(); }
syscall::getppid:entry, syscall::getppid:return /pid == $target/ { @first[probename, stack(1)] = count(); }
END { printa("%s %k\n", @first); printa("caller %s %a\n", @second); printa("depth %s %d\n", @depth); printa("whole %s %k\n", @whole); }
D
names() { # of what was printed: "fork kernel_clone" ..., without offsets and the suffixes of compilers
	tr -s ' \n' ' ' <"$TMP/out" | sed -E 's/ (fork|exit|switch|entry|return|caller|depth|whole) /\n\1 /g' | sed -E 's/vmlinux`//; s/\+0x[0-9a-f]+.*//; s/\.[a-z].*//' |
		sed 's/^ //; s/ $//' | grep -E '^(fork|exit|switch|entry|return) ' | sort -u
}
depths() { # of stackdepth, and of the stack that is printed: the same
	awk '/^depth/ { print "fork depth " $3 + 1 } /^whole/ { s = 1; n = 0; next } s && NF { n++ } s && !NF { if (n) print "fork depth " n; s = 0 } END { if (s && n) print "fork depth " n }' "$TMP/out" | sort -u
}
look() {
	ktrace -q -s "$TMP/first.d" -c "$TMP/first"
	expect "0 " "$status $err" "$1"
	expect "exit do_exit
fork kernel_clone
switch __schedule" "$(names | grep -vE '^(entry|return) ')" "$1"
	expect 2 "$(names | grep -cE '^(entry|return) ')" "$1: system calls"
	expect "" "$(names | grep -E '__traceiter|__bpf_trace|bpf_')" "$1: no function of the tracer"
	expect 1 "$(depths | wc -l)" "$1: $(depths)"
	names >"$TMP/names.$1"
}
look alone
"$DTRACE" -x engine=bpf -qn 'sdt:::sched_process_fork, sdt:::sched_process_exit, sdt:::sched_switch, syscall::getppid:entry, syscall::getppid:return { @ = count(); }
	BEGIN { printf("ready\n"); }' >"$TMP/other" 2>&1 &
other=$!
wait_for 60 grep -q ready "$TMP/other"
look beside
expect "$(cat "$TMP/names.alone")" "$(cat "$TMP/names.beside")" "system calls"
kill -TERM $other
wait $other
