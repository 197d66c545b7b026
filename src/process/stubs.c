/*
 * stubs: memory for stubs near the code, and the stubs. They are planned, and written, while the target runs: nothing leads there
 * before the code is patched. It is stopped only to map the memory.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "process/process.h"

#define PAGE	4096ull
#define REACH	0x70000000ull /* a jump goes 2 GB; the rest is for distances inside the object */
#define GAP	0x10000ull    /* between what is there and what we map */
#define SPARE	(64 * PAGE)   /* of an area, for probes that come later */
#define ENTRY	64	      /* the first word of an area is the address of the runtime; then come stubs */
#define ALIGN	16
#define TRIES	4
#define TOP	(1ull << 47) /* of user addresses */

static int refuse(const struct dt_pe_target *t, dt_error *err, const char *why)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld: %s", t->pid, why);
}

/* ---- room ---- */

struct range {
	uint64_t start, end;
	bool grows; /* the heap, upwards */
};
typedef DT_VEC(struct range) range_vec;

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void find_ranges(const struct dt_pe_target *t, const dt_maps *maps, range_vec *all)
{
	for (uint32_t i = 0; i < maps->n; i++)
		*dt_vec_add(all, NULL) = (struct range){maps->v[i].start, maps->v[i].end, maps->v[i].kind == DT_MAP_HEAP};
	for (uint32_t i = 0; i < t->in->nareas; i++)
		*dt_vec_add(all, NULL) = (struct range){t->in->areas[i].start, t->in->areas[i].start + t->in->areas[i].size, false};
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_start);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Free memory as near as possible; not where the heap grows. 0: there is none. */
static uint64_t find_gap(const range_vec *all, uint64_t near, uint64_t size)
{
	uint64_t best = 0, low = 0x10000;
	bool heap = false;

	for (uint32_t i = 0; i <= all->n; i++) {
		uint64_t high = i < all->n ? all->v[i].start : low + (1ull << 40), at;

		high = high < TOP ? high : TOP;
		if (low < high && high - low >= size + 2 * GAP) {
			at = low > near ? low + GAP : high - GAP - size;
			if (!(low > near && heap) && distance(at, near) < REACH && (!best || distance(at, near) < distance(best, near)))
				best = at;
		}
		if (i < all->n && all->v[i].end > low) {
			low = all->v[i].end;
			heap = all->v[i].grows;
		}
	}
	return best;
}

static uint32_t room_of(const dt_patch *p)
{
	return (uint32_t)dt_align_up(p->code_size, ALIGN);
}

static bool take_room(struct dt_pe_area *a, dt_patch *p)
{
	if (distance(a->start, p->at) >= REACH || a->size - a->used < room_of(p))
		return false;
	p->entry = a->start;
	p->stub = a->start + a->used;
	a->used += room_of(p);
	return true;
}

/* What the stubs of the places from here on need. */
static uint64_t rooms_after(const dt_pe_places *all, uint32_t from)
{
	uint64_t sum = 0;

	for (uint32_t i = from; i < all->order.n && all->order.v[i]->patch.at - all->order.v[from]->patch.at < REACH / 2; i++)
		sum += all->order.v[i]->patch.stub ? 0 : room_of(&all->order.v[i]->patch);
	return sum;
}

/* In an area that is there, or in one that will be, with room for the places from this one on. */
static bool find_room(struct dt_pe_target *t, const dt_maps *maps, dt_patch *p, uint32_t from)
{
	struct dt_pe_remains *in = t->in;
	range_vec all = {0};
	uint64_t size, at;

	for (uint32_t i = in->nareas; i-- > 0;)
		if (take_room(&in->areas[i], p))
			return true;
	size = dt_align_up(ENTRY + room_of(p) + rooms_after(t->places, from), PAGE) + SPARE;
	find_ranges(t, maps, &all);
	at = in->nareas < DT_NELEM(in->areas) ? find_gap(&all, p->at, size) : 0;
	dt_vec_free(&all);
	if (!at)
		return false;
	in->areas[in->nareas] = (struct dt_pe_area){.start = at, .size = size, .used = ENTRY};
	return take_room(&in->areas[in->nareas++], p);
}

/* ---- mapping it ---- */

/* Something else has come there: none of its stubs has a place any more. */
static void forget(struct dt_pe_target *t, struct dt_pe_area *a)
{
	for (uint32_t i = 0; i < t->places->order.n; i++) {
		dt_patch *p = &t->places->order.v[i]->patch;

		if (p->entry == a->start)
			p->stub = p->entry = 0;
	}
	*a = (struct dt_pe_area){0};
}

