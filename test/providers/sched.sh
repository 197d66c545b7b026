# The sched provider: every probe, counted against what the kernel itself counts for each thread, and against each other.
# timeout: 300
# needs: root bpf btf gcc
# uses: mountns
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
watch sched
build turns providers/turns.c -lpthread
n=$(scale 2000)

# ---- between two moments, a thread's own counters and ours agree exactly ----
# (Some kernels hide what one process of the host does: then a thread leaves a CPU that it was not seen to get. Such holes
# are counted, and stand for the missing on-cpu and dequeue.)
cat >"$TMP/window.d" <<'EOT'
self int on;
self uint64_t sleeps, preempts, offs, ons, holes;
id_t came[int];
uint64_t enqueues[id_t], dequeues[id_t], wakeups[id_t];

syscall::getppid:return /pid == $target/ {
	self->v = curthread->nvcsw; self->i = curthread->nivcsw;
	self->sleeps = 0; self->preempts = 0; self->offs = 0; self->ons = 0; self->holes = 0; came[cpu] = tid;
	enqueues[tid] = 0; dequeues[tid] = 0; wakeups[tid] = 0;
	self->on = 1;
}
sched:::sleep /self->on/ { self->sleeps++; }
sched:::preempt /self->on/ { self->preempts++; }
sched:::off-cpu /self->on && came[cpu] != tid/ { self->holes++; }
sched:::off-cpu /self->on/ { self->offs++; }
sched:::on-cpu { came[cpu] = tid; }
sched:::on-cpu /self->on/ { self->ons++; @names[execname, pid == $target, curpsinfo->pr_pid == $target, curlwpsinfo->pr_lwpid == tid] = count(); }
sched:::enqueue /args[1]->pr_pid == $target/ { enqueues[args[0]->pr_lwpid]++; @cpu[args[2]->cpu_id, args[3]] = count(); }
sched:::dequeue /args[1]->pr_pid == $target/ { dequeues[args[0]->pr_lwpid]++; }
sched:::wakeup /args[1]->pr_pid == $target/ { wakeups[args[0]->pr_lwpid]++; }
sched:::wakeup /args[1]->pr_pid == $target && args[0]->pr_lwpid != $target/ { @waking[args[0]->pr_state == SSLEEP] = count(); }
syscall::getpgid:entry /self->on/ {
	self->on = 0;
	self->v = curthread->nvcsw - self->v; self->i = curthread->nivcsw - self->i;
	printf("sleep %d preempt %d off %d on %d queue %d wakeup %d all %d some %d\n", self->sleeps == self->v, self->preempts == self->i,
	    self->offs == self->v + self->i, self->ons + self->holes == self->offs, enqueues[tid] == dequeues[tid] + self->holes && enqueues[tid] == self->offs,
	    wakeups[tid] >= self->v, self->offs, self->v);
}
END { printa("names %s %d %d %d\n", @names); printa("cpu %d %d\n", @cpu); printa("state %d\n", @waking); }
EOT
for phase in pipe hog; do
	ktrace -q -c "$TMP/turns -n $n $phase" -s "$TMP/window.d"
	expect 0 "$status" "$phase: $err"
	expect "" "$err" "$phase: messages"
	expect 2 "$(lines '^sleep 1 preempt 1 off 1 on 1 queue 1 wakeup 1 ')" "$phase: counts"
	[ "$(lines '^sleep 1 preempt 1 off 1 on 1 queue 1 wakeup 1 ')" = 2 ] || cat "$TMP/out"
	expect "names turns 1 1 1" "$(grep ^names "$TMP/out")" "$phase: who is on-cpu"
	expect "state 1" "$(grep ^state "$TMP/out")" "$phase: state of who is woken"
	expect 1 "$(grep -c '^cpu 0 0$' "$TMP/out")" "$phase: queue"
	# both had to wait for the other, or lost the CPU three times
	awk -v n="$n" -v phase="$phase" '/^sleep/ { if ($(NF - 2) < (phase == "pipe" ? n / 2 : 3)) bad = 1 } END { exit bad }' "$TMP/out" ||
		{ echo "$phase: too few switches"; cat "$TMP/out"; fails=1; }
done

# ---- off-cpu has the next thread, on-cpu is about that one ----
ktrace -q -c "$TMP/turns -n $n pipe" -n '
	int next[int]; self id_t left;
	sched:::off-cpu { next[cpu] = args[1]->pr_pid == $target ? args[0]->pr_lwpid : -1; }
	sched:::on-cpu /pid == $target/ { @[next[cpu] == tid] = count(); }
	sched:::on-cpu /pid == $target && self->left/ { @same[self->left == tid] = count(); self->left = 0; }
	sched:::off-cpu /pid == $target/ { self->left = tid; }
	END { printa("next %d\n", @); printa("same %d\n", @same); }'
expect "next 1
same 1" "$(grep . "$TMP/out")" "who is next"
expect "" "$err"

