/*
 * slots: the threads of the target, as far as they fire probes: a machine each, a buffer of records, aggregations.
 *
 * All slots exist from the beginning; a thread takes one when it fires first (runtime/rt_fire.c), and it is free again when
 * the thread is gone and what it left has been read. Memory that is never used costs nothing.
 *
 * Everything is read on the assumption that the target may have written anything: sizes and indices are checked against the
 * engine's own, and copied before they are used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"

#define BUCKETS_MAX (1u << 16)
#define QUIET_TURNS 200 /* how often a thread that is in a probe is looked at ... */
#define QUIET_NS    10000 /* ... and after how long */

/* ---- sizes ---- */

void dt_pe_entries(const dt_pe *p, uint64_t *largest, uint64_t *ratio)
{
	for (uint32_t i = 0; i < p->host->necbs; i++)
		for (uint32_t k = 0; k < p->host->ecbs[i].record.nparts; k++) {
			const dt_record_part *part = &p->host->ecbs[i].record.parts[k];
			uint64_t size = dt_pe_entry_size(part->data_size);

			if (part->cost && size / part->cost + 1 > *ratio)
				*ratio = size / part->cost + 1;
			if (size > *largest)
				*largest = size;
		}
}

/* As many records as the limit allows, whatever their kind; and what is lost at the end of the buffer. */
static void plan_ring(const dt_pe *p, struct dt_pe_ring *ring)
{
	uint64_t ratio = dt_pe_entry_size(0) / DT_FAULT_COST + 1, largest = dt_pe_entry_size(0);

	dt_pe_entries(p, &largest, &ratio);
	ring->limit = p->host->buffer.size - (p->host->buffer.end_reserve < p->host->buffer.size ? p->host->buffer.end_reserve : 0);
	ring->size = dt_align_up(ring->limit * ratio + 2 * largest, 4096);
}

static void plan_aggs(const dt_pe *p, struct dt_pe_aggs *a)
{
	uint64_t aggsize = dt_opt(p->opts, DT_O_AGGSIZE), key = 64, row = 4096;

	if (!aggsize)
		aggsize = DT_BUFFER_DEFAULT;
	a->room_cap = 64;
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const dt_clause *c = p->host->ecbs[i].ecb->clause;
		uint64_t sum = 64;

		for (uint32_t k = 0; k < c->nactions; k++) {
			const struct dt_action_plan *plan = &p->host->ecbs[i].record.actions[k];

			if (plan->role == DT_ROLE_KEY && plan->bound + 8 > a->room_cap)
				a->room_cap = (uint32_t)dt_align_up(plan->bound + 8ull, 8);
			sum += plan->role == DT_ROLE_KEY ? dt_align_up(plan->bound, 8) + 16 : 0;
			if (plan->role == DT_ROLE_AGG && plan->agg->nwords * 8ull > row)
				row = plan->agg->nwords * 8ull;
		}
		key = sum > key ? sum : key;
	}
	a->key_cap = (uint32_t)dt_align_up(key, 8);
	a->limit = aggsize - aggsize / 8;
	a->cap = dt_align_up(a->limit * 4 + 2 * (row + key), 4096);
	for (a->nbuckets = 64; a->nbuckets < BUCKETS_MAX && a->nbuckets < a->limit / 64; a->nbuckets *= 2)
		;
}

static uint64_t pool_size(const dt_vm_dynvars *d)
{
	return d->chunk * d->nchunks;
}

uint64_t dt_pe_slots_size(const dt_pe *p)
{
	const dt_vm *vm = &p->host->vm;
	struct dt_pe_ring ring = {0};
	struct dt_pe_aggs aggs = {0};
	uint64_t one;

	plan_ring(p, &ring);
	plan_aggs(p, &aggs);
	one = sizeof(struct dt_pe_slot) + vm->scratch_cap + 2 * vm->strsize + ring.size +
	      2 * (aggs.cap + aggs.nbuckets * sizeof(uint32_t)) + aggs.key_cap + aggs.room_cap + vm->locals.n * 8ull +
	      vm->locals.statics_size + vm->threads.n * 8ull + p->host->necbs * 16ull + pool_size(&vm->dyn) + vm->dyn.nbuckets * sizeof(uint32_t) + 2 * vm->dyn.chunk + 65536;
	return one * DT_PE_SLOTS + dt_pe_specs_size(p);
}

