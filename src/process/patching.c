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
#include <errno.h>
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
#define BUSY_TURNS  100
#define LONG_NS	    500000 /* of a stop */

static int refuse(const struct dt_pe_target *t, dt_error *err, const char *why)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld: %s", t->pid, why);
}

/* ---- patching ---- */

/* One patch. Out: a breakpoint that somebody has put there since then (a uprobe) stays as it is; when one goes, the kernel puts
 * back the byte of the file. What is behind the jump was never changed by us: if the program has, that stays too. */
static bool exchange_one(uint8_t *page, const dt_patch *p, bool in)
{
	const uint8_t *from = in ? p->was : p->is, *to = in ? p->is : p->was;
	uint32_t n = in ? p->size : DT_PATCH_JUMP;

	for (uint32_t i = 0; i < n; i++)
		if (page[i] != from[i] && (in || (page[i] != to[i] && page[i] != DT_TRAP_BYTE)))
			return false;
	for (uint32_t i = 0; i < n; i++)
		if (page[i] == from[i])
			page[i] = to[i];
	return true;
}

bool dt_pe_is_there(const dt_maps *maps, const struct dt_pe_place *x)
{
	const dt_mapping *m = dt_maps_find(maps, x->patch.at);

	return m && m->kind == DT_MAP_FILE && !m->shared && m->inode == x->inode && m->offset + (x->patch.at - m->start) == x->offset;
}

/* What is exchanged in one go. */
struct exchange {
	struct dt_pe_target *t;
	struct dt_pe_place **list; /* by address */
	uint32_t n, at;
	bool in;
	dt_pe_contexts threads;
	dt_maps *maps, *all; /* all: of other than code, if need be */
	uint32_t failed, busy; /* busy: a thread sleeps at an instruction that would be replaced */
};

/* Out: a program may have made other memory of its code, with our jump in it (pages of another size). It leads to our stub: it is
 * nobody else's. */
static bool is_left_there(struct exchange *x, const struct dt_pe_place *place, const uint8_t *bytes)
{
	const dt_mapping *m;
	dt_error ignored;

	if (dt_pe_is_there(x->maps, place))
		return true;
	if (memcmp(bytes, place->patch.is, DT_PATCH_JUMP) != 0)
		return false;
	x->all = x->all ? x->all : dt_maps_read(x->t->pid, &ignored);
	m = x->all ? dt_maps_find(x->all, place->patch.at) : NULL;
	return m && !m->shared;
}

static bool exchange_place(struct exchange *x, struct dt_pe_place *place, uint8_t *bytes)
{
	const dt_patch *p = &place->patch;
	bool moved;

	if (!p->code_size || !(x->in ? dt_pe_is_there(x->maps, place) : is_left_there(x, place, bytes)) ||
	    (x->in && place->state == DT_PE_IN))
		return true;
	if (x->in) {
		moved = dt_pe_contexts_move(x->t, &x->threads, p, false);
		x->busy += !moved;
		if (moved && !exchange_one(bytes, p, true))
			return false;
		place->state = moved ? DT_PE_IN : place->state;
		return true;
	}
	if (!exchange_one(bytes, p, false))
		return place->state != DT_PE_IN;
	place->state = DT_PE_PLANNED;
	return true;
}

/*
 * All patches of a page, by one write. In: the thread moves to the copy before the bytes are replaced; out: back afterwards. We
 * may be killed in between.
 */
static void exchange_page(struct exchange *x)
{
	uint64_t start = x->list[x->at]->patch.at / PAGE * PAGE;
	uint8_t page[2 * PAGE], was[PAGE];
	size_t n = dt_pe_read(x->t, start, page, sizeof(page));
	uint32_t first = x->at;

	memcpy(was, page, sizeof(was));
	for (; x->at < x->n && x->list[x->at]->patch.at - start < PAGE; x->at++) {
		const dt_patch *p = &x->list[x->at]->patch;

		if (p->at - start + p->size <= n)
			x->failed += !exchange_place(x, x->list[x->at], page + (p->at - start));
	}
	if (n >= PAGE && memcmp(page, was, PAGE) != 0 && !dt_pe_write(x->t, start, page, PAGE))
		x->failed++;
	for (uint32_t i = first; !x->in && i < x->at; i++)
		if (x->list[i]->state == DT_PE_PLANNED)
			dt_pe_contexts_move(x->t, &x->threads, &x->list[i]->patch, true);
}