# ---- order: sleep or preempt, off-cpu, on-cpu; whatever the order of the clauses ----
ktrace -q -c "$TMP/turns -n $n pipe" -n '
	int seq[int];
	sched:::on-cpu /seq[cpu]/ { @[seq[cpu] * 10 + 4] = count(); seq[cpu] = 0; }
	sched:::off-cpu /pid == $target/ { seq[cpu] = seq[cpu] * 10 + 3; }
	sched:::sleep /pid == $target/ { seq[cpu] = 1; }
	sched:::preempt /pid == $target/ { seq[cpu] = 2; }
	END { printa("%d\n", @); }'
expect "134" "$(grep . "$TMP/out" | sort | grep -v '^234$')" order # all of them, and perhaps preempt
expect "" "$err"

# ---- what is not available of another thread faults, and nothing else happens; its kernel stack is available ----
ktrace -q -c "$TMP/turns -n 5 pipe" -n 'int done, done2;
	sched:::on-cpu /pid == $target && !done/ { trace(copyinstr(1)); }
	sched:::on-cpu /pid == $target && !done2/ { done2 = 1; @[stack()] = count(); trace(execargs); exit(0); }
	ERROR { done = 1; printf("fault %d\n", arg4); }'
grep -q '^fault 1$' "$TMP/out" || { echo "copyinstr in on-cpu"; cat "$TMP/out" "$TMP/err"; fails=1; }
grep -qE 'schedule|ret_from_fork|0x[0-9a-f]+' "$TMP/out" || { echo "no stack"; cat "$TMP/out"; fails=1; }

# ---- the user stack of the next thread is the one that it left with ----
stacks() {
	ktrace -q -c "$TMP/turns -n 20 pipe" -n '
		sched:::off-cpu /pid == $target && ustackdepth > 2/ { left[tid] = ucaller; depth[tid] = ustackdepth; }
		sched:::on-cpu /left[tid]/ { @[ucaller == left[tid], ustackdepth == depth[tid]] = count(); @st[ustack()] = count(); left[tid] = 0; }
		END { printa("same %d %d\n", @); }
		ERROR { printf("fault %d\n", arg4); }'
	! grep -q 'may stay without names$' "$TMP/err" # another test may flood all tracers: then once more
}
wait_for 30 stacks
expect "same 1 1" "$(grep -E '^(same|fault)' "$TMP/out" | sort -u)" "user stacks in on-cpu"
grep -q 'libc[^ ]*`' "$TMP/out" || { echo "no user stack in on-cpu"; cat "$TMP/out" "$TMP/err"; fails=1; }

# ---- priorities ----
ktrace -q -c "$TMP/turns nice boost" -n '
	syscall::getppid:return /pid == $target/ { self->on = 1; }
	syscall::getpgid:entry /pid == $target/ { self->on = 0; }
	sched:::change-pri /pid == $target && self->on && args[1]->pr_pid == $target && args[2] > 20/ { printf("nice %d %d\n", args[0]->pr_lwpid == tid, args[2]); }
	sched:::change-pri /pid == $target && args[1]->pr_pid == $target && args[2] < 0/ { printf("fifo %d %d %d\n", args[0]->pr_lwpid == tid, args[0]->pr_pri, args[2]); }
	sched:::change-pri /pid == $target && args[1]->pr_pid == $target && args[2] == 20/ { printf("back %d %d\n", args[0]->pr_lwpid == tid, args[0]->pr_pri); }'
expect "" "$err"
expect "nice 1 25
nice 1 27" "$(grep ^nice "$TMP/out")" change-pri
# the waiter makes itself FIFO; waiting it lends that to the holder, who has it until it unlocks
"$TMP/turns" boost
boosts=$?
[ "$boosts" = 3 ] || expect "fifo 1 20 -11
fifo 0 20 -11
back 1 -11" "$(grep -E '^(fifo|back)' "$TMP/out")" "change-pri, inherited"

# ... and which thread lends it to which
ktrace -q -c "$TMP/turns boost" -n '
	sched:::lend-pri /pid == $target/ { printf("lend %d %d %d %d %d\n", args[0]->pr_lwpid != tid, args[1]->pr_pid == pid, args[2], args[3]->pr_lwpid == tid, args[3]->pr_pri); }'
[ "$boosts" = 3 ] || expect "lend 1 1 -11 1 -11" "$(grep . "$TMP/out")" lend-pri

# ---- threads that a CPU has to run: one more, one less, never below none ----
ktrace -q -c "$TMP/turns -n $n pipe" -n '
	int load[int], seen[int];
	sched:::load-change /seen[args[0]]/ { @step[args[1] > load[args[0]] ? "more" : "less"] = sum(1); @wrong = sum(args[1] < 0 || args[0] < 0 || args[0] >= 64); }
	sched:::load-change { load[args[0]] = args[1]; seen[args[0]] = 1; }
	END { printa("%s %@d\n", @step); printa("wrong %@d\n", @wrong); }'
