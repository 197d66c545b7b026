# The sched provider: the time from enqueue to dequeue is the time that the kernel itself says a thread waited, also when waiting
# threads are moved between CPUs.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
[ -r /proc/self/schedstat ] || skip "needs schedstat"
[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
build migrate providers/migrate.c -lpthread

ktrace -q -c "$TMP/migrate 150" -n '
	syscall::getppid:return /pid == $target/ { on[tid] = 1; }
	sched:::enqueue /on[args[0]->pr_lwpid]/ { since[args[0]->pr_lwpid] = timestamp; }
	sched:::dequeue /since[args[0]->pr_lwpid]/ { @wait[args[0]->pr_lwpid] = sum(timestamp - since[args[0]->pr_lwpid]); since[args[0]->pr_lwpid] = 0; }
	sched:::dequeue /on[args[0]->pr_lwpid] && args[2]->cpu_id != cpu/ { @moves = count(); }
	syscall::getpgrp:entry /pid == $target/ { on[tid] = 0; }
	END { printa("wait %d %@d\n", @wait); printa("moves %@d\n", @moves); }'
expect 0 "$status" "$err"
# Five threads on two CPUs wait more than half of the time. Between the two markers and the two readings of schedstat a
# thread can lose the CPU once: that is allowed for, nothing else.
awk '/^[0-9]+ [0-9]+$/ { kernel[$1] = $2 } /^wait/ { ours[$2] = $3 }
	END { for (t in kernel) { n++; d = kernel[t] - ours[t]; if (d < 0) d = -d; print t, kernel[t], ours[t] + 0, (d < 40000000 ? "agree" : "differ") } print n " threads" }' "$TMP/out" >"$TMP/table"
expect 5 "$(grep -c 'agree$' "$TMP/table")" "$(cat "$TMP/table")"
[ "$(awk '/^moves/ { print $2 }' "$TMP/out")" -gt 10 ] || { echo "no waiting thread was moved"; fails=1; }
exit "${fails:-0}"
