/*
 * ring: records out of the kernel's ring buffers, in order of time.
 *
 * Each CPU has a ring buffer; records are handed out where they lie, then the space is given back.
 * A firing takes its time stamp when it begins and writes its record when it ends, so while tracing
 * we pick a moment T, wait until every firing that is under way has ended, and hand out exactly the
 * records up to T: no record that comes later can be older.
 *
 * Speculations: their records come through the same buffers, marked; they are kept here until the
 * marker of a commit or a discard arrives (in order of time like everything else). With the ring policy
 * only they come this way; those that are committed are kept, too, until all others are read at the end (tail.c).
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bpf/image.h"

#define PAGE 4096

static int map_wakeup(dt_engine *e, dt_error *err);

/* ---- mapping ---- */

int dt_rings_map(dt_engine *e, dt_error *err)
{
	for (uint32_t i = 0; e->tails && i < e->ncpus; i++)
		if (dt_tail_map(e, i, err) < 0)
			return -1;
	for (uint32_t i = 0; e->rings && i < e->ncpus; i++) {
		struct dt_ring *r = &e->rings[i];
		uint64_t size = r->mask + 1;
		uint8_t *p;

		r->consumer = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		/* the data are there twice, so that a record is never in two pieces */
		p = mmap(NULL, PAGE + 2 * size, PROT_READ, MAP_SHARED, r->fd, PAGE);
		if (r->consumer == MAP_FAILED || p == MAP_FAILED) {
			r->consumer = r->consumer == MAP_FAILED ? NULL : r->consumer;
			return dt_err(err, errno, "cannot map a buffer: %s", dt_strerror(errno));
		}
		r->producer = (uint64_t *)(void *)p;
		r->data = p + PAGE;
	}
	return map_wakeup(e, err);
}

static void rings_unmap(dt_engine *e)
{
	if (e->wake)
		munmap(e->wake, PAGE);
	if (e->woken)
		munmap(e->woken, PAGE);
	for (uint32_t i = 0; e->tails && i < e->ncpus; i++)
		if (e->tails[i].data)
			munmap(e->tails[i].data, e->tails[i].length);
	for (uint32_t i = 0; e->rings && i < e->ncpus; i++) {
		struct dt_ring *r = &e->rings[i];

		if (r->consumer)
			munmap(r->consumer, PAGE);
		if (r->producer)
			munmap(r->producer, PAGE + 2 * (r->mask + 1));
	}
}

/* ---- being woken ---- */

/*
 * The consumer looks at the buffers once per switchrate, or as soon as one is half full. Not with the
 * fill policy, which is about filling, and not with buffers that are kept to the byte to drop what
 * DTrace would drop. With the ring policy there is nothing to look at but what is speculative.
 */
bool dt_ring_wakes_early(const dt_engine *e)
{
	if (e->policy == DT_BUFPOLICY_FILL || e->small || (e->policy == DT_BUFPOLICY_RING && !e->need.spec))
		return false;
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].size &&
		    e->clauses.v[i].kinds & ~(1u << PK_BEGIN | 1u << PK_END | 1u << PK_ERROR))
			return true;
	return false;
}

