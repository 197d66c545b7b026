/*
 * ring: reads records from the kernel's ring buffers, in order of time.
 *
 * Each CPU has a ring buffer, or shares one; records are passed on in place, then the space is
 * released. A firing takes its time stamp when it begins and writes its record when it ends. So
 * during tracing this picks a moment T, waits until every firing in progress has ended, and returns
 * exactly the records up to T: no record that comes later can be older.
 *
 * Speculations: their records come through the same buffers, marked; they are kept here until the
 * marker of a commit or a discard arrives (in order of time like everything else). With the ring
 * policy only speculative records use these buffers; committed ones are kept until all others are
 * read at the end (tail.c).
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bpf/run/kmap.h"
#include "bpf/run/ring.h"

struct dt_reader {
	struct ring {
		uint64_t *consumer, *producer;
		uint8_t *data;
		uint64_t mask;
		dt_buf joined; /* a record that continues at the start of the buffer, in one piece */
	} * ring;		/* NULL: there are none */
	struct dt_tail *tail;	/* ring policy */
	bool delivered;		/* what was in it */
	uint64_t *wake, *woken; /* consumer's and producer's position of the wake-up's buffer */
};

/* ---- mapping ---- */

static int map_ring(struct ring *r, const struct dt_cpu_buffer *b, dt_error *err)
{
	uint8_t *p;

	r->mask = b->mask;
	r->consumer = dt_kmap_memory(b->fd, dt_page_size(), 0, true, err);
	/* the kernel would map the data twice, so that no record is in two pieces; but then the
	 * process looks twice as large */
	p = dt_kmap_memory(b->fd, dt_page_size() + b->mask + 1, 1, false, err);
	if (p) {
		r->producer = (uint64_t *)(void *)p;
		r->data = p + dt_page_size();
	}
	return r->consumer && p ? 0 : -1;
}

static int map_wakeup(dt_bpf *e, dt_error *err)
{
	struct dt_reader *r = e->reader;

	if (e->maps.wake < 0)
		return 0;
	r->wake = dt_kmap_memory(e->maps.wake, dt_page_size(), 0, true, err);
	r->woken = dt_kmap_memory(e->maps.wake, dt_page_size(), 1, false, err);
	return r->wake && r->woken ? 0 : -1;
}

int dt_rings_map(dt_bpf *e, dt_error *err)
{
	struct dt_reader *r = e->reader = dt_xcalloc(1, sizeof(*r));

	e->kept = dt_kept_new(e->plan.ncpus, e->plan.nspecs);
	if (e->maps.tail && !(r->tail = dt_tail_map(e, err)))
		return -1;
	if (e->maps.ring)
		r->ring = dt_xcalloc(e->maps.nrings, sizeof(*r->ring));
	for (uint32_t i = 0; r->ring && i < e->maps.nrings; i++)
		if (map_ring(&r->ring[i], &e->maps.ring[i], err) < 0)
			return -1;
	return map_wakeup(e, err);
}

void dt_rings_free(dt_bpf *e)
{
	struct dt_reader *r = e->reader;

	dt_kept_free(e->kept);
	e->kept = NULL;
	if (!r)
		return;
	dt_kmap_unmap(r->wake, dt_page_size());
	dt_kmap_unmap(r->woken, dt_page_size());
	dt_tail_free(e, r->tail);
	for (uint32_t i = 0; r->ring && i < e->maps.nrings; i++) {
		dt_kmap_unmap(r->ring[i].consumer, dt_page_size());
		dt_kmap_unmap(r->ring[i].producer, dt_page_size() + r->ring[i].mask + 1);
		dt_buf_free(&r->ring[i].joined);
	}
	free(r->ring);
	free(r);
	e->reader = NULL;
}

/* ---- being woken ---- */