/* ---- making them ---- */

static dt_vm_scope copy_scope(struct dt_pe_memory *m, const dt_vm_scope *s)
{
	dt_vm_scope to = *s;

	to.v = dt_pe_copy(m, s->v, s->n * sizeof(*s->v));
	to.starts = dt_pe_copy(m, s->starts, s->nstarts * sizeof(*s->starts));
	return to;
}

static void make_pool(struct dt_pe_memory *m, const dt_vm_dynvars *like, dt_vm_dynstate *state, dt_vm_dynvars *own)
{
	if (!like->nchunks)
		return;
	*own = *like;
	own->pool = dt_pe_alloc(m, pool_size(like));
	own->buckets = dt_pe_alloc(m, like->nbuckets * sizeof(uint32_t));
	own->key = dt_pe_alloc(m, like->chunk);
	own->state = state;
}

/* `e` is what all have: types and places of variables, constants. */
static void make_machine(dt_pe *p, const dt_vm_engine *like, struct dt_pe_slot *s, uint32_t i)
{
	struct dt_pe_memory *m = &p->memory;
	dt_vm *vm = &s->e.vm;

	s->e = *like;
	vm->scratch = dt_pe_alloc(m, vm->scratch_cap);
	vm->locals.values = dt_pe_alloc(m, vm->locals.n * sizeof(uint64_t));
	vm->locals.statics = dt_pe_alloc(m, vm->locals.statics_size);
	if (vm->dyn.nchunks)
		vm->dyn.key = dt_pe_alloc(m, vm->dyn.chunk);
	make_pool(m, &like->vm.dyn, &s->own_state, &vm->own);
	p->own_buckets[i] = vm->own.buckets;
	vm->own.direct = p->own_values[i] = dt_pe_alloc(m, vm->threads.n * sizeof(uint64_t));
	vm->rand_state = dt_now() * (i + 1);
	s->e.firing[0].strtok = dt_pe_alloc(m, vm->strsize);
	s->e.firing[1].strtok = dt_pe_alloc(m, vm->strsize);
	vm->fire = &s->e.firing[0];
	s->e.aggs = (dt_vm_aggs *)&s->aggs;
	s->e.drops = &s->drops;
	s->e.agg_drops = &s->agg_drops;
	s->specs = p->specs;
	s->specs.self = i;
	vm->number = i + 1; /* dtrace itself is 0 */
	vm->specs = (dt_vm_specs *)(void *)&s->specs;
}

static void make_buffers(dt_pe *p, struct dt_pe_slot *s, uint32_t i)
{
	struct dt_pe_memory *m = &p->memory;

	s->ring = p->ring;
	s->ring.data = p->ring_data[i] = dt_pe_alloc(m, p->ring.size);
	s->aggs = p->aggs;
	s->aggs.key = dt_pe_alloc(m, p->aggs.key_cap);
	s->aggs.room = dt_pe_alloc(m, p->aggs.room_cap);
	for (int t = 0; t < 2; t++) {
		s->aggs.table[t].rows = p->rows[t][i] = dt_pe_alloc(m, p->aggs.cap);
		s->aggs.table[t].buckets = p->buckets[t][i] = dt_pe_alloc(m, p->aggs.nbuckets * sizeof(uint32_t));
		s->aggs.table[t].direct = p->direct[t][i] = dt_pe_alloc(m, p->program.aggs.n * sizeof(uint32_t));
	}
}

