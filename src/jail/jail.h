/*
 * jail: work on foreign bytes, done by a process that can do nothing else.
 *
 * The tracer is root's; the files it looks into (programs, libraries, debug files, perf maps) are anybody's. So they are
 * read by a helper, "dtrace-read". It is made by fork() when the first file is to be read, and has:
 *
 *   no descriptors	but one socket to the tracer, and the files of the question that it answers
 *   no privilege	another user if we are root, no capabilities, and no way to get any
 *   few system calls	reading, memory, answering: it cannot open, connect, signal, execute (seccomp)
 *   limits		of memory and CPU time (base/budget.h)
 *   no future		it ends with the tracer, however that ends
 *
 * A question is a function of this program, some bytes and up to three open files; it is called in the helper, and its answer
 * is bytes. The tracer must take them for hostile: message.h has the tools.
 *
 * A helper that dies is replaced. What it was reading then is not read again, and the user is told once for each file:
 * names are lost, not the tracer. So is a helper that takes too long, or whose answer makes no sense.
 *
 *   jail.c    the tracer's side
 *   inside.c  the helper: what it gives up, its loop
 *   filter.c  its system calls
 *   message.c numbers and strings in questions and answers
 */
#ifndef DT_JAIL_JAIL_H
#define DT_JAIL_JAIL_H

#include "base/base.h"

#define DT_JAIL_FILES 3

typedef struct dt_jail dt_jail;

struct dt_question {
	int fd[DT_JAIL_FILES]; /* opened for reading; they stay the asker's, the helper gets copies */
	uint32_t nfds;
	const void *data;
	size_t size;
	uint32_t seconds; /* of CPU time for the answer; 0: DT_MAX_READER_CPU */
};

/* In the helper: answers a question by adding to *answer. A file that it takes and closes itself becomes -1. */
typedef void dt_jail_work(struct dt_question *q, dt_buf *answer);

/* Starts nothing yet. A question is given up when *stop is set. */
dt_jail *dt_jail_new(const dt_stop *stop);
dt_jail *dt_jail_like(const dt_jail *j); /* another one, for a helper that is to remember something */
void dt_jail_free(dt_jail *j);
/* Questions will come: the helper may get ready meanwhile. */
void dt_jail_prepare(dt_jail *j);

/*
 * Have a question answered. `what` is for the user, should the helper die: "symbols of /bin/ls". With a file, that file (fd[0]) is
 * not asked about again then. -1 with *err (may be NULL); the answer is then empty.
 */
int dt_jail_ask(dt_jail *j, const char *what, dt_jail_work *work, const struct dt_question *q, dt_buf *answer,
		dt_error *err);
/* The answer made no sense: as if the helper had died of this question. Returns -1 with *err. */
int dt_jail_reject(dt_jail *j, const char *what, const struct dt_question *q, dt_error *err);

/* The next thing to tell the user: "symbols of FILE are not available: its reader died". To be freed; NULL: nothing new. */
char *dt_jail_problem(dt_jail *j);
uint32_t dt_jail_deaths(const dt_jail *j); /* how many helpers have died, or were ended, of a question */
int dt_jail_pid(const dt_jail *j);	   /* of the helper; 0: there is none now */

#endif