/* From now on it may be woken again. The contents of the wake-up's own buffer have no meaning. */
static void take_wakeup(dt_bpf *e)
{
	struct dt_reader *r = e->reader;

	if (!r->wake)
		return;
	__atomic_store_n(dt_control(e, CTL_WOKEN), 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(r->wake, __atomic_load_n(r->woken, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

bool dt_ring_attend(dt_bpf *e)
{
	struct dt_reader *r = e->reader;

	if (!r->wake)
		return false;
	__atomic_store_n(r->wake, __atomic_load_n(r->woken, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	dt_tables_feed(e);
	return __atomic_load_n(dt_control(e, CTL_WOKEN), __ATOMIC_ACQUIRE);
}

bool dt_ring_is_eager(const dt_bpf *e, bool *awake)
{
	if (!e->reader->wake || !e->plan.buffers.eager || !dt_layout_wakes_early(&e->plan, &e->needs))
		return false;
	*awake = __atomic_load_n(dt_control(e, CTL_AWAKE), __ATOMIC_ACQUIRE);
	return true;
}

/* The next record wakes us; unless one has come since we looked. */
static void fall_asleep(dt_bpf *e)
{
	__atomic_store_n(dt_control(e, CTL_AWAKE), 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < e->maps.nrings; i++) {
		const struct ring *r = &e->reader->ring[i];

		if (__atomic_load_n(r->producer, __ATOMIC_SEQ_CST) != *r->consumer)
			__atomic_store_n(dt_control(e, CTL_AWAKE), 1, __ATOMIC_SEQ_CST);
	}
}

/* ---- waiting for firings in progress ---- */

#define QUIESCE_SPINS 100

/*
 * A firing takes microseconds, but its task may be preempted and wait for its CPU on a busy
 * machine, or wait for memory that is read from a slow device. The interval grows each time; false:
 * it took too long.
 */
static bool be_patient(uint32_t turn, uint64_t patience, uint64_t *give_up)
{
	if (turn < QUIESCE_SPINS)
		return true;
	if (turn < 2 * QUIESCE_SPINS)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	if (!*give_up)
		*give_up = dt_now() + patience;
	return dt_now() < *give_up;
}

bool dt_ring_quiesce(dt_bpf *e, uint64_t patience)
{
	uint64_t give_up = 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < e->plan.ncpus; i++)
		for (uint32_t k = 0; k < e->at.nslots; k++) {
			uint64_t *busy = dt_cpu_word(e, i, CPU_BUSY + k * 8);

			for (uint32_t n = 0; __atomic_load_n(busy, __ATOMIC_ACQUIRE); n++)
				if (!be_patient(n, patience, &give_up))
					return false;
		}
	return true;
}

/* ---- passing records on ---- */

/* Which part of its clause a record is; NULL: none. */
static const dt_record_part *part_of(const dt_bpf *e, const struct dt_rec *r)
{
	const dt_record_plan *p =
	    r->clause < e->plan.clauses.n ? &e->plan.clauses.v[r->clause].record : NULL;
	uint64_t part = 0;

	if (!p || REC_TYPE(r) != REC_DATA)
		return NULL;
	if (p->has_control)
		part = ((const struct dt_part_rec *)r)->part;
	return part < p->nparts ? &p->parts[part] : NULL;
}

/* What a record takes of bufsize. */
uint32_t dt_ring_cost(const dt_bpf *e, const struct dt_rec *r)
{
	const dt_record_part *part = part_of(e, r);

	return REC_TYPE(r) == REC_FAULT ? DT_FAULT_COST : part ? part->cost : 0;
}

struct delivery {
	dt_bpf *e;
	const dt_sink *sink;
	dt_datum *values;
	int rc;
};

static void fill_values(const struct dt_plan_clause *x, const dt_record_part *part,
			const struct dt_rec *r, uint32_t size, dt_datum *values)
{
	const uint8_t *base = (const uint8_t *)r;

	for (uint32_t i = part->first; i < part->first + part->nactions; i++) {
		const struct dt_plan_action *p = &x->plan[i];
		uint32_t at = p->offset;

		values[i] = (dt_datum){0};
		if (p->what->role != DT_ROLE_DATA)
			continue;
		if (p->what->is_string) {
			memcpy(&at, base + p->offset, 4);
			if (at >= size)
				continue;
			values[i].data = base + at;
			values[i].size =
			    (uint32_t)strnlen((const char *)base + at, size - at - 1) + 1;
		} else {
			values[i].data = base + at;
			values[i].size = x->c->actions[i].size;
		}
	}
}

static void deliver(struct delivery *d, const struct dt_rec *r, uint32_t size, uint32_t cpu,
		    uint64_t time)
{
	dt_bpf *e = d->e;
	const struct dt_plan_clause *x =
	    r->clause < e->plan.clauses.n ? &e->plan.clauses.v[r->clause] : NULL;
	const dt_ecb *ecb = x && r->probe < e->plan.probes.n ? x->ecbs[r->probe] : NULL;
	const dt_record_part *part = part_of(e, r);
	dt_record out = {.ecb = ecb, .cpu = cpu, .timestamp = time};
	dt_fault fault;

	if (!ecb || d->rc)
		return;
	if (REC_TYPE(r) == REC_FAULT) {
		const struct dt_fault_rec *f = (const struct dt_fault_rec *)r;

		fault = (dt_fault){.epid = ecb->epid,
				   .action = f->action,
				   .offset = f->offset,
				   .code = f->code,
				   .absent = f->absent && f->code == DT_FLT_BADADDR,
				   .value = f->value};
		out.fault = &fault;
	} else if (part) {
		fill_values(x, part, r, size, d->values);
		out.values = d->values;
		out.first = part->first;
		out.nactions = part->nactions;
		out.continues = r->type & REC_MORE;
	} else {
		return;
	}
	d->rc = d->sink->record(d->sink->arg, &out);
}

/* A record that counts: it is passed on, now or at the end. */
static void take(struct delivery *d, const struct dt_rec *r, uint32_t size, uint32_t cpu,
		 uint64_t time)
{
	if (d->e->plan.buffers.policy == DT_BUFPOLICY_RING)
		dt_kept_newest(d->e, r, size, cpu, time);
	else
		deliver(d, r, size, cpu, time);
}

static void handle(struct delivery *d, const struct dt_rec *r, uint32_t size, uint32_t cpu)
{
	struct dt_kept_rec *k;

	switch (REC_TYPE(r)) {
	case REC_COMMIT:
	case REC_DISCARD:
		while ((k = dt_kept_end(d->e, r))) {
			if (REC_TYPE(r) == REC_COMMIT)
				take(d, k->rec, k->size, k->cpu, r->time);
			free(k);
		}
		return;
	default:
		if (r->spec)
			dt_kept_speculate(d->e, r, size, cpu);
		else
			take(d, r, size, cpu, r->time);
	}
}

/* ---- reading ---- */

struct item {
	uint64_t time;
	const struct dt_rec *rec;
	uint32_t size, cpu;
};
typedef DT_VEC(struct item) items;

/* The record of `len` bytes whose header is at position `at`. At most one in a ring continues at its
 * start. */
static const struct dt_rec *record_at(struct ring *r, uint64_t at, uint32_t len)
{
	uint64_t from = (at & r->mask) + BPF_RINGBUF_HDR_SZ, here = r->mask + 1 - from;

	if (len <= here)
		return (const struct dt_rec *)(const void *)(r->data + from);
	r->joined.n = 0;
	dt_buf_add(&r->joined, r->data + from, here);
	dt_buf_add(&r->joined, r->data, len - here);
	return (const struct dt_rec *)(const void *)r->joined.s;
}

/*
 * Add the records of one ring up to time `until`; returns where the next one begins. After a record
 * that must wait there can be an older one, of a firing that the other's interrupted: it must also
 * wait, and *stray becomes its time if that is earlier.
 */
static uint64_t collect(struct ring *r, uint64_t until, items *out, uint64_t *stray)
{
	uint64_t at = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE), stop = UINT64_MAX;
	uint64_t end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);

	while (at < end) {
		const uint32_t *head = (const uint32_t *)(const void *)(r->data + (at & r->mask));
		uint32_t len = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		const struct dt_rec *rec;

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			rec = record_at(r, at, len);
			if (rec->time > until && stop == UINT64_MAX)
				stop = at;
			if (stop == UINT64_MAX)
				*dt_vec_add(out, NULL) = (struct item){rec->time, rec, len, rec->cpu};
			else if (rec->time < *stray)
				*stray = rec->time;
		}
		len &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		at += dt_align_up(len + BPF_RINGBUF_HDR_SZ, 8);
	}
	return stop < at ? stop : at;
}

/* Records of one ring are in order except for firings that overlap: a short insertion sort. */
static void sort_nearly(struct item *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct item x = v[i];
		uint32_t k = i;

		for (; k && v[k - 1].time > x.time; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Merge neighbouring sorted runs until one is left; run i is v[start[i]] .. v[start[i + 1]]. */
static void merge_runs(items *all, uint32_t *start, uint32_t nruns)
{
	struct item *from = all->v, *to;

	if (nruns < 2 || all->n == 0)
		return;
	to = dt_xmalloc((all->n + 1) * sizeof(*to));
	while (nruns > 1) {
		uint32_t runs = 0;
		struct item *swap;

		for (uint32_t i = 0; i < nruns; i += 2) {
			uint32_t a = start[i], mid = i + 1 < nruns ? start[i + 1] : all->n;
			uint32_t end = i + 2 < nruns ? start[i + 2] : all->n, b = mid, o = a;

			start[runs++] = a;
			while (a < mid || b < end)
				to[o++] = b == end || (a < mid && from[a].time <= from[b].time)
					      ? from[a++]
					      : from[b++];
		}
		nruns = runs;
		swap = from;
		from = to;
		to = swap;
	}
	if (from != all->v)
		memcpy(all->v, from, all->n * sizeof(*from));
	free(from == all->v ? to : from);
}

struct adder {
	items *to;
	uint32_t cpu;
};

static void add_item(void *arg, const struct dt_rec *r, uint32_t size)
{
	struct adder *a = arg;

	*dt_vec_add(a->to, NULL) = (struct item){r->time, r, size, a->cpu};
}

/* The CPU's circle, oldest first */
static void add_tail(const dt_bpf *e, uint32_t cpu, items *all)
{
	uint32_t first = all->n;

	dt_tail_read(e, e->reader->tail, cpu, add_item, &(struct adder){all, cpu});
	for (uint32_t i = first, k = all->n; i < k--; i++) {
		struct item x = all->v[i];

		all->v[i] = all->v[k];
		all->v[k] = x;
	}
	if (all->n > first)
		sort_nearly(all->v + first, all->n - first);
}

/* Drop (size 0) records that do not fit into bufsize bytes of their CPU, and older ones. */
static void forget_oldest(const dt_bpf *e, items *all)
{
	uint64_t *left = dt_xcalloc(e->plan.ncpus, sizeof(*left));

	for (uint32_t i = 0; i < e->plan.ncpus; i++)
		left[i] = e->plan.buffers.size;
	for (uint32_t i = all->n; i-- > 0;) {
		struct item *x = &all->v[i];
		uint32_t cost = dt_ring_cost(e, x->rec);

		if (cost > left[x->cpu]) {
			left[x->cpu] = 0;
			x->size = 0;
		} else {
			left[x->cpu] -= cost;
		}
	}
	free(left);
}

/* The ring policy, at the end: what is in the circles, and what was committed. */
static void deliver_newest(struct delivery *d)
{
	dt_bpf *e = d->e;
	uint32_t *starts = dt_xcalloc(2 * e->plan.ncpus, sizeof(*starts));
	items all = {0};

	for (uint32_t i = 0; i < e->plan.ncpus; i++) {
		starts[2 * i] = all.n;
		for (const struct dt_kept_rec *k = dt_kept_of_cpu(e, i); k; k = k->next)
			*dt_vec_add(&all, NULL) = (struct item){k->time, k->rec, k->size, k->cpu};
		starts[2 * i + 1] = all.n;
		add_tail(e, i, &all);
	}
	merge_runs(&all, starts, 2 * e->plan.ncpus);
	forget_oldest(e, &all);
	for (uint32_t i = 0; i < all.n && !d->rc; i++)
		if (all.v[i].size)
			deliver(d, all.v[i].rec, all.v[i].size, all.v[i].cpu, all.v[i].time);
	e->reader->delivered = true;
	dt_vec_free(&all);
	free(starts);
}

/* Release the space that the records took in small buffers. */
static void give_back(dt_bpf *e, const items *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (!all->v[i].rec->spec)
			__atomic_fetch_sub(dt_cpu_word(e, all->v[i].cpu, CPU_USED),
					   dt_ring_cost(e, all->v[i].rec), __ATOMIC_RELAXED);
	}
}

/* All records, or those up to now, sorted; ends[i] is where each ring continues. */
static void read_rings(dt_bpf *e, bool running, items *all, uint64_t *ends)
{
	uint32_t *starts = dt_xcalloc(e->maps.nrings, sizeof(*starts)), n = e->maps.nrings;
	uint64_t until = UINT64_MAX;

	if (running) {
		until = dt_now_kernel();
		dt_ring_quiesce(
		    e, DT_RING_PATIENCE); /* if it takes longer, a record will be out of order */
	}
	for (uint64_t stray = UINT64_MAX;; until = stray - 1, all->n = 0) {
		for (uint32_t i = 0; i < n; i++) {
			starts[i] = all->n;
			ends[i] = collect(&e->reader->ring[i], until, all, &stray);
		}
		if (stray > until)
			break;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = i + 1 < n ? starts[i + 1] : all->n;

		if (end > starts[i])
			sort_nearly(all->v + starts[i], end - starts[i]);
	}
	merge_runs(all, starts, n);
	free(starts);
}

static void consume_rings(struct delivery *d, bool running)
{
	dt_bpf *e = d->e;
	uint64_t *ends = dt_xcalloc(e->maps.nrings, sizeof(*ends));
	items all = {0};

	read_rings(e, running, &all, ends);
	for (uint32_t i = 0; i < all.n && !d->rc; i++)
		handle(d, all.v[i].rec, all.v[i].size, all.v[i].cpu);
	if (e->plan.buffers.eager && all.n == 0)
		fall_asleep(e);
	if (e->plan.buffers.small)
		give_back(e, &all);
	for (uint32_t i = 0; i < e->maps.nrings; i++)
		__atomic_store_n(e->reader->ring[i].consumer, ends[i], __ATOMIC_RELEASE);
	free(ends);
	dt_vec_free(&all);
}

/* Records have come while others were passed on: a process that continues now would be stopped at once. */
static bool is_filling(const dt_bpf *e)
{
	for (uint32_t i = 0; i < e->maps.nrings; i++) {
		const struct ring *r = &e->reader->ring[i];

		if (__atomic_load_n(r->producer, __ATOMIC_ACQUIRE) - __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE) > r->mask / 4)
			return true;
	}
	return false;
}

#define MOST_ROUNDS 8

int dt_ring_consume(dt_bpf *e, const dt_sink *sink)
{
	bool running = e->state != BPF_STOPPED;
	struct delivery d = {e, sink, NULL, 0};

	take_wakeup(e);
	if (running && (e->plan.buffers.policy == DT_BUFPOLICY_FILL || !e->reader->ring))
		return 0;
	d.values = dt_xcalloc(e->plan.max_actions + 1, sizeof(*d.values));
	if (e->reader->ring)
		consume_rings(&d, running);
	for (int i = 0; e->lossless && running && i < MOST_ROUNDS && is_filling(e) && !d.rc; i++)
		consume_rings(&d, running);
	dt_lossless_continue(e);
	if (e->reader->tail && !running && !e->reader->delivered)
		deliver_newest(&d);
	free(d.values);
	return d.rc;
}
