/*
 * site: two places in our own code like those of a static probe made by dtrace -h, to measure which of its nops is
 * cheaper to probe (bpf/run/sites.c). Host only.
 */
#ifndef DT_ARCH_SITE_H
#define DT_ARCH_SITE_H

struct dt_site_pair {
	const char *trap, *call; /* addresses of the two nops: the first becomes a breakpoint, the other a call */
	/* pass one of them several times, both equally often */
	void (*pass_trap)(void);
	void (*pass_call)(void);
};

/* A function with a nop at `at`. It returns 1 if the program counter is DT_SITE_DISTANCE more after the nop's breakpoint was hit,
 * and the nop was left out. */
#define DT_SITE_DISTANCE 16
struct dt_site_moved {
	const char *at;
	int (*pass)(void);
};

const struct dt_site_moved *dt_site_moved(void); /* NULL: of no use on this CPU */
const struct dt_site_pair *dt_site_pair(void); /* NULL: static probes of this CPU have one nop only */

#endif
