#!/usr/sbin/dtrace -s
// run: -e -Z
/* How long do threads wait for a CPU after they become runnable? */

sched:::enqueue
{
	waiting[arg0, arg1] = timestamp;
}

sched:::dequeue
/waiting[arg0, arg1]/
{
	@["wait (ns)", arg2] = quantize(timestamp - waiting[arg0, arg1]);
	waiting[arg0, arg1] = 0;
}