bool dt_pe_slots_make(dt_pe *p)
{
	struct dt_pe_memory *m = &p->memory;
	const dt_vm *vm = &p->host->vm;
	struct dt_vm_region *all = dt_pe_alloc(m, sizeof(*all));
	dt_vm_engine like = {.max_actions = p->host->max_actions,
			     .principal.limit = p->host->buffer.size,
			     .policy = p->host->policy,
			     .destructive = p->host->destructive,
			     .ncpus = 1,
			     .loopmax = p->host->loopmax};

	p->nslots = DT_PE_SLOTS;
	p->flips = dt_xcalloc(p->nslots, sizeof(*p->flips));
	p->ring_data = dt_xcalloc(p->nslots, sizeof(*p->ring_data));
	p->own_buckets = dt_xcalloc(p->nslots, sizeof(*p->own_buckets));
	p->own_values = dt_xcalloc(p->nslots, sizeof(*p->own_values));
	for (int t = 0; t < 2; t++) {
		p->rows[t] = dt_xcalloc(p->nslots, sizeof(*p->rows[t]));
		p->buckets[t] = dt_xcalloc(p->nslots, sizeof(*p->buckets[t]));
		p->direct[t] = dt_xcalloc(p->nslots, sizeof(*p->direct[t]));
	}
	plan_ring(p, &p->ring);
	plan_aggs(p, &p->aggs);
	if (!dt_pe_specs_make(p))
		return false;
	like.vm = (dt_vm){.strsize = vm->strsize, .scratch_cap = vm->scratch_cap, .given_max = vm->given_max, .dyn = vm->dyn};
	like.vm.globals = copy_scope(m, &vm->globals);
	like.vm.threads = copy_scope(m, &vm->threads);
	like.vm.locals = copy_scope(m, &vm->locals);
	m->used = dt_align_up(m->used, DT_PE_LINE);
	p->slots = dt_pe_alloc(m, p->nslots * sizeof(*p->slots));
	if (!all || m->full)
		return false;
	*all = (struct dt_vm_region){dt_vm_addr(m->base), m->used}; /* constants: what has been copied so far */
	like.vm.regions.v = all;
	like.vm.regions.n = 1;
	for (uint32_t i = 0; i < p->nslots && !m->full; i++) {
		make_machine(p, &like, &p->slots[i], i);
		make_buffers(p, &p->slots[i], i);
	}
	p->shared->slots = p->slots;
	p->shared->nslots = p->nslots;
	return !m->full;
}

void dt_pe_slots_free(dt_pe *p)
{
	free(p->flips);
	free(p->ring_data);
	free(p->own_buckets);
	free(p->own_values);
	free(p->spec_data);
	for (int t = 0; t < 2; t++) {
		free(p->rows[t]);
		free(p->buckets[t]);
		free(p->direct[t]);
	}
	for (uint32_t i = 0; i < p->pending.n; i++)
		free(p->pending.v[i].data);
	dt_vec_free(&p->pending);
}

/* ---- waiting for a thread to leave its probe ---- */

static bool is_quiet(const struct dt_pe_slot *s, uint64_t done)
{
	return !__atomic_load_n(&s->busy, __ATOMIC_SEQ_CST) || __atomic_load_n(&s->done, __ATOMIC_SEQ_CST) != done;
}

static bool wait_quiet(const struct dt_pe_slot *s, uint64_t done)
{
	for (int i = 0; i < QUIET_TURNS; i++) {
		if (is_quiet(s, done))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = QUIET_NS}, NULL);
	}
	return is_quiet(s, done);
}

bool dt_pe_slots_quiet(const dt_pe *p)
{
	for (uint32_t i = 0; i < p->nslots; i++)
		if (p->slots[i].tid && __atomic_load_n(&p->slots[i].busy, __ATOMIC_SEQ_CST))
			return false;
	return true;
}

/* ---- records ---- */

/* Strings end within their bound, whatever the target has written. */
static void end_strings(const struct dt_vm_ecb *e, const dt_record_part *part, uint8_t *data)
{
	for (uint32_t i = part->first; i < part->first + part->nactions; i++) {
		const struct dt_action_plan *a = &e->record.actions[i];

		if (a->role == DT_ROLE_DATA && a->is_string && a->bound)
			data[a->offset + a->bound - 1] = 0;
	}
}