/* In as many stops as are needed. 0 or an errno. */
static int exchange(struct exchange *x)
{
	dt_error ignored;
	int error = 0;

	while (x->at < x->n && !error) {
		error = dt_pe_stop(x->t, BUSY_TURNS);
		if (error)
			break;
		x->maps = dt_maps_code(x->t->pid, &ignored);
		x->all = NULL;
		if (!x->maps) {
			dt_pe_go_on(x->t);
			return ESRCH;
		}
		dt_pe_contexts_find(x->t, &x->threads);
		do
			exchange_page(x); /* one at least */
		while (x->at < x->n && (x->t->theirs || dt_now() - x->t->since < LONG_NS));
		dt_pe_go_on(x->t);
		dt_maps_free(x->maps);
		dt_maps_free(x->all);
		dt_vec_free(&x->threads);
	}
	return error;
}
/* ---- semaphores ---- */

static bool has_semaphore(const dt_maps *maps, const struct dt_pe_place *x)
{
	const dt_mapping *m = x->semaphore ? dt_maps_find(maps, x->semaphore) : NULL;

	return m && m->kind == DT_MAP_FILE && !m->shared && m->inode == x->inode &&
	       m->offset + (x->semaphore - m->start) == x->semaphore_at;
}

/* Static probes with a semaphore: the program looks there whether somebody traces them. If dtrace is killed between the two
 * steps, a probe stays enabled for nothing. The process is stopped. */
static void count_semaphores(const struct dt_pe_target *t, bool in)
{
	dt_maps *maps = NULL;
	dt_error ignored;

	for (uint32_t i = 0; i < t->places->memory->n; i++) {
		struct dt_pe_place *x = &t->places->v[i];
		uint16_t n = 0;

		if (!x->semaphore || x->counted == in || (in && x->state != DT_PE_IN))
			continue;
		maps = maps ? maps : dt_maps_read(t->pid, &ignored);
		if (!maps)
			return;
		if (!has_semaphore(maps, x) || dt_pe_read(t, x->semaphore, &n, sizeof(n)) != sizeof(n) || (!in && !n))
			continue;
		n = (uint16_t)(in ? n + 1 : n - 1);
		dt_pe_write(t, x->semaphore, &n, sizeof(n));
		x->counted = in;
	}
	dt_maps_free(maps);
}

static bool any_semaphore(const struct dt_pe_target *t, bool in)
{
	for (uint32_t i = 0; i < t->places->memory->n; i++)
		if (t->places->v[i].semaphore && t->places->v[i].counted != in)
			return true;
	return false;
}

/* ---- in ---- */

