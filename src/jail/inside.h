/*
 * inside: what the two sides of the jail's socket agree on. Private to src/jail.
 */
#ifndef DT_JAIL_INSIDE_H
#define DT_JAIL_INSIDE_H

#include <sys/types.h>

#include "jail/jail.h"

/* The helper's first words: it is ready (error 0), or what it could not give up. It ends in the second case. */
struct dt_jail_hello {
	int32_t error; /* an errno */
	char step[28];
};

struct dt_jail_head { /* before a question; its files come with the first byte */
	dt_jail_work *work;
	uint64_t size;
	uint64_t nfds;
};

struct dt_jail_reply { /* before an answer */
	uint64_t size;
	uint64_t last; /* the helper has used much of its CPU time, and ends now */
};

/* The life of the helper; socket is all that it keeps. */
_Noreturn void dt_jail_inside(int socket, pid_t tracer);
/* From now on few system calls are left. -1 with errno. */
int dt_jail_filter(void);

#endif
