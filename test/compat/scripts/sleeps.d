#!/usr/sbin/dtrace -s
// run: -e
/*
 * sleeps.d: how long programs ask to sleep, and how much longer it takes.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;
inline int64_t ns[timespec_t *t] = t->tv_sec * 1000000000 + t->tv_nsec;

this timespec_t *ts;

syscall::nanosleep:entry
/NAME == "" || execname == NAME/
{
	this->ts = (timespec_t *)copyin(arg0, sizeof (timespec_t));
	self->asked = ns[this->ts];
	self->since = timestamp;
}

syscall::clock_nanosleep:entry
/NAME == "" || execname == NAME/
{
	this->ts = (timespec_t *)copyin(arg2, sizeof (timespec_t));
	self->asked = arg1 ? 0 : ns[this->ts];
	self->since = timestamp;
}

syscall::nanosleep:return,
syscall::clock_nanosleep:return
/self->asked/
{
	this->slept = timestamp - self->since;
	@n[execname] = count();
	@asked[execname] = sum(self->asked);
	@early[execname] = sum(errno == 0 && this->slept < self->asked);
	@late["late (us)"] = quantize((this->slept - self->asked) / 1000);
	self->asked = 0;
	self->since = 0;
}

END
{
	normalize(@asked, 1000000);
	printf("%-16s %8s %10s %6s\n", "COMM", "SLEEPS", "ASKED(ms)", "EARLY");
	printa("%-16s %@8d %@10d %@6d\n", @n, @asked, @early);
	printa(@late);
}