/* 1: some could not be mapped where they were planned. */
static int map_areas(struct dt_pe_target *t, uint32_t first, dt_error *err)
{
	uint64_t runtime = t->in->base + DT_PE_ANCHOR_SIZE;
	int rc = 0;

	if (first == t->in->nareas)
		return 0;
	if (dt_pe_stop(t, DT_PE_TRIES))
		return refuse(t, err, "it cannot be stopped");
	for (uint32_t i = first; i < t->in->nareas && rc >= 0; i++) {
		struct dt_pe_area *a = &t->in->areas[i];

		if (!dt_pe_map(t, a->start, a->size)) {
			forget(t, a);
			rc = 1;
		} else if (!dt_pe_write(t, a->start, &runtime, sizeof(runtime))) {
			rc = refuse(t, err, "its memory cannot be written");
		}
		if (dt_pe_breathe(t))
			return refuse(t, err, "it cannot be stopped");
	}
	dt_pe_go_on(t);
	return rc;
}

static int plan(struct dt_pe_target *t, const dt_maps *maps, dt_error *err)
{
	const dt_pe_places *all = t->places;
	uint32_t first = t->in->nareas;

	for (uint32_t i = 0; i < all->order.n; i++) {
		dt_patch *p = &all->order.v[i]->patch;
		bool far = p->stub && distance(p->stub, p->at) >= REACH;

		if (!p->stub || far) {
			p->stub = 0;
			if (!find_room(t, maps, p, i))
				return refuse(t, err, "no memory near its code");
		}
	}
	return map_areas(t, first, err);
}

/* ---- writing stubs ---- */

/* They are next to each other: one write for many. */
struct run {
	uint64_t at;
	size_t n;
	uint8_t bytes[64 << 10];
};

static bool flush(const struct dt_pe_target *t, struct run *r)
{
	bool ok = !r->n || dt_pe_write(t, r->at, r->bytes, r->n);

	r->n = 0;
	return ok;
}

static bool put(const struct dt_pe_target *t, struct run *r, const dt_patch *p)
{
	if ((r->n && r->at + r->n != p->stub) || r->n + room_of(p) > sizeof(r->bytes))
		if (!flush(t, r))
			return false;
	if (!r->n)
		r->at = p->stub;
	memset(r->bytes + r->n, DT_TRAP_BYTE, room_of(p));
	memcpy(r->bytes + r->n, p->code, p->code_size);
	r->n += room_of(p);
	return true;
}

static const char *make(struct dt_pe_target *t, struct run *r, struct dt_pe_place *x)
{
	const char *why = dt_patch_make(&x->patch);

	if (!why && !put(t, r, &x->patch))
		why = "its memory cannot be written";
	x->made = !why;
	return why;
}

/* running: those that nothing leads to yet. The others have another site, and the target is stopped. */
static const char *write_stubs(struct dt_pe_target *t, bool running, uint32_t *left)
{
	struct run *r = dt_xcalloc(1, sizeof(*r));
	const char *why = NULL;

	*left = 0;
	for (uint32_t i = 0; i < t->places->order.n && !why; i++) {
		struct dt_pe_place *x = t->places->order.v[i];
		bool later = running && x->state == DT_PE_IN;

		*left += !x->made && later;
		if (!x->made && !later)
			why = make(t, r, x);
	}
	if (!flush(t, r) && !why)
		why = "its memory cannot be written";
	free(r);
	return why;
}

static const char *write_all(struct dt_pe_target *t)
{
	uint32_t left;
	const char *why = write_stubs(t, true, &left);

	if (why || !left)
		return why;
	if (dt_pe_stop(t, DT_PE_TRIES))
		return "it cannot be stopped";
	why = write_stubs(t, false, &left);
	dt_pe_go_on(t);
	return why;
}

int dt_pe_target_stubs(struct dt_pe_target *t, dt_error *err)
{
	const char *why;
	int rc = 1;

	dt_pe_places_sort(t->places);
	for (int i = 0; rc > 0 && i < TRIES; i++) {
		dt_maps *maps = dt_maps_read(t->pid, err);

		rc = maps ? plan(t, maps, err) : -1;
		dt_maps_free(maps);
	}
	if (rc < 0)
		return -1;
	why = rc > 0 ? "no memory near its code" : write_all(t);
	return why ? refuse(t, err, why) : 0;
}

int dt_pe_target_sample(struct dt_pe_target *t, uint64_t site, uint64_t *stub, dt_error *err)
{
	dt_patch p = {.at = t->in->base, .site = site, .code_size = DT_STUB_MAX};
	dt_maps *maps = dt_maps_read(t->pid, err);
	uint32_t first = t->in->nareas;
	const char *why = NULL;
	bool room = maps && find_room(t, maps, &p, t->places->order.n);

	dt_maps_free(maps);
	if (!room || map_areas(t, first, err) != 0)
		why = "no memory near the runtime";
	why = why ? why : dt_patch_sample(&p);
	if (!why && !dt_pe_write(t, p.stub, p.code, p.code_size))
		why = "its memory cannot be written";
	*stub = p.stub;
	return why ? refuse(t, err, why) : 0;
}
