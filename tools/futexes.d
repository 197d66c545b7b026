#!/usr/sbin/dtrace -s
/*
 * futexes - waits for locks and condition variables of programs, and where
 *
 * USAGE
 *	dtrace -s futexes [-p pid | -c command] [name [stacks]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	stacks	number of stacks to show (default: 5)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	FUTEX	address in its memory
 *	WAITS	calls that waited
 *	TOTAL(us)	total time
 *	WAKES	calls that woke
 *
 * NOTES
 *	Mutexes, conditions, semaphores, barriers and joins of threads all wait in futex(2); taking a free lock makes no call.
 *	After the table: the user stacks with the longest waits, in microseconds.
 *
 * SEE ALSO
 *	klockstat, offcputime
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
#pragma D option aggsortpos=1
#pragma D option ustackframes=12
#pragma D option ustackmerge
import tool;

inline string NAME = $$1;
inline int STACKS = $2 ? $2 : 5;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

/* commands, without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
inline int WAITS[int op] = op == 0 || op == 6 || op == 9 || op == 11 || op == 13;
/* WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, UNLOCK_PI, WAKE_BITSET, CMP_REQUEUE_PI */
inline int WAKES[int op] = op == 1 || op == 3 || op == 4 || op == 5 || op == 7 || op == 10 || op == 12;

BEGIN
{
	printf("Tracing futexes... Ctrl-C ends.\n");
}

syscall::futex:entry
/WAITS[arg1 & 0x7f] && WANTED/
{
	self->addr = arg0;
	self->start = timestamp;
}

syscall::futex:entry
/WAKES[arg1 & 0x7f] && WANTED/
{
	@wakes[pid, execname, arg0] = count();
}

syscall::futex:return
/self->start/
{
	this->t = timestamp - self->start;
	@waits[pid, execname, self->addr] = count();
	@time[pid, execname, self->addr] = sum(this->t);
	@stacks[execname, ustack()] = sum(this->t);
	self->addr = 0;
	self->start = 0;
}

END
{
	normalize(@time, 1000);
	normalize(@stacks, 1000);
	printf("%7s %-16s %16s %9s %12s %9s\n", "PID", "COMM", "FUTEX", "WAITS", "TOTAL(us)", "WAKES");
	printa("%7d %-16s %16x %@9d %@12d %@9d\n", @waits, @time, @wakes);
	trunc(@stacks, STACKS);
	printa("\n%s%k%@16d\n", @stacks);
}
