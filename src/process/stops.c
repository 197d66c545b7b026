/*
 * stops: the target is stopped by ptrace while it is changed, for less than a millisecond at a time. What takes longer is done in
 * several stops (dt_pe_breathe). While tracing begins for a command of -c, the session holds it, and it has all the time.
 *
 * It is not stopped as long as another process runs in its memory: a child of vfork() that has not called exec yet, for which
 * ptrace would have to be asked as well. A thread that sleeps where it cannot be stopped counts as stopped if the kernel tells
 * where it is: it stops before its next instruction.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"

#define STOP_NS	   1000000 /* for a thread that sleeps: it may wake up */
#define LONG_NS	   400000  /* of a stop: time to breathe */
#define RELEASE_MS 100

static void nap(long ns)
{
	nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

/* ---- who else is in its memory ---- */

static bool is_same_memory(long a, long b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

static bool has_such_child(long pid, long tid)
{
	char path[64], *text, *at;
	bool has = false;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, tid);
	text = dt_slurp(-1, path, &n);
	for (at = text; at && *at && !has;) {
		char *end;
		long child = strtol(at, &end, 10);

		has = end != at && is_same_memory(pid, child);
		at = end != at ? end : NULL;
	}
	free(text);
	return has;
}

static bool shares_memory(const struct dt_pe_target *t)
{
	uint64_t parent = 0;

	for (uint32_t i = 0; i < t->hold->threads.n; i++)
		if (has_such_child(t->pid, t->hold->threads.v[i].tid))
			return true;
	return dt_proc_stat(t->pid, &(char){0}, 4, &parent) && parent > 1 && is_same_memory(t->pid, (long)parent);
}

/* ---- stopping ---- */

/* A thread that sleeps: "number arguments... sp pc", or "-1 sp pc". */
bool dt_pe_sleeper(const struct dt_pe_target *t, pid_t tid, uint64_t *pc, uint64_t *sp)
{
	char path[64], *text, *at;
	uint64_t word[10];
	unsigned n = 0;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%ld/task/%d/syscall", t->pid, (int)tid);
	text = dt_slurp(-1, path, &size);
	for (at = text; at && n < DT_NELEM(word); n++) {
		char *end;

		word[n] = strtoull(at, &end, 0);
		if (end == at)
			break;
		at = end;
	}
	free(text);
	if (n < 3)
		return false;
	*sp = word[n - 2];
	*pc = word[n - 1];
	return true;
}

static bool knows_all(const struct dt_pe_target *t)
{
	uint64_t pc, sp;

	for (uint32_t i = 0; i < t->hold->threads.n; i++)
		if (!t->hold->threads.v[i].stopped && !dt_pe_sleeper(t, t->hold->threads.v[i].tid, &pc, &sp))
			return false;
	return true;
}

/* What is still attached stops when it wakes up, and is detached later: dt_pe_late(). */
static void release(struct dt_pe_target *t)
{
	if (dt_hold_release(t->hold)) {
		dt_hold_free(t->hold);
		t->late = NULL;
	} else {
		t->late = t->hold;
	}
	t->hold = NULL;
}

bool dt_pe_late(struct dt_pe_target *t)
{
	if (!t->late || t->hold)
		return false;
	t->hold = t->late;
	release(t);
	return t->late != NULL;
}

/* 0; ESRCH: it is gone; EBUSY: not now; or why not at all. */
static int try_to_stop(struct dt_pe_target *t)
{
	int error = 0;

	t->since = dt_now();
	if (t->late) {
		t->hold = t->late;
		t->late = NULL;
		t->hold->patience = STOP_NS;
		error = dt_hold_threads(t->hold);
		if (!error && !t->hold->threads.n)
			error = ESRCH;
	} else {
		t->hold = dt_hold_within(t->pid, STOP_NS, &error);
	}
	if (!t->hold)
		return error ? error : ESRCH;
	if (!error && (!knows_all(t) || shares_memory(t) || !dt_pe_can_call(t)))
		error = EBUSY;
	if (error)
		release(t);
	return error;
}

/* It runs for as long as it was stopped before, or LONG_NS: else two stops are one for a thread that is not back in its code yet. */
static void let_it_run(const struct dt_pe_target *t)
{
	uint64_t now = dt_now();

	if (now < t->rests)
		nap((long)(t->rests - now));
}

int dt_pe_stop(struct dt_pe_target *t, int tries)
{
	int error = EBUSY;

	if (t->hold)
		return 0;
	let_it_run(t);
	for (int i = 0; i < tries; i++) {
		pthread_mutex_lock(&t->tracing);
		dt_hurry(true);
		error = try_to_stop(t);
		if (!error)
			return 0;
		dt_hurry(false);
		pthread_mutex_unlock(&t->tracing);
		if (error == ESRCH)
			break;
		nap(i < 10 ? 500000 : 5000000);
	}
	return error;
}

void dt_pe_go_on(struct dt_pe_target *t)
{
	uint64_t took;

	if (!t->hold || t->theirs)
		return;
	release(t);
	took = dt_now() - t->since;
	t->rests = dt_now() + (took < LONG_NS ? took : LONG_NS);
	for (int i = 0; i < RELEASE_MS && dt_pe_late(t); i++)
		nap(1000000);
	dt_hurry(false);
	pthread_mutex_unlock(&t->tracing);
}

int dt_pe_breathe(struct dt_pe_target *t)
{
	if (t->theirs || dt_now() - t->since < LONG_NS)
		return 0;
	dt_pe_go_on(t);
	return dt_pe_stop(t, 200);
}
