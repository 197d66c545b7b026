/*
 * patching: puts the jumps into the code of a process, and gets out of it again. All its threads are stopped meanwhile.
 *
 * In: a thread that stands at an instruction that is replaced continues in the copy.
 *
 * Out: the code is restored first, where it is still as we left it; from then on no thread can come in, and those that are
 * inside run out. Memory is unmapped when none is left (threads.c). What is left after a while stays mapped, and is never run
 * again.
 *
 * We may be killed between any two steps, and the threads go on from there. So a thread is moved to the copies before the
 * instructions are replaced, and back after they are restored; a jump that is only half written cannot be, since it is in one
 * page (places.c); and what is unmapped is looked up before: it may have been done already, and something else be there.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/remote.h"
#include "arch/patch.h"
#include "process/process.h"

#define PAGE	    4096ull
#define LEAVE_TURNS 200

static int refuse(const struct dt_pe_target *t, dt_error *err, const char *why)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld: %s", t->pid, why);
}

/* ---- patching ---- */

/* One patch. A breakpoint that somebody has put there since then (a uprobe) stays as it is. */
static bool exchange_one(uint8_t *page, const dt_patch *p, bool in)
{
	const uint8_t *from = in ? p->was : p->is, *to = in ? p->is : p->was;

	for (uint32_t i = 0; i < p->size; i++)
		if (page[i] != from[i] && (in || page[i] != DT_TRAP_BYTE))
			return false;
	for (uint32_t i = 0; i < p->size; i++)
		if (page[i] == from[i])
			page[i] = to[i];
	return true;
}

/* Replace bytes that are as expected, page by page: one write for all patches of a page. Those that are not stay. */
static uint32_t exchange(const struct dt_pe_target *t, bool in)
{
	uint8_t page[2 * PAGE], was[2 * PAGE];
	uint32_t failed = 0, i = 0;

	while (i < t->places->n) {
		uint64_t start = t->places->v[i]->patch.at / PAGE * PAGE;
		size_t n = dt_pe_read(t, start, page, sizeof(page));

		memcpy(was, page, n);
		for (; i < t->places->n && t->places->v[i]->patch.at - start < PAGE; i++) {
			const dt_patch *p = &t->places->v[i]->patch;
			uint64_t at = p->at - start;

			failed += at + p->size > n || !p->code_size || !exchange_one(page + at, p, in);
		}
		n = n > PAGE && memcmp(page + PAGE, was + PAGE, n - PAGE) == 0 ? PAGE : n;
		if (memcmp(page, was, n) != 0 && !dt_pe_write(t, start, page, n))
			failed++;
	}
	return failed;
}

/* Static probes with a semaphore: the program looks there whether somebody traces them. If dtrace is killed between the two
 * steps, a probe stays enabled for nothing. */
static void count_semaphores(const struct dt_pe_target *t, bool in)
{
	for (uint32_t i = 0; i < t->places->n; i++) {
		struct dt_pe_place *x = t->places->v[i];
		uint16_t n = 0;

		if (!x->semaphore || x->counted == in || dt_pe_read(t, x->semaphore, &n, sizeof(n)) != sizeof(n) || (!in && !n))
			continue;
		n = (uint16_t)(in ? n + 1 : n - 1);
		dt_pe_write(t, x->semaphore, &n, sizeof(n));
		x->counted = in;
	}
}

int dt_pe_target_patch(struct dt_pe_target *t, dt_error *err)
{
	uint32_t active = 1;

	t->in->patched = true;
	dt_pe_threads_move(t, false);
	if (exchange(t, true)) {
		exchange(t, false);
		return refuse(t, err, "its code cannot be changed");
	}
	count_semaphores(t, true);
	return dt_pe_write(t, t->in->base, &active, sizeof(active)) ? 0 : refuse(t, err, "its memory cannot be written");
}

/* ---- out ---- */

/* Is it still the program that we came into? After an exec nothing of us is there. */
static bool is_same_program(const struct dt_pe_target *t)
{
	uint8_t now[DT_REMOTE_CODE];

	return t->in->code && dt_pe_read(t, t->in->code, now, sizeof(now)) == sizeof(now) &&
	       memcmp(now, dt_remote_code, sizeof(now)) == 0;
}

