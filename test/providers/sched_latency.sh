# The sched provider: the time from enqueue to dequeue is the time that the kernel itself says a thread waited, also when waiting
# threads are moved between CPUs.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
[ -r /proc/self/schedstat ] || skip "needs schedstat"
[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
build migrate providers/migrate.c -lpthread

# From getppid to getpgid each thread spins: it runs, or is in a queue. What the kernel has counted, and what we have, is compared whenever a
# thread leaves its CPU, since the first time that it did: both count on while it waits and when it comes back, and stand still here.
cat >"$TMP/wait.d" <<'D'
self int on, left; int on[id_t], queued[id_t]; uint64_t since[id_t], wait[id_t], times[id_t];
syscall::getppid:return /pid == $target/ { on[tid] = 1; self->on = 1; }
syscall::getpgid:entry /self->on/ { on[tid] = 0; self->on = 0; }
sched:::enqueue /on[args[0]->pr_lwpid]/ {
	@wrong["queued again"] = sum(queued[args[0]->pr_lwpid]); queued[args[0]->pr_lwpid] = 1; since[args[0]->pr_lwpid] = timestamp; }
sched:::dequeue /on[args[0]->pr_lwpid]/ {
	@wrong["not in a queue"] = sum(!queued[args[0]->pr_lwpid]); queued[args[0]->pr_lwpid] = 0;
	wait[args[0]->pr_lwpid] += timestamp - since[args[0]->pr_lwpid]; }
sched:::dequeue /on[args[0]->pr_lwpid] && args[2]->cpu_id != cpu/ { @moves = count(); }
sched:::on-cpu /pid == $target && self->on/ { @wrong["runs in a queue"] = sum(queued[tid]); times[tid]++; }
sched:::off-cpu /pid == $target && self->on && !self->left/ {
	self->left = 1; self->delay = curthread->sched_info.run_delay; self->wait = wait[tid];
	self->pcount = curthread->sched_info.pcount; self->times = times[tid]; }
sched:::off-cpu /pid == $target && self->on/ {
	@delay[tid] = max(curthread->sched_info.run_delay - self->delay); @wait[tid] = max(wait[tid] - self->wait);
	@pcount[tid] = max(curthread->sched_info.pcount - self->pcount); @times[tid] = max(times[tid] - self->times); }
sdt:::sched_switch /args[1]->tgid == 1/ { @["init leaves"] = count(); }
sdt:::sched_switch /args[2]->tgid == 1/ { @["init comes"] = count(); }
END {
	printa("%s: %@d\n", @); printa("wrong %s: %@d\n", @wrong); printa("moves %@d\n", @moves);
	printa("pcount %d %@d\n", @pcount); printa("times %d %@d\n", @times); printa("wait %d %@d\n", @wait); printa("delay %d %@d\n", @delay);
}
D
# What is true in every run: a thread is in one queue or runs, and every wait is seen, as often as the kernel says that it got a CPU.
# (Some kernels of virtual machines run no programs of ours in process 1, and do not say so. There, it is true of one run.)
# The lengths are by two clocks, which are read a microsecond apart, with interrupts off. But a virtual machine can be stopped just
# there for as long as it pleases its host, some hundred times in a run. So they need agree in one run only, to one per cent; what is
# not seen, or is seen in another order, is missing in all of them, and is a third.
agree() {
	ktrace -q -s "$TMP/wait.d" -c "$TMP/migrate 150"
	expect "0 " "$status $err"
	told=$(
		expect "wrong not in a queue: 0
wrong queued again: 0
wrong runs in a queue: 0" "$(grep '^wrong' "$TMP/out" | sort)" "one queue at a time"
		expect "$(sed -n 's/^pcount //p' "$TMP/out" | sort)" "$(sed -n 's/^times //p' "$TMP/out" | sort)" "how often each got a CPU"
		expect 5 "$(lines '^times [0-9]+ [1-9]')" "threads"
	)
	hidden=
	[ -n "$(labelled "init leaves")" ] || [ -z "$(labelled "init comes")" ] || hidden=1
	[ -z "$told" ] || [ -z "$hidden" ] || { rm -f "$failed"; return 1; }
	printf '%s' "$told"
	awk '/^wait/ { ours[$2] = $3 } /^delay/ { kernel[$2] = $3 } /^moves/ { moves = $2 }
		END { for (t in kernel) { d = kernel[t] - ours[t]; n += (d < 0 ? -d : d) < kernel[t] / 100 } exit !(n == 5 && moves > 10) }' "$TMP/out"
}
for ((try = 0; try < 15; try++)); do
	agree && exit
done
[ -z "$hidden" ] || skip "this kernel does not run programs in process 1, which ran in the middle of every attempt"
cat "$TMP/out"
count_failure
