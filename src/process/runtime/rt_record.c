/*
 * rt_record: records of a thread: vm.c and record.c without allocation.
 *
 * A record is made where it stays, in the thread's buffer, and counts when the head moves. There is one at a time: a clause
 * has added or dropped its part before ERROR fires. Space was checked for (dt_vm_has_room); the buffer is as large as
 * the smallest records need it to be (slots.c), and has room for one record more: with bufpolicy=ring the oldest are dropped when
 * a new one is complete.
 */
#include "process/runtime/runtime.h"

#define WARM 65536 /* bytes of the buffer that are always used */

void dt_vm_count_drop(const dt_vm_engine *e, uint64_t *drops)
{
	(void)e;
	(*drops)++;
}

/* How many bytes of the record at the tail, or of what is left of the buffer there; *cost. */
static uint64_t oldest(const struct dt_pe_ring *b, uint64_t *cost)
{
	uint64_t at = (b->tail - b->base) % b->size;
	const struct dt_pe_head *x = (const struct dt_pe_head *)(const void *)(b->data + at);

	switch (x->kind) {
	case DT_PE_RECORD: *cost = ((const struct dt_pe_entry *)(const void *)x)->rec.cost; return x->size;
	case DT_PE_SHORT: *cost = ((const struct dt_pe_short *)(const void *)x)->cost; return x->size;
	default: *cost = 0; return b->size - at;
	}
}

/* Nobody reads them before tracing ends. */
static void forget_oldest(struct dt_pe_ring *b, uint64_t cost)
{
	while (b->tail != b->head && b->head_cost - b->tail_cost + cost > b->limit) {
		uint64_t one = 0, size = oldest(b, &one);

		b->tail += size;
		b->tail_cost += one;
	}
}

static uint64_t taken(const struct dt_pe_ring *b)
{
	return b->head_cost - __atomic_load_n(&b->tail_cost, __ATOMIC_ACQUIRE);
}

bool dt_rt_fits(const struct dt_pe_slot *s, uint64_t cost)
{
	if (s->e.policy == DT_BUFPOLICY_RING)
		return cost <= s->ring.limit;
	return cost <= s->ring.limit && taken(&s->ring) <= s->ring.limit - cost;
}

/* This thread records nothing more; others do until dtrace has noticed. */
static __attribute__((noinline)) void fill(dt_vm_engine *e)
{
	e->filled = true;
	__atomic_store_n(&dt_rt_anchor.shared->filled, 1, __ATOMIC_SEQ_CST);
	dt_rt_wake();
}

bool dt_vm_has_room(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t cost)
{
	struct dt_pe_slot *s = dt_rt_slot(e);

	(void)x;
	if (__builtin_expect(!e->filled && dt_rt_fits(s, cost), 1))
		return true;
	if (e->policy != DT_BUFPOLICY_FILL)
		s->drops++;
	else if (!e->filled)
		fill(e);
	return false;
}

static struct dt_pe_head *head_of(const struct dt_pe_ring *b)
{
	return (struct dt_pe_head *)(void *)(b->data + b->at);
}

/* At the head; what does not fit before the end of the buffer goes to its start. When all have been read, the buffer begins anew:
 * memory that was never used before is slow. */
static struct dt_pe_head *new_entry(struct dt_pe_ring *b, uint64_t all, enum dt_pe_entry_kind kind)
{
	uint64_t left = b->size - b->at;
	struct dt_pe_head *x = head_of(b);

	if (__builtin_expect(b->at >= WARM && __atomic_load_n(&b->tail, __ATOMIC_ACQUIRE) == b->head, 0)) {
		b->base = b->head; /* seen by dtrace before the head moves */
		b->at = 0;
		x = head_of(b);
	} else if (__builtin_expect(left < all, 0)) { /* its head fits: sizes are multiples of it */
		x->kind = DT_PE_SKIP;
		b->head += left;
		b->at = 0;
		x = head_of(b);
	}
	x->size = (uint32_t)all;
	x->kind = kind;
	return x;
}

static void add(struct dt_pe_slot *s, uint32_t cost)
{
	struct dt_pe_ring *b = &s->ring;
	uint64_t half = b->limit / 2, before, size = head_of(b)->size;

	if (__builtin_expect(s->e.policy == DT_BUFPOLICY_RING, 0))
		forget_oldest(b, cost);
	before = taken(b);

	b->head_cost += cost;
	b->at = b->at + size == b->size ? 0 : b->at + size;
	__atomic_store_n(&b->head, b->head + size, __ATOMIC_RELEASE);
	if (__builtin_expect(before < half && before + cost >= half && s->e.policy == DT_BUFPOLICY_SWITCH, 0))
		dt_rt_wake();
}

/* Zeroed. */
dt_vm_rec *dt_vm_new_record(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t cost, uint32_t size)
{
	uint64_t all = dt_align_up(sizeof(struct dt_pe_entry) + size, 8);
	struct dt_pe_entry *at = (struct dt_pe_entry *)(void *)new_entry(&dt_rt_slot(e)->ring, all, DT_PE_RECORD);

	memset(&at->rec, 0, all - offsetof(struct dt_pe_entry, rec));
	at->rec.ecb = x;
	at->rec.cpu = e->vm.fire->cpu;
	at->rec.timestamp = dt_vm_builtin(&e->vm, DT_VAR_TIMESTAMP);
	at->rec.cost = cost;
	return &at->rec;
}

void dt_rt_added(struct dt_pe_slot *s, const dt_vm_rec *r)
{
	add(s, r->cost);
}

/* A copy of a record that has its space. */
void dt_rt_add_copy(struct dt_pe_slot *s, const struct dt_pe_entry *x, uint64_t timestamp)
{
	struct dt_pe_entry *at = (struct dt_pe_entry *)(void *)new_entry(&s->ring, x->head.size, DT_PE_RECORD);

	memcpy(&at->rec, &x->rec, x->head.size - offsetof(struct dt_pe_entry, rec));
	at->rec.timestamp = timestamp;
	add(s, at->rec.cost);
}

/* ---- for machine code: there is one part, and no memory to clear ---- */

bool dt_rt_n_room(struct dt_pe_slot *s, uint64_t cost)
{
	return dt_vm_has_room(&s->e, NULL, cost);
}

uint8_t *dt_rt_n_record(struct dt_pe_slot *s, const struct dt_vm_ecb *x)
{
	const dt_record_part *p = &x->record.parts[0];
	struct dt_pe_short *at;

	if (!dt_vm_has_room(&s->e, x, p->cost))
		return NULL;
	s->e.firing[0].cpu = dt_rt_cpu();
	at = (struct dt_pe_short *)(void *)new_entry(&s->ring, dt_align_up(sizeof(*at) + p->data_size, 8), DT_PE_SHORT);
	at->ecb = x;
	at->timestamp = dt_vm_builtin(&s->e.vm, DT_VAR_TIMESTAMP);
	at->cpu = s->e.firing[0].cpu;
	at->cost = p->cost;
	return at->data;
}

void dt_rt_n_added(struct dt_pe_slot *s)
{
	add(s, ((struct dt_pe_short *)(void *)head_of(&s->ring))->cost);
}