/* Code of ours, all of it? */
static bool is_code(const dt_maps *maps, uint64_t start, uint64_t end)
{
	while (start && start < end) {
		const dt_mapping *m = dt_maps_find(maps, start);

		if (!m || m->kind != DT_MAP_ANON || !m->exec || m->write)
			return false;
		start = m->end;
	}
	return start != 0;
}

static bool is_shared(const struct dt_pe_target *t, const dt_maps *maps)
{
	const dt_mapping *m = t->in->shared ? dt_maps_find(maps, t->in->shared) : NULL;

	return m && m->start == t->in->shared && m->end - m->start == t->in->shared_size && strstr(m->path, t->in->name);
}

static void unmap_one(const struct dt_pe_target *t, uint64_t *start, uint64_t size)
{
	if (dt_pe_syscall(t, SYS_munmap, (uint64_t[6]){*start, size}) == 0)
		*start = 0;
}

/* The descriptor of the shared memory, if dtrace was killed before it was closed. */
static void close_file(const struct dt_pe_target *t)
{
	char path[64], link[512], want[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", t->pid);
	snprintf(want, sizeof(want), "/memfd:%s (deleted)", t->in->name);
	dir = t->in->name[0] ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = 0;
		if (strcmp(link, want) == 0)
			dt_pe_syscall(t, SYS_close, (uint64_t[6]){(uint64_t)strtol(e->d_name, NULL, 10)});
	}
	if (dir)
		closedir(dir);
}

static void unmap(const struct dt_pe_target *t)
{
	static const uint8_t nothing[DT_REMOTE_CODE];
	struct dt_pe_remains *in = t->in;
	dt_error ignored;
	dt_maps *maps = dt_maps_read(t->pid, &ignored);

	if (!maps)
		return;
	close_file(t);
	for (uint32_t i = 0; i < in->nareas; i++)
		if (is_code(maps, in->areas[i].start, in->areas[i].start + in->areas[i].size))
			unmap_one(t, &in->areas[i].start, in->areas[i].size);
	if (is_shared(t, maps))
		unmap_one(t, &in->shared, in->shared_size);
	if (in->base && is_code(maps, in->base + DT_PE_ANCHOR_SIZE, in->base + in->base_size))
		unmap_one(t, &in->base, in->base_size);
	dt_maps_free(maps);
	if (dt_pe_write(t, in->code, nothing, sizeof(nothing)))
		in->code = 0;
}

static void let_go(struct dt_pe_target *t)
{
	for (int i = 0; i < LEAVE_TURNS && !dt_hold_release(t->hold); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	dt_hold_free(t->hold);
	t->hold = NULL;
}

static void restore(struct dt_pe_target *t, uint32_t *failed)
{
	uint32_t inactive = 0;

	if (!t->in->patched)
		return;
	dt_pe_write(t, t->in->base, &inactive, sizeof(inactive));
	*failed = exchange(t, false);
	count_semaphores(t, false);
	dt_pe_threads_move(t, true);
	t->in->patched = false;
}

/* One try. 0: out; 1: somebody is inside; -1: it is gone. */
static int try_to_leave(struct dt_pe_target *t, uint32_t *failed)
{
	int error, rc = 1;

	t->hold = dt_hold_new(t->pid, &error);
	if (!t->hold)
		return -1;
	if (!dt_pe_can_call(t) || !is_same_program(t)) {
		rc = -1;
	} else {
		restore(t, failed);
		if (!dt_pe_threads_inside(t)) {
			unmap(t);
			rc = 0;
		}
	}
	let_go(t);
	return rc;
}

int dt_pe_target_leave(struct dt_pe_target *t, dt_error *err)
{
	uint32_t failed = 0;
	int rc = t->in->code ? 1 : 0;

	if (t->hold) { /* it was never released: the session does that */
		restore(t, &failed);
		if (rc && dt_pe_can_call(t))
			unmap(t);
		t->hold = NULL;
		rc = 0;
	}
	for (int i = 0; rc > 0 && i < LEAVE_TURNS; i++) {
		rc = try_to_leave(t, &failed);
		if (rc > 0)
			nanosleep(&(struct timespec){.tv_nsec = i < 20 ? 500000 : 5000000}, NULL);
	}
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	if (failed)
		return dt_err(err, EDT_NOPROBE, "pid %ld has changed its code: %u probes were not taken out", t->pid, failed);
	return 0;
}