/* What was read is plausible: keep it. A time that has not come yet is a lie, and the record would stay here until then. */
static void keep_record(dt_pe *p, const struct dt_pe_entry *x, const uint8_t *data, uint64_t size)
{
	uint64_t now = dt_now();
	uint64_t at = (uint64_t)(uintptr_t)x->rec.ecb - (uint64_t)(uintptr_t)p->program.ecbs;
	uint32_t i = (uint32_t)(at / sizeof(*p->program.ecbs));
	const struct dt_vm_ecb *e = &p->host->ecbs[i];
	struct dt_pe_pending r = {.timestamp = x->rec.timestamp < now ? x->rec.timestamp : now,
				  .ecb = i,
				  .part = x->rec.part,
				  .cpu = x->rec.cpu < p->host->ncpus ? x->rec.cpu : 0,
				  .continues = x->rec.continues,
				  .is_fault = x->rec.is_fault,
				  .fault = x->rec.fault,
				  .order = p->order++};

	if (at % sizeof(*p->program.ecbs) || at / sizeof(*p->program.ecbs) >= p->host->necbs)
		return;
	if (r.is_fault) {
		r.fault.epid = e->ecb->epid;
		r.part = 0; /* it has none */
		if (r.fault.action > e->ecb->clause->nactions || r.fault.code >= DT_FLT_MAX_)
			return;
	} else {
		if (r.part >= e->record.nparts || e->record.parts[r.part].data_size > size)
			return;
		r.data = dt_xmalloc(e->record.parts[r.part].data_size + 1ull);
		memcpy(r.data, data, e->record.parts[r.part].data_size);
		end_strings(e, &e->record.parts[r.part], r.data);
	}
	*dt_vec_add(&p->pending, NULL) = r;
}

static void take_host(dt_pe *p)
{
	dt_vm_rec *r;

	while ((r = dt_vm_buf_take(&p->host->principal))) {
		struct dt_pe_pending to = {.timestamp = r->timestamp,
					   .ecb = (uint32_t)(r->ecb - p->host->ecbs),
					   .part = r->part,
					   .cpu = r->cpu,
					   .continues = r->continues,
					   .is_fault = r->is_fault,
					   .fault = r->fault,
					   .order = p->order++};
		uint32_t size = r->is_fault ? 0 : r->ecb->record.parts[r->part].data_size;

		if (to.timestamp < p->host_time) /* after ERROR, which has a time of its own, inside the same firing */
			to.timestamp = p->host_time;
		p->host_time = to.timestamp;
		to.data = dt_xmalloc(size + 1ull);
		memcpy(to.data, r->data, size);
		*dt_vec_add(&p->pending, NULL) = to;
		free(r);
	}
}

/* C knows two values of this type, memory 256. */
static void read_bool(bool *b)
{
	uint8_t v;

	memcpy(&v, b, sizeof(v));
	*b = v != 0;
}

/* One entry, of which `have` bytes are there: its size, or 0 if it is none. */
uint64_t dt_pe_read_entry(dt_pe *p, const uint8_t *at, uint64_t have, uint64_t *cost)
{
	struct dt_pe_entry x = {0};
	struct dt_pe_short s;
	uint64_t rest;

	memcpy(&x.head, at, sizeof(x.head));
	rest = x.head.kind == DT_PE_SHORT ? sizeof(s) : sizeof(x);
	if (x.head.size < rest || x.head.size > have || x.head.size % 8 || x.head.kind == DT_PE_SKIP || !x.head.kind)
		return 0;
	if (x.head.kind == DT_PE_SHORT) {
		memcpy(&s, at, sizeof(s));
		x.rec = (dt_vm_rec){.ecb = s.ecb, .timestamp = s.timestamp, .cpu = s.cpu, .cost = s.cost};
	} else {
		memcpy(&x.rec, at + offsetof(struct dt_pe_entry, rec), sizeof(x.rec));
		read_bool(&x.rec.continues);
		read_bool(&x.rec.is_fault);
		read_bool(&x.rec.fault.absent);
	}
	keep_record(p, &x, at + rest, x.head.size - rest);
	*cost += x.rec.cost;
	return x.head.size;
}

