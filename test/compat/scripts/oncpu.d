#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * oncpu.d: how long processes of a name stay on a CPU, why they leave it, and whether they move.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;

self uint64_t on;
self int oncpu;

sched:::on-cpu
/NAME == "" || execname == NAME/
{
	self->on = timestamp;
	@moved[execname] = sum(self->oncpu != 0 && self->oncpu != cpu + 1);
	self->oncpu = cpu + 1;
}

sched:::off-cpu
/self->on/
{
	@time[execname] = sum(timestamp - self->on);
	@stay[execname, curlwpsinfo->pr_state == SSLEEP ? "sleeps" : curlwpsinfo->pr_state == SZOMB ? "ends" : "preempted"] =
	    quantize((timestamp - self->on) / 1000);
	@next[args[1]->pr_fname, args[0]->pr_pri] = count();
	self->on = 0;
}

sched:::preempt
/NAME == "" || execname == NAME/
{
	@preempted[curcpu->cpu_id] = count();
}

END
{
	normalize(@time, 1000000);
	printf("%-16s %10s %8s\n", "COMM", "CPU(ms)", "MOVES");
	printa("%-16s %@10d %@8d\n", @time, @moved);
	printa("%s %s (us) %@d\n", @stay);
	trunc(@next, 5);
	printa("then %s (priority %d) %@d\n", @next);
	printa("CPU %d: %@d preemptions\n", @preempted);
}
