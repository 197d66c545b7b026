/*
 * callout.d: an expired timer, for callout_execute. One type for both kinds of Linux timers. Native
 * arguments: address, kind, function, time.
 */

typedef struct callout {
	uintptr_t c_addr;	/* of struct timer_list, or struct hrtimer */
	uintptr_t c_func;	/* the function; sym(args[0]->c_func) is its name */
	uint64_t c_time;	/* when it was due: timer_list in ticks, hrtimer in ns of its clock; callout-end: 0 */
	int c_hrtimer;		/* 1: struct hrtimer */
	int c_cpu;
} callout_t;

translator callout_t < uintptr_t T > {
	c_addr = T;
	c_func = arg2;
	c_time = arg3;
	c_hrtimer = arg1;
	c_cpu = cpu;
};
