/*
 * hold: stopped processes, and facts about processes; for the files of src/proc (see control.h) and for an engine that
 * changes a process while it is stopped (src/process).
 */
#ifndef DT_PROC_HOLD_H
#define DT_PROC_HOLD_H

#include <sys/types.h>

#include "proc/control.h"

struct dt_held_thread {
	pid_t tid;
	bool stopped; /* if known; if not, it stops before its next instruction in user mode */
	int signal;   /* that it was about to get; delivered when it is released */
};

/* A held process: the threads that we trace. */
struct dt_hold {
	long pid;
	DT_VEC(struct dt_held_thread) threads;
	bool created; /* a command of -c: killed by the kernel if we die */
	bool settled; /* has run to its evaltime point */
	bool ended;   /* it died while held; how: */
	int status;
	int gate; /* not -1: ptrace is refused; it waits before its exec for a byte here */
	uint64_t patience; /* ns that dt_hold_threads() waits for threads that sleep where they cannot be stopped; 0: a second, as for others */
};

/* ---- hold.c ---- */
/* Stop every thread of a process. *error is 0, or why some (NULL: all) of them cannot be held. */
struct dt_hold *dt_hold_new(long pid, int *error);
struct dt_hold *dt_hold_within(long pid, uint64_t patience, int *error);
/* The same without waiting: those that are in the kernel stop when they come back. NULL: it cannot be held. */
struct dt_hold *dt_hold_begin(long pid);
/* Those threads that we do not hold yet. 0 or an errno. */
int dt_hold_threads(struct dt_hold *hold);
/* Detach. True when nothing is left to do; else some threads sleep where they cannot be stopped,
 * and it must be called again soon. */
bool dt_hold_release(struct dt_hold *hold);
void dt_hold_free(struct dt_hold *hold); /* what is still attached stays so */

/* ---- control.c ---- */
/* While a process waits for us, we wait for nobody: without this, others that want the CPU decide how long it is stopped. */
void dt_hurry(bool on);

/* ---- companion.c ---- */
struct dt_companion {
	pid_t pid;
	int socket; /* the other end is its descriptor 0; 1 is a pidfd of the tracer */
};
struct dt_companion_work {
	const char *name;
	void (*run)(void *arg, pid_t tracer); /* in that process; it exits when this returns */
	void *arg;
};
bool dt_companion_start(struct dt_companion *c, const struct dt_companion_work *work); /* false: errno */
void dt_companion_end(struct dt_companion *c); /* closes the socket, and waits for its exit */

/* ---- watch.c ---- */
struct dt_watch;
/* Others are held from now on, or no longer. The first call creates a process that continues us if
 * we are stopped meanwhile; if that is not possible *w stays NULL. */
void dt_watch(struct dt_watch **w, bool holds);
void dt_watch_free(struct dt_watch *w);

/* ---- create.c ---- */
/* Start a command and hold it after its exec. NULL with *err. */
struct dt_hold *dt_hold_create(const dt_options *opts, char *const argv[], dt_error *err);
/* gate: let it exec. 0, or the errno of exec. */
int dt_hold_open_gate(struct dt_hold *hold);
/* Run it to its evaltime point. -1 with *err: it ended before. */
int dt_hold_settle(struct dt_hold *hold, uint64_t evaltime, dt_jail *jail, dt_error *err);

/* ---- point.c ---- */
/* An image as exec leaves it: where to put breakpoints. Addresses; 0: not there. */
struct dt_points {
	bool is64;
	uint64_t entry;	  /* of the program itself: all shared libraries are initialised */
	uint64_t loaded;  /* function that the dynamic linker calls when it has loaded objects */
	uint64_t r_debug; /* the dynamic linker's state, for debuggers */
	uint64_t main;	  /* from the symbol table */
	uint64_t text, text_end; /* the executable's code */
};
void dt_points_find(long pid, dt_jail *jail, struct dt_points *pt);

/* ---- facts.c: what /proc and the kernel say about one process ---- */
int dt_proc_pidfd(long pid); /* -1 and errno */
/* "has exited", "exited with status 3", "terminated by SIGSEGV" for a status of wait(2). */
void dt_proc_status_text(int status, char *to, size_t n);
/* How a process that is not our child ended, if the kernel still knows. */
bool dt_proc_exit_status(long pid, int pidfd, int *status);
/* Why /proc does not show the processes by the pids that we see: a sentence; NULL: it does. */
const char *dt_proc_problem(void);
bool dt_proc_is_kernel(long pid); /* a kernel thread */
/* Its effective user, and root of its user namespace, both as ids in our namespace; false: it is
 * gone. */
bool dt_proc_owner(long pid, uid_t *uid, uid_t *root);
bool dt_proc_awaits_signal(pid_t tid); /* a stopped thread: is there one that it gets as soon as it goes on? */
/* One number after a word of /proc/PID/status ("TracerPid:"); -1: there is none. */
long dt_proc_status(long pid, const char *word);
/* Fields of /proc/PID/stat, counted as in proc(5), from 3 on; state is its letter. False: no such
 * process. */
bool dt_proc_stat(long pid, char *state, int field, uint64_t *value);

#endif
