/*
 * jail: work on untrusted bytes, done by a confined process.
 *
 * The tracer runs as root; the files it reads (programs, libraries, debug files, perf maps) may
 * belong to any user. So they are read by a helper, "dtrace-read". It is created by fork() when the
 * first file is read, and has:
 *
 *   no descriptors	but one socket to the tracer, and the files of the question that it answers
 *   no privilege	another user if we are root, no capabilities, and no way to get any
 *   few system calls	reading, memory, answering: it cannot open, connect, signal, execute (seccomp)
 *   limits		of memory and CPU time (base/budget.h)
 *   no future		it ends with the tracer, however that ends
 *
 * A request is a function of this program, some bytes and up to DT_JAIL_FILES open files; it is called in
 * the helper, and its answer is bytes. The tracer must treat them as hostile: message.h has the
 * tools.
 *
 * A helper that dies is replaced. The file that it was reading is not read again, which is reported
 * once for each file: names are lost, not the tracer. A helper that takes too long, or whose answer
 * is invalid, is treated the same way.
 *
 *   jail.c    the tracer's side
 *   inside.c  the helper: what it gives up, its loop
 *   filter.c  its system calls
 *   message.c numbers and strings in questions and answers
 */
#ifndef DT_JAIL_JAIL_H
#define DT_JAIL_JAIL_H

#include "base/base.h"

#define DT_JAIL_FILES 32

typedef struct dt_jail dt_jail;

struct dt_question {
	int fd[DT_JAIL_FILES]; /* opened for reading; the caller keeps them, the helper gets copies */
	uint32_t nfds;
	const void *data;
	size_t size;
	bool lasting;	  /* the answer depends on the file alone, and is small: it may be remembered */
	bool unblamed;	  /* if the helper dies, no file is to blame: each can be asked about by itself */
	uint32_t seconds; /* of CPU time for the answer; 0: DT_MAX_READER_CPU */
};

/* In the helper: answers a question by adding to *answer. A file that it takes and closes itself becomes -1. */
typedef void dt_jail_work(struct dt_question *q, dt_buf *answer);

/* Starts nothing yet. A request is abandoned when *stop is set, and is a step of the progress. Both may be NULL. */
dt_jail *dt_jail_new(const dt_stop *stop, dt_progress *progress);
dt_jail *dt_jail_like(const dt_jail *j); /* another one, for a helper that keeps state */
/* From now on its helpers may open files for reading, with the rights of their user: a library that
 * is given one file has to find others. A running one ends. */
void dt_jail_let_open(dt_jail *j);
void dt_jail_free(dt_jail *j);
/* Requests will follow: the helper may get ready meanwhile. */
void dt_jail_prepare(dt_jail *j);

/*
 * Send a request and wait for the answer. `what` is for the message if the helper dies: "symbols of
 * /bin/ls". With a file, that file (fd[0]) is then not read again. -1 with *err (may be NULL); the
 * answer is then empty.
 */
int dt_jail_ask(dt_jail *j, const char *what, dt_jail_work *work, const struct dt_question *q, dt_buf *answer,
		dt_error *err);
/* The answer was invalid: as if the helper had died of this request. Returns -1 with *err. */
int dt_jail_reject(dt_jail *j, const char *what, const struct dt_question *q, dt_error *err);

/* The next message for the user: "symbols of FILE are not available: its reader died". To be freed;
 * NULL: nothing new. */
char *dt_jail_problem(dt_jail *j);
bool dt_jail_stopped(const dt_jail *j);	   /* *stop is set: whoever works on foreign data gives up */
uint32_t dt_jail_deaths(const dt_jail *j); /* how many helpers have died, or were killed, because of a request */
int dt_jail_pid(const dt_jail *j);	   /* of the helper; 0: there is none now */

#endif
