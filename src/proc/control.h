/*
 * control: the processes of a session: those of -c and -p, those that pid probes name, and, with
 * option follow, their children.
 *
 * A process of -p is held (stopped, by ptrace) twice, for a fraction of a millisecond each: when it enters the set, to see
 * whether it can be held, and from dt_procs_hold() to dt_procs_release(), when all is prepared. In between it runs, and may map
 * other code than probes were created for: dt_procs_hold() sees that, and the caller creates those that are missing while it
 * is held. One that was stopped before it entered the set is held all the time. A command of -c is held from just after its exec succeeded until dt_procs_release(): none of its instructions has run
 * yet, and nothing of our image is left in it. When its objects are needed (dt_procs_need) it first runs to its evaltime
 * point. Releasing detaches: nothing of ptrace remains, and a debugger can attach. If we die, the
 * kernel continues a held process (-p) or kills it (-c: it has not started). A process that cannot
 * be held (a kernel thread, a process under a debugger) is traced nevertheless.
 *
 * During tracing, dt_procs_poll() reports what happens to them. Mappings, execs and forks come from
 * the side-band (sideband.h), which is opened at the first call that needs it.
 *
 *   control.c  the set: find, poll, listen, follow, how a process ended
 *   hold.c     stops every thread of a process, and releases them
 *   guard.c    continues processes that programs have stopped: guard.h
 *   watch.c    continues the tracer if it is stopped while it holds others
 *   create.c   -c: starts a command, runs it to a point
 *   point.c    finds the evaltime points in an image
 *   facts.c    reads data about one process from the kernel
 *
 * All calls must come from the thread that made the first one (ptrace knows its tracer by thread).
 */
#ifndef DT_PROC_CONTROL_H
#define DT_PROC_CONTROL_H

#include <poll.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/options.h"
#include "jail/jail.h"
#include "proc/sideband.h"

typedef struct dt_procs dt_procs; /* the set; one per session */

enum dt_proc_origin {
	DT_PROC_CREATED,  /* -c */
	DT_PROC_GRABBED,  /* -p */
	DT_PROC_NAMED,	  /* pid123:::; tracing does not end with it */
	DT_PROC_FOLLOWED, /* option follow: a child of one of the set */
};

enum dt_proc_state {
	DT_PROC_HELD,	 /* stopped by us; its mappings do not change */
	DT_PROC_RUNNING, /* released, or it could not be held */
	DT_PROC_GONE,
};

typedef struct dt_proc {
	long pid; /* in our namespace; in its own it may be different (dt_proc_inner_pid)
		   */
	long parent; /* DT_PROC_FOLLOWED */
	enum dt_proc_origin origin;
	enum dt_proc_state state;
	int pidfd;	      /* readable once it has ended; -1: none could be opened */
	struct dt_hold *hold; /* hold.c, create.c; NULL: not held */
	int status;	      /* GONE: how it ended, as wait(2) says ... */
	bool knows_status;    /* ... if that is known */
	uint64_t code;	      /* stands for the code it had mapped when it was grabbed */
} dt_proc;

/* A message for the user. */
struct dt_proc_news {
	const char *text; /* "pid 12 has exited" */
	long pid;
	bool ended; /* it is gone; status is what wait(2) says */
	int status;
};
typedef int dt_proc_say_f(void *arg, const struct dt_proc_news *n); /* 0, or -1 to abort */

/* jail reads their files; NULL: this process does. It must outlive the set. */
dt_procs *dt_procs_new(const dt_options *opts, dt_jail *jail, dt_proc_say_f *say, void *arg);
/* Releases all; commands of -c that still run are terminated. */
void dt_procs_free(dt_procs *ps);

/* ---- before tracing ---- */
/* Start a command and hold it right after its exec. NULL with *err. */
dt_proc *dt_procs_create(dt_procs *ps, char *const argv[], dt_error *err);
/* Add a process that runs. NULL with *err (tag D_PROC_GRAB or D_PROC_BADPID): there is none, no permission. */
dt_proc *dt_procs_grab(dt_procs *ps, long pid, dt_error *err);
/* For providers that create probes in a process: the process, held at its evaltime point if it is a
 * command of -c, else running; grabbed as DT_PROC_NAMED if it was not in the set. During tracing it is returned
 * in its current state. NULL with *err. */
dt_proc *dt_procs_need(dt_procs *ps, long pid, dt_error *err);
/* All commands of -c run to their evaltime point if the user has set one; -1 with *err: one has
 * died. */
int dt_procs_settle(dt_procs *ps, dt_error *err);
/* All is prepared: hold those that run. True: one of them has mapped other code since it was grabbed. */
bool dt_procs_hold(dt_procs *ps);
/* The same question, without holding them. */
bool dt_procs_changed(const dt_procs *ps);
/* Tracing is on: let them run. */
void dt_procs_release(dt_procs *ps);

/* During tracing: stop a process again. Its threads stop at the latest when they return to user
 * mode; this does not wait for that. False: it cannot be held. dt_procs_release() releases it. */
bool dt_procs_hold_again(dt_procs *ps, long pid);

/* ---- all the time ---- */
dt_proc *dt_procs_find(const dt_procs *ps, long pid); /* NULL: not in the set, or gone */
/* Every process of the set, including those of -c and -p that are gone; NULL at the end. i from 0. */
dt_proc *dt_procs_nth(const dt_procs *ps, uint32_t i);
/* The session's side-band, opened at the first call; never NULL. */
dt_sideband *dt_procs_sideband(dt_procs *ps);
dt_jail *dt_procs_jail(const dt_procs *ps); /* NULL also for no set */

/* ---- while tracing ---- */
enum dt_proc_event {
	DT_PROC_FORK, /* option follow: this process joined the set, a copy of one of it */
	DT_PROC_EXEC, /* all its mappings are new; MAP events follow */
	DT_PROC_MAP,  /* it mapped an executable part of a file: *map */
	DT_PROC_EXIT, /* a followed process is freed after this */
};
/* Called by dt_procs_poll(), in order of time; the process continues meanwhile. For processes
 * outside the set, listen to the side-band. */
struct dt_proc_listener {
	void *arg;
	void (*event)(void *arg, enum dt_proc_event what, dt_proc *p, const dt_umap *map);
	struct dt_proc_listener *next; /* ours */
};
/* The listener is the caller's and must live as long as the set, or be removed. Opens the
 * side-band. */
void dt_procs_listen(dt_procs *ps, struct dt_proc_listener *l);
void dt_procs_unlisten(dt_procs *ps, struct dt_proc_listener *l);
/* Take events, report processes that have ended. 0, or -1 if the say function asked to abort. */
int dt_procs_poll(dt_procs *ps);
/* What to poll(2) for before the next dt_procs_poll(): adds to fds. Returns milliseconds after
 * which to call it anyway, -1: no need. */
typedef DT_VEC(struct pollfd) dt_pollfds;
int dt_procs_fds(const dt_procs *ps, dt_pollfds *fds);
/* There were processes of -c or -p, and neither they nor followed descendants are left. */
bool dt_procs_all_gone(const dt_procs *ps);

/* ---- point.c ---- */
/* The function that the dynamic linker of a process calls when it has loaded objects: a descriptor
 * of its file, and the offset in it. -1: none is known. */
int dt_proc_load_point(long pid, dt_jail *jail, uint64_t *offset);

#endif
