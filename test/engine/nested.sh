# Events that interrupt each other are all counted: the kernel does not run a program that is already running
# on this CPU, so tracepoints of timers, of which one kind interrupts the other, need separate programs.
# timeout: 100
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build threads engine/threads.c -lpthread
rounds=$(scale 400)

# Taking the stack makes a firing last; the clock makes interrupts.
ktrace -q -c "$TMP/threads $rounds 60" -n '
	sdt:::timer_expire_entry, sdt:::timer_expire_exit, sdt:::hrtimer_expire_entry, sdt:::hrtimer_expire_exit { @[probename, stack()] = count(); }
	profile-4999 { @[probename, stack()] = count(); }
	tick-3s { exit(0); } END { trunc(@); }'
expect 0 "$status" "$err"
expect "" "$err" "messages"