/* From now on it may be woken again. What is in the wake-up's own buffer means nothing. */
static void take_wakeup(dt_engine *e)
{
	if (!e->wake)
		return;
	__atomic_store_n((uint64_t *)(void *)(e->control + CTL_WOKEN), 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(e->wake, __atomic_load_n(e->woken, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

bool dt_ring_attend(dt_engine *e)
{
	if (!e->wake)
		return false;
	__atomic_store_n(e->wake, __atomic_load_n(e->woken, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	if (e->unwind)
		dt_tables_feed(e);
	return __atomic_load_n((uint64_t *)(void *)(e->control + CTL_WOKEN), __ATOMIC_ACQUIRE);
}

static int map_wakeup(dt_engine *e, dt_error *err)
{
	void *c, *p;

	if (e->fd_wake < 0)
		return 0;
	c = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd_wake, 0);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, e->fd_wake, PAGE);
	e->wake = c == MAP_FAILED ? NULL : c;
	e->woken = p == MAP_FAILED ? NULL : p;
	return e->wake && e->woken
		   ? 0
		   : dt_err(err, errno, "cannot map a buffer: %s", dt_strerror(errno));
}

/* ---- waiting for firings under way ---- */

#define QUIESCE_SPINS 100

/*
 * A firing takes microseconds, but the task it happens in may be preempted meanwhile, and on a busy
 * machine wait for its CPU; or wait for memory that is read from somewhere slow. We wait a little longer each
 * time; false: it has been too long.
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

bool dt_ring_quiesce(dt_engine *e, uint64_t patience)
{
	uint64_t give_up = 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < e->ncpus; i++)
		for (uint32_t k = 0; k < e->at.nslots; k++) {
			uint64_t *busy = (uint64_t *)(void *)(e->cpus + (uint64_t)i * CPU_SIZE +
							      CPU_BUSY + k * 8);

			for (uint32_t n = 0; __atomic_load_n(busy, __ATOMIC_ACQUIRE); n++)
				if (!be_patient(n, patience, &give_up))
					return false;
		}
	return true;
}

/* ---- records that are kept ---- */

struct kept {
	struct kept *next;
	uint64_t time; /* when it came to be: of a speculative record, when that was committed */
	uint32_t cpu, size;
	struct dt_rec rec[];
};

struct kept_list {
	struct kept *first, **last;
	uint64_t bytes, cost;
};

static void list_add(struct kept_list *l, const struct dt_rec *r, uint32_t size, uint32_t cpu,
		     uint64_t time)
{
	struct kept *k = dt_xmalloc(sizeof(*k) + size);

	k->next = NULL;
	k->time = time;
	k->cpu = cpu;
	k->size = size;
	memcpy(k->rec, r, size);
	if (!l->first)
		l->last = &l->first;
	*l->last = k;
	l->last = &k->next;
	l->bytes += size;
}

static struct kept *list_take(struct kept_list *l)
{
	struct kept *k = l->first;

	if (k) {
		l->first = k->next;
		l->bytes -= k->size;
	}
	return k;
}

static void list_clear(struct kept_list *l)
{
	for (struct kept *k; (k = list_take(l));)
		free(k);
}

/* ---- speculations ---- */

struct dt_ring_specs {
	struct spec {
		uint32_t use; /* which use of the id this is */
		bool ended;
		struct kept_list list;
	} v[1]; /* nspecs of them; id 1 is v[0] */
};

static struct spec *spec_of(dt_engine *e, uint32_t tag)
{
	uint32_t id = tag & 0xffff, use = tag >> 16;
	struct spec *s;

	if (!e->spec_bufs)
		e->spec_bufs =
		    dt_xcalloc(1, sizeof(*e->spec_bufs) + e->nspecs * sizeof(struct spec));
	if (id == 0 || id > e->nspecs)
		return NULL;
	s = &e->spec_bufs->v[id - 1];
	if (s->use != use) { /* the id has a new owner */
		for (struct kept *k; (k = list_take(&s->list)); free(k))
			e->spec_drops++; /* what ended it was itself dropped */
		s->use = use;
		s->ended = false;
	}
	return s;
}

static void speculate(dt_engine *e, const struct dt_rec *r, uint32_t size, uint32_t cpu)
{
	struct spec *s = spec_of(e, r->spec);

	if (!s || s->ended || s->list.bytes + size > dt_opt(e->opts, DT_O_SPECSIZE))
		e->spec_drops++;
	else
		list_add(&s->list, r, size, cpu, r->time);
}

/* ---- the ring policy: the newest bufsize bytes of each CPU ---- */

/* What a record takes of bufsize. */
static uint32_t cost_of(const dt_engine *e, const struct dt_rec *r)
{
	if (r->type == REC_FAULT)
		return DT_FAULT_COST;
	return r->type == REC_DATA && r->clause < e->clauses.n ? e->clauses.v[r->clause].record.cost : 0;
}

/* What was committed; older than the last bufsize bytes of it on a CPU is older than the last of everything. */
static void keep_newest(dt_engine *e, const struct dt_rec *r, uint32_t size, uint32_t cpu,
			uint64_t time)
{
	uint32_t cost = cost_of(e, r);
	struct kept_list *l;

	if (!e->kept)
		e->kept = dt_xcalloc(e->ncpus, sizeof(*e->kept));
	l = &e->kept[cpu];
	while (l->first && l->cost + cost > e->bufsize) {
		l->cost -= cost_of(e, l->first->rec);
		free(list_take(l));
	}
	l->cost += cost;
	list_add(l, r, size, cpu, time);
}

static void free_kept(dt_engine *e)
{
	for (uint32_t i = 0; e->spec_bufs && i < e->nspecs; i++)
		list_clear(&e->spec_bufs->v[i].list);
	free(e->spec_bufs);
	e->spec_bufs = NULL;
	for (uint32_t i = 0; e->kept && i < e->ncpus; i++)
		list_clear(&e->kept[i]);
	free(e->kept);
	e->kept = NULL;
}

/* ---- handing out ---- */

struct delivery {
	dt_engine *e;
	const dt_sink *sink;
	dt_datum *values;
	int rc;
};

static void fill_values(const struct dt_plan_clause *x, const struct dt_rec *r, uint32_t size,
			dt_datum *values)
{
	const uint8_t *base = (const uint8_t *)r;

	for (uint32_t i = 0; i < x->c->nactions; i++) {
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
	dt_engine *e = d->e;
	const struct dt_plan_clause *x = r->clause < e->clauses.n ? &e->clauses.v[r->clause] : NULL;
	const dt_ecb *ecb = x && r->probe < e->probes.n ? x->ecbs[r->probe] : NULL;
	dt_record out = {.ecb = ecb, .cpu = cpu, .timestamp = time};
	dt_fault fault;

	if (!ecb || d->rc)
		return;
	if (r->type == REC_FAULT) {
		const struct dt_fault_rec *f = (const struct dt_fault_rec *)r;

		fault = (dt_fault){.epid = ecb->epid,
				   .action = f->action,
				   .offset = f->offset,
				   .code = f->code,
				   .value = f->value};
		out.fault = &fault;
	} else {
		fill_values(x, r, size, d->values);
		out.values = d->values;
	}
	d->rc = d->sink->record(d->sink->arg, &out);
}

/* A record that counts: it is handed out, now or at the end. */
static void take(struct delivery *d, const struct dt_rec *r, uint32_t size, uint32_t cpu,
		 uint64_t time)
{
	if (d->e->policy == DT_BUFPOLICY_RING)
		keep_newest(d->e, r, size, cpu, time);
	else
		deliver(d, r, size, cpu, time);
}

static void handle(struct delivery *d, const struct dt_rec *r, uint32_t size, uint32_t cpu)
{
	struct spec *s;
	struct kept *k;

	switch (r->type) {
	case REC_COMMIT:
	case REC_DISCARD:
		s = spec_of(d->e, r->spec);
		if (!s)
			return;
		s->ended = true;
		while ((k = list_take(&s->list))) {
			if (r->type == REC_COMMIT)
				take(d, k->rec, k->size, k->cpu, r->time);
			free(k);
		}
		return;
	default:
		if (r->spec)
			speculate(d->e, r, size, cpu);
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

/*
 * Add the records of one ring up to time `until`; returns where the next one begins. Behind a
 * record that must wait there can be an older one, of a firing that was interrupted by the
 * former's: it must wait, too, and *stray becomes its time if that is earlier.
 */
static uint64_t collect(struct dt_ring *r, uint32_t cpu, uint64_t until, items *out,
			uint64_t *stray)
{
	uint64_t at = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE), stop = UINT64_MAX;
	uint64_t end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);

	while (at < end) {
		const uint32_t *head = (const uint32_t *)(const void *)(r->data + (at & r->mask));
		uint32_t len = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		const struct dt_rec *rec = (const struct dt_rec *)(const void *)(head + 2);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			if (rec->time > until && stop == UINT64_MAX)
				stop = at;
			if (stop == UINT64_MAX)
				*dt_vec_add(out, NULL) = (struct item){rec->time, rec, len, cpu};
			else if (rec->time < *stray)
				*stray = rec->time;
		}
		len &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		at += dt_align_up(len + BPF_RINGBUF_HDR_SZ, 8);
	}
	return stop < at ? stop : at;
}

/* Records of one CPU are in order but for firings nested in others: a short insertion sort. */
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
static void add_tail(const dt_engine *e, uint32_t cpu, items *all)
{
	uint32_t first = all->n;

	dt_tail_read(e, cpu, add_item, &(struct adder){all, cpu});
	for (uint32_t i = first, k = all->n; i < k--; i++) {
		struct item x = all->v[i];

		all->v[i] = all->v[k];
		all->v[k] = x;
	}
	if (all->n > first)
		sort_nearly(all->v + first, all->n - first);
}

/* Leave out (size 0) what has not got room in bufsize bytes of its CPU, and what is older. */
static void forget_oldest(const dt_engine *e, items *all)
{
	uint64_t *left = dt_xcalloc(e->ncpus, sizeof(*left));

	for (uint32_t i = 0; i < e->ncpus; i++)
		left[i] = e->bufsize;
	for (uint32_t i = all->n; i-- > 0;) {
		struct item *x = &all->v[i];
		uint32_t cost = cost_of(e, x->rec);

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
	dt_engine *e = d->e;
	uint32_t *starts = dt_xcalloc(2 * e->ncpus, sizeof(*starts));
	items all = {0};

	for (uint32_t i = 0; i < e->ncpus; i++) {
		starts[2 * i] = all.n;
		for (const struct kept *k = e->kept ? e->kept[i].first : NULL; k; k = k->next)
			*dt_vec_add(&all, NULL) = (struct item){k->time, k->rec, k->size, k->cpu};
		starts[2 * i + 1] = all.n;
		add_tail(e, i, &all);
	}
	merge_runs(&all, starts, 2 * e->ncpus);
	forget_oldest(e, &all);
	for (uint32_t i = 0; i < all.n && !d->rc; i++)
		if (all.v[i].size)
			deliver(d, all.v[i].rec, all.v[i].size, all.v[i].cpu, all.v[i].time);
	e->delivered = true;
	dt_vec_free(&all);
	free(starts);
}

/* Give back what the records took of small buffers. */
static void give_back(dt_engine *e, const items *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		uint8_t *row = e->cpus + (uint64_t)all->v[i].cpu * CPU_SIZE;

		if (!all->v[i].rec->spec)
			__atomic_fetch_sub((uint64_t *)(void *)(row + CPU_USED),
					   cost_of(e, all->v[i].rec), __ATOMIC_RELAXED);
	}
}

/* All records there are, or those up to now, sorted; ends[cpu] is where each ring goes on. */
static void read_rings(dt_engine *e, bool running, items *all, uint64_t *ends)
{
	uint32_t *starts = dt_xcalloc(e->ncpus, sizeof(*starts));
	uint64_t until = UINT64_MAX;

	if (running) {
		until = dt_now_kernel();
		dt_ring_quiesce(
		    e, DT_BPF_PATIENCE); /* if it takes longer, a record will be out of order */
	}
	for (uint64_t stray = UINT64_MAX;; until = stray - 1, all->n = 0) {
		for (uint32_t i = 0; i < e->ncpus; i++) {
			starts[i] = all->n;
			ends[i] = collect(&e->rings[i], i, until, all, &stray);
		}
		if (stray > until)
			break;
	}
	for (uint32_t i = 0; i < e->ncpus; i++) {
		uint32_t end = i + 1 < e->ncpus ? starts[i + 1] : all->n;

		if (end > starts[i])
			sort_nearly(all->v + starts[i], end - starts[i]);
	}
	merge_runs(all, starts, e->ncpus);
	free(starts);
}

static void consume_rings(struct delivery *d, bool running)
{
	dt_engine *e = d->e;
	uint64_t *ends = dt_xcalloc(e->ncpus, sizeof(*ends));
	items all = {0};

	read_rings(e, running, &all, ends);
	for (uint32_t i = 0; i < all.n && !d->rc; i++)
		handle(d, all.v[i].rec, all.v[i].size, all.v[i].cpu);
	if (e->small)
		give_back(e, &all);
	for (uint32_t i = 0; i < e->ncpus; i++)
		__atomic_store_n(e->rings[i].consumer, ends[i], __ATOMIC_RELEASE);
	free(ends);
	dt_vec_free(&all);
}

int dt_ring_consume(dt_engine *e, const dt_sink *sink)
{
	bool running = e->state != BPF_STOPPED;
	struct delivery d = {e, sink, NULL, 0};

	take_wakeup(e);
	if (running && (e->policy == DT_BUFPOLICY_FILL || !e->rings))
		return 0;
	d.values = dt_xcalloc(e->max_actions + 1, sizeof(*d.values));
	if (e->rings)
		consume_rings(&d, running);
	if (e->tails && !running && !e->delivered)
		deliver_newest(&d);
	free(d.values);
	return d.rc;
}

void dt_rings_free(dt_engine *e)
{
	free_kept(e);
	rings_unmap(e);
	free(e->rings);
	free(e->tails);
	e->rings = e->tails = NULL;
}