static void read_ring(dt_pe *p, uint32_t i)
{
	struct dt_pe_ring *b = &p->slots[i].ring;
	uint64_t head = __atomic_load_n(&b->head, __ATOMIC_ACQUIRE), tail = b->tail, cost = 0, size = p->ring.size;
	uint64_t base = b->base & ~7ull; /* if there is something to read, it is the one of that */

	if (head - tail > size || tail % 8) /* nothing of ours */
		tail = head;
	while (tail < head) {
		uint64_t at = (tail - base) % size, left = size - at, n;
		struct dt_pe_head h;

		memcpy(&h, p->ring_data[i] + at, sizeof(h));
		n = h.kind == DT_PE_SKIP ? left : dt_pe_read_entry(p, p->ring_data[i] + at, left < head - tail ? left : head - tail, &cost);
		if (!n)
			break;
		tail += n;
	}
	if (tail < head) {
		tail = head; /* not a record: the target has written here */
		cost = b->head_cost - b->tail_cost;
	}
	__atomic_store_n(&b->tail_cost, b->tail_cost + cost, __ATOMIC_RELEASE);
	__atomic_store_n(&b->tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct dt_pe_pending *x = a, *y = b;

	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int give(dt_pe *p, const dt_sink *sink, const struct dt_pe_pending *r, dt_datum *values)
{
	const struct dt_vm_ecb *x = &p->host->ecbs[r->ecb];
	const dt_record_part *part = &x->record.parts[r->part];
	dt_record out = {.ecb = x->ecb, .cpu = r->cpu, .timestamp = r->timestamp};

	if (r->is_fault) {
		out.fault = &r->fault;
	} else {
		dt_vm_record_values(x, part, r->data, values);
		out.values = values;
		out.first = part->first;
		out.nactions = part->nactions;
		out.continues = r->continues;
	}
	return sink->record(sink->arg, &out);
}

static bool is_gone(const dt_pe *p, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/task/%u", p->target.pid, tid);
	return access(path, F_OK) < 0;
}

/* A thread that has ended, and of which everything has been read, leaves its slot to another one. */
static void reap(dt_pe *p, uint32_t i)
{
	struct dt_pe_slot *s = &p->slots[i];
	const dt_vm_dynvars *like = &p->host->vm.dyn;
	uint32_t tid = __atomic_load_n(&s->tid, __ATOMIC_SEQ_CST);

	if (p->flips[i].pending || s->aggs.table[0].nrows || s->aggs.table[1].nrows || s->ring.head != s->ring.tail || tid == DT_PE_TAKEN ||
	    !is_gone(p, tid) || !__atomic_compare_exchange_n(&s->tid, &tid, DT_PE_TAKEN, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	s->own_state = (dt_vm_dynstate){0};
	if (like->nchunks)
		memset(p->own_buckets[i], 0, like->nbuckets * sizeof(uint32_t));
	memset(p->own_values[i], 0, p->host->vm.threads.n * sizeof(uint64_t));
	__atomic_store_n(&s->busy, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->tid, 0, __ATOMIC_SEQ_CST);
}

/* All records until now are there when no thread is in a probe that it had reached before now. */
int dt_pe_slots_consume(dt_pe *p, const dt_sink *sink)
{
	uint64_t now = dt_now();
	dt_datum *values;
	uint32_t n = 0;
	int rc = 0;

	if (p->host->policy != DT_BUFPOLICY_SWITCH && p->host->state != DT_VM_STOPPED) /* those are read once, at the end */
		return 0;
	take_host(p);
	for (uint32_t i = 0; i < p->nslots; i++) {
		const struct dt_pe_slot *s = &p->slots[i];

		if (!s->tid)
			continue;
		wait_quiet(s, __atomic_load_n(&s->done, __ATOMIC_SEQ_CST));
		read_ring(p, i);
		reap(p, i);
	}
	if (!p->pending.n)
		return 0;
	values = dt_xcalloc(p->host->max_actions + 1, sizeof(*values));
	qsort(p->pending.v, p->pending.n, sizeof(*p->pending.v), by_time);
	for (; n < p->pending.n && rc == 0 && (p->over || p->pending.v[n].timestamp <= now); n++) {
		rc = give(p, sink, &p->pending.v[n], values);
		free(p->pending.v[n].data);
	}
	p->pending.n -= n;
	memmove(p->pending.v, p->pending.v + n, p->pending.n * sizeof(*p->pending.v));
	free(values);
	return rc;
}

/* ---- aggregations ---- */

static const dt_agg *agg_of(const dt_pe *p, uint32_t id)
{
	for (uint32_t i = 0; i < p->program.aggs.n; i++)
		if (p->program.aggs.v[i]->id == id)
			return p->program.aggs.v[i];
	return NULL;
}

/* A row, copied: 0, or what the sink returned. */
static int give_row(dt_pe *p, const dt_sink *sink, const struct dt_pe_row *r)
{
	const dt_agg *agg = agg_of(p, r->agg);
	uint64_t have = r->size - sizeof(*r), keys = (uint64_t)r->nwords * 8;
	dt_datum data[DT_PE_KEYS_MAX] = {{0}};
	const uint8_t *at = (const uint8_t *)r->data + keys, *shown;

	if (!agg || r->nwords != agg->nwords || r->nkeys != agg->nkeys || r->nkeys > DT_PE_KEYS_MAX ||
	    keys + r->key_size + r->nkeys * 4ull > have)
		return 0;
	shown = at + r->key_size;
	for (uint32_t i = 0; i < r->nkeys; i++) {
		uint64_t size;

		if (shown - at < 8)
			return 0;
		memcpy(&size, at, 8);
		if (size > (uint64_t)(shown - at) - 8)
			return 0;
		data[i] = (dt_datum){.data = at + 8, .size = (uint32_t)size};
		memcpy(&data[i].shown, shown + i * 4ull, 4);
		at += 8 + dt_align_up(size, 8);
	}
	return sink->agg(sink->arg, agg, r->cpu < p->host->ncpus ? r->cpu : 0, data, r->data);
}

static int read_table(dt_pe *p, const dt_sink *sink, uint32_t i, uint32_t t)
{
	struct dt_pe_table *table = &p->slots[i].aggs.table[t];
	uint64_t top = table->top, size;
	int rc = 0;

	if (top > p->aggs.cap)
		top = p->aggs.cap;
	for (uint64_t at = 0; at + sizeof(struct dt_pe_row) <= top && rc == 0; at += size) {
		struct dt_pe_row head, *r;

		memcpy(&head, p->rows[t][i] + at, sizeof(head));
		size = head.size;
		if (size < sizeof(head) || size % 8 || size > top - at)
			break;
		r = dt_xmalloc(size);
		memcpy(r, p->rows[t][i] + at, size);
		memcpy(r, &head, sizeof(head));
		rc = give_row(p, sink, r);
		free(r);
	}
	if (table->nrows)
		memset(p->buckets[t][i], 0, p->aggs.nbuckets * sizeof(uint32_t));
	memset(p->direct[t][i], 0, p->program.aggs.n * sizeof(uint32_t));
	table->top = table->used = 0;
	__atomic_store_n(&table->nrows, 0, __ATOMIC_RELEASE);
	return rc;
}

/* Let the thread use the other table, and read this one when no probe of it can be using it. */
static int snapshot_slot(dt_pe *p, const dt_sink *sink, uint32_t i)
{
	struct dt_pe_slot *s = &p->slots[i];
	struct dt_pe_flip *f = &p->flips[i];
	int rc = 0;

	if (!f->pending) {
		f->table = s->aggs.active & 1;
		if (!s->aggs.table[f->table].nrows && !__atomic_load_n(&s->busy, __ATOMIC_SEQ_CST))
			return 0;
		__atomic_store_n(&s->aggs.active, f->table ^ 1, __ATOMIC_SEQ_CST);
		f->done = __atomic_load_n(&s->done, __ATOMIC_SEQ_CST);
		f->pending = true;
	}
	if (p->over || wait_quiet(s, f->done)) {
		rc = read_table(p, sink, i, f->table);
		f->pending = false;
	}
	return rc;
}

int dt_pe_slots_snapshot(dt_pe *p, const dt_sink *sink)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->nslots && rc == 0; i++) {
		if (!p->slots[i].tid)
			continue;
		rc = snapshot_slot(p, sink, i);
		if (rc == 0 && p->over) /* nobody fires any more: the other one as well */
			rc = snapshot_slot(p, sink, i);
	}
	return rc;
}

void dt_pe_slots_status(const dt_pe *p, dt_status *st)
{
	memset(p->drops, 0, st->ncpus * sizeof(*p->drops));
	memset(p->agg_drops, 0, st->ncpus * sizeof(*p->agg_drops));
	for (uint32_t i = 0; i < st->ncpus; i++) {
		p->drops[i] = st->drops[i];
		p->agg_drops[i] = st->agg_drops[i];
	}
	st->drops = p->drops;
	st->agg_drops = p->agg_drops;
	for (uint32_t i = 0; i < p->nslots; i++) {
		const struct dt_pe_slot *s = &p->slots[i];

		st->drops[0] += s->drops + s->nested;
		st->agg_drops[0] += s->agg_drops;
		st->dyn_drops += s->own_state.drops;
		st->dbl_errors += s->e.dbl_errors;
	}
	st->drops[0] += p->shared->no_slot;
	dt_pe_specs_status(p, st);
}