expect "" "$err" load-change
expect "wrong 0" "$(grep ^wrong "$TMP/out")" load-change
awk '{ k[$1] = $2 } END { d = k["more"] - k["less"]; exit !(k["more"] >= 10 && k["less"] >= 10 && d < k["more"] / 2 && -d < k["less"] / 2) }' "$TMP/out" || { echo "load-change:"; cat "$TMP/out"; fails=1; }

# ---- the clock ticks on the running thread ----
ktrace -q -c "$TMP/turns burn" -n '
	sched:::tick /pid == $target/ { @[args[1]->pr_pid == pid, args[0]->pr_lwpid == tid] = count(); }
	END { printa("%d %d\n", @); }'
expect "1 1" "$(grep . "$TMP/out")" tick
expect "" "$err"

# ---- those that only newer kernels have ----
if listed remain-cpu; then
	stays() {
		ktrace -q -c "$TMP/turns -n $n yield" -n "
			syscall::sched_yield:entry /pid == \$target/ { self->in = 1; @yields = count(); }
			sched:::remain-cpu, sched:::off-cpu /self->in/ { @ = count(); }
			sched:::remain-cpu /self->in/ { @stay[execname] = count(); }
			syscall::sched_yield:return { self->in = 0; }
			END { printa(\"yields %@d\\n\", @yields); printa(\"decisions %@d\\n\", @); printa(\"stays %s %@d\\n\", @stay); }"
		yields=$(awk '/^yields/ { print $2 }' "$TMP/out") decisions=$(awk '/^decisions/ { print $2 }' "$TMP/out")
		expect "$n" "$yields" yields
		[ "${decisions:-0}" -ge "$n" ] || { echo "remain-cpu: $decisions decisions of $n"; count_failure; } # one at least in each call
		grep -q '^stays turns [1-9]' "$TMP/out" # unless others always had work for this CPU: then once more
	}
	wait_for 30 stays
else
	"$DTRACE" -n 'sched:::remain-cpu { exit(0); }' 2>"$TMP/err" && fails=1
	grep -q 'sched:::remain-cpu needs Linux 6.16' "$TMP/err" || { echo "no reason"; cat "$TMP/err"; fails=1; }
fi
if listed surrender && [ "$(nproc)" -gt 1 ]; then
	surrenders() { # where the kernel sees a reason to
		ktrace -q -c "$TMP/turns -n $n surrender" -n '
			sched:::surrender /args[1]->pr_pid == $target && pid == $target/ { @[args[0]->pr_lwpid != tid, args[0]->pr_onpro] = count(); }
			END { printa("%d %d %@d\n", @); }'
		grep -q '^1 1 ' "$TMP/out"
	}
	wait_for 30 surrenders
fi

# ---- in a pid namespace of our own, threads have the ids that ps shows there ----
if ! lacks mountns >/dev/null; then
	unshare -pf --mount-proc "$DTRACE" -qc "$TMP/turns -n 20 pipe" -n '
		proc:::lwp-create /pid == $target/ { new[args[0]->pr_lwpid] = 1; printf("new %d %d\n", args[0]->pr_lwpid < 100, args[1]->pr_pid == $target); }
		sched:::on-cpu /pid == $target && tid != pid/ { @[new[tid], curpsinfo->pr_pid == pid, curlwpsinfo->pr_lwpid == tid, ppid == $pid] = count(); }
		sched:::off-cpu /args[1]->pr_pid == $target && args[0]->pr_lwpid != $target/ { @n[new[args[0]->pr_lwpid]] = count(); }
		END { printa("on %d %d %d %d\n", @); printa("next %d\n", @n); }' >"$TMP/out" 2>"$TMP/err"
	expect "new 1 1
new 1 1
on 1 1 1 1
next 1" "$(grep . "$TMP/out")" "pid namespace: $(cat "$TMP/err")"
fi

# ---- every member of the types ----
case $HOSTTYPE in x86_64) type=x86-64 fpu="i387 compatible" ;; *) type=$HOSTTYPE fpu=$HOSTTYPE ;; esac
fields 'sched:::enqueue /args[1]->pr_pid == $target/' -c "$TMP/turns -n 5 pipe" <<T
= cpuinfo_t args[2]
cpu_id % >= 0 && % == args[0]->pr_onpro
cpu_pset % == 0
cpu_chip % == chip
cpu_lgrp % == lgrp
cpu_info.pi_state % == P_ONLINE
cpu_info.pi_processor_type % == "$type"
cpu_info.pi_fputypes % == "$fpu"
cpu_info.pi_clock % >= 0
T

# ---- listing ----
expect "args[0]: lwpsinfo_t *
args[1]: psinfo_t *
args[2]: cpuinfo_t *
args[3]: int" "$("$DTRACE" -lvn sched:::enqueue | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
for p in sleep preempt off-cpu on-cpu enqueue dequeue wakeup change-pri tick; do
	listed $p || { echo "$p is missing"; fails=1; }
done
fired
