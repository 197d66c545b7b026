#!/usr/sbin/dtrace -s
// run: -e -x kdefs
/* Kernel variables: the load average and the time since boot. */

extern unsigned long avenrun[3];

#pragma D option quiet

inline int FSHIFT = 11;

profile:::tick-5s
{
	this->load = `avenrun[0];
	printf("load %d.%02d\n", this->load >> FSHIFT,
	    ((this->load & ((1 << FSHIFT) - 1)) * 100) >> FSHIFT);
	printf("at %p\n", &`avenrun);
}