static int put_in(struct dt_pe_target *t, struct exchange *x, dt_error *err)
{
	int error = 0;

	dt_pe_places_sort(t->places);
	for (int i = 0; i < BUSY_TURNS && !error; i++) {
		*x = (struct exchange){.t = t, .list = t->places->order.v, .n = t->places->order.n, .in = true};
		error = exchange(x);
		if (!x->busy || x->failed || t->theirs)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	if (error)
		return refuse(t, err, error == EBUSY ? "another process runs in its memory, or it cannot be stopped" : "it cannot be stopped");
	if (x->busy)
		return refuse(t, err, "a thread sleeps at an instruction that would be replaced");
	return x->failed ? refuse(t, err, "its code cannot be changed") : 0;
}

int dt_pe_target_patch(struct dt_pe_target *t, dt_error *err)
{
	uint32_t active = 1;
	struct exchange x;

	t->in->patched = true;
	if (put_in(t, &x, err) < 0)
		return -1;
	if (any_semaphore(t, true)) {
		if (dt_pe_stop(t, BUSY_TURNS))
			return refuse(t, err, "it cannot be stopped");
		count_semaphores(t, true);
		dt_pe_go_on(t);
	}
	return dt_pe_write(t, t->in->base, &active, sizeof(active)) ? 0 : refuse(t, err, "its memory cannot be written");
}

/* ---- out ---- */

static int by_address(const void *a, const void *b)
{
	const dt_patch *x = &(*(struct dt_pe_place *const *)a)->patch, *y = &(*(struct dt_pe_place *const *)b)->patch;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Also where code was not mapped when it was last looked at: it may be again, with our jump. */
static int take_out(struct dt_pe_target *t, uint32_t *failed)
{
	uint32_t inactive = 0, n = t->places->memory->n;
	struct exchange x = {.t = t};
	int error;

	if (!t->in->patched)
		return 0;
	dt_pe_write(t, t->in->base, &inactive, sizeof(inactive));
	x.list = dt_xmalloc((n + 1ull) * sizeof(struct dt_pe_place *));
	for (uint32_t i = 0; i < n; i++)
		if (t->places->v[i].state != DT_PE_NONE)
			x.list[x.n++] = &t->places->v[i];
	qsort(x.list, x.n, sizeof(struct dt_pe_place *), by_address);
	error = exchange(&x);
	free(x.list);
	if (error)
		return error;
	*failed = x.failed;
	if (any_semaphore(t, false) && dt_pe_stop(t, BUSY_TURNS) == 0) {
		count_semaphores(t, false);
		dt_pe_go_on(t);
	}
	t->in->patched = false;
	return 0;
}

/* After a failure: does the program still come to a stub of ours? Then it must stay. */
static bool leads_in(const struct dt_pe_target *t)
{
	uint8_t now[DT_PATCH_JUMP];

	for (uint32_t i = 0; i < t->places->memory->n; i++) {
		const struct dt_pe_place *x = &t->places->v[i];

		if (x->state != DT_PE_NONE && x->patch.code_size && dt_pe_read(t, x->patch.at, now, sizeof(now)) == sizeof(now) &&
		    memcmp(now, x->patch.is, sizeof(now)) == 0)
			return true;
	}
	return false;
}

bool dt_pe_is_same_program(const struct dt_pe_target *t)
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

static int unmap(struct dt_pe_target *t)
{
	static const uint8_t nothing[DT_REMOTE_CODE];
	struct dt_pe_remains *in = t->in;
	dt_error ignored;
	dt_maps *maps = dt_maps_read(t->pid, &ignored);
	int error = 0;

	if (!maps)
		return ESRCH;
	close_file(t);
	for (uint32_t i = 0; i < in->nareas && !error; i++) {
		if (is_code(maps, in->areas[i].start, in->areas[i].start + in->areas[i].size))
			unmap_one(t, &in->areas[i].start, in->areas[i].size);
		error = dt_pe_breathe(t);
	}
	if (!error && is_shared(t, maps))
		unmap_one(t, &in->shared, in->shared_size);
	if (!error && in->base && is_code(maps, in->base + DT_PE_ANCHOR_SIZE, in->base + in->base_size))
		unmap_one(t, &in->base, in->base_size);
	dt_maps_free(maps);
	if (!error && dt_pe_write(t, in->code, nothing, sizeof(nothing)))
		in->code = 0;
	return error;
}

/* One try. 0: out, or nothing is left to do; EBUSY: somebody is inside. */
static int try_to_leave(struct dt_pe_target *t, uint32_t *failed)
{
	int error = 0;

	if (!dt_pe_is_same_program(t)) /* or it is gone */
		return 0;
	error = take_out(t, failed);
	if (!error)
		error = dt_pe_stop(t, 1);
	if (error)
		return error == ESRCH ? 0 : error;
	if (!dt_pe_is_same_program(t) || !dt_pe_can_call(t))
		error = 0;
	else
		error = (*failed && leads_in(t)) || dt_pe_threads_inside(t) ? EBUSY : unmap(t);
	dt_pe_go_on(t);
	return error;
}

int dt_pe_target_leave(struct dt_pe_target *t, dt_error *err)
{
	uint32_t failed = 0;
	int error = t->in->code && t->mem >= 0 ? EBUSY : 0;

	for (int i = 0; error && i < LEAVE_TURNS; i++) {
		error = try_to_leave(t, &failed);
		if (error)
			nanosleep(&(struct timespec){.tv_nsec = i < 20 ? 500000 : 5000000}, NULL);
	}
	for (int i = 0; i < LEAVE_TURNS && dt_pe_late(t); i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	if (t->in->patched && error)
		return dt_err(err, EDT_NOPROBE, "pid %ld cannot be stopped: its probes were not taken out", t->pid);
	if (failed)
		return dt_err(err, EDT_NOPROBE, "pid %ld has changed its code: %u probes were not taken out", t->pid, failed);
	return 0;
}
