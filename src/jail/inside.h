/*
 * inside: the protocol of the jail's socket. Private to src/jail.
 */
#ifndef DT_JAIL_INSIDE_H
#define DT_JAIL_INSIDE_H

#include <sys/types.h>

#include "jail/jail.h"

/* The helper's first message: it is ready (error 0), or what it could not give up. Then it exits. */
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

/* Runs the helper; it keeps only the socket. */
_Noreturn void dt_jail_inside(int socket, pid_t tracer, bool opens);
/* From now on only few system calls are allowed. -1 with errno. opens: files may be opened for reading. */
int dt_jail_filter(bool opens);

#endif
