/*
 * rt_record: records of a thread: vm.c and record.c without allocation.
 *
 * A record is made where it stays, in the thread's buffer, and counts when the head moves. There is one at a time: a clause
 * has added or dropped its part before ERROR fires. Space was checked for (dt_vm_has_room); the buffer is as large as
 * the smallest records need it to be (slots.c).
 */
#include "process/runtime/runtime.h"

void dt_vm_count_drop(const dt_vm_engine *e, uint64_t *drops)
{
	(void)e;
	(*drops)++;
}

static uint64_t taken(const struct dt_pe_ring *b)
{
	return b->head_cost - __atomic_load_n(&b->tail_cost, __ATOMIC_ACQUIRE);
}

bool dt_vm_has_room(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t cost)
{
	struct dt_pe_slot *s = dt_rt_slot(e);

	(void)x;
	if (cost <= s->ring.limit && taken(&s->ring) <= s->ring.limit - cost)
		return true;
	s->drops++;
	return false;
}

static struct dt_pe_entry *entry_at(const struct dt_pe_ring *b, uint64_t at)
{
	return (struct dt_pe_entry *)(void *)(b->data + at % b->size);
}

/* Zeroed, at the head; what does not fit before the end of the buffer goes to its start. */
dt_vm_rec *dt_vm_new_record(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t cost, uint32_t size)
{
	struct dt_pe_ring *b = &dt_rt_slot(e)->ring;
	uint64_t all = dt_align_up(sizeof(struct dt_pe_entry) + size, 8), left = b->size - b->head % b->size;
	struct dt_pe_entry *x_at = entry_at(b, b->head);

	if (left < all) {
		if (left >= offsetof(struct dt_pe_entry, rec))
			x_at->skip = 1;
		b->head += left;
		x_at = entry_at(b, b->head);
	}
	memset(x_at, 0, all);
	x_at->size = all;
	x_at->rec.ecb = x;
	x_at->rec.cpu = e->vm.fire->cpu;
	x_at->rec.timestamp = dt_vm_builtin(&e->vm, DT_VAR_TIMESTAMP);
	x_at->rec.cost = cost;
	return &x_at->rec;
}

void dt_vm_buf_add(dt_vm_buf *into, dt_vm_rec *r)
{
	dt_vm_engine *e = (dt_vm_engine *)(void *)((char *)into - offsetof(dt_vm_engine, principal));
	struct dt_pe_ring *b = &dt_rt_slot(e)->ring;
	uint64_t half = b->limit / 2, before = taken(b);

	b->head_cost += r->cost;
	__atomic_store_n(&b->head, b->head + entry_at(b, b->head)->size, __ATOMIC_RELEASE);
	if (before < half && before + r->cost >= half)
		dt_rt_wake();
}

/* Speculations are refused when the engine opens. */
bool dt_vm_buf_fits(const dt_vm_buf *b, uint64_t cost, uint64_t reserve)
{
	(void)b, (void)cost, (void)reserve;
	return false;
}

bool dt_vm_buf_move(dt_vm_buf *to, dt_vm_buf *from, uint64_t timestamp, uint64_t reserve)
{
	(void)to, (void)from, (void)timestamp, (void)reserve;
	return false;
}

dt_vm_buf *dt_vm_spec_use(dt_vm_specs *s, uint64_t id, bool *bad)
{
	(void)s, (void)id;
	*bad = true;
	return NULL;
}

dt_vm_buf *dt_vm_spec_data(dt_vm_specs *s, uint64_t id, bool *bad)
{
	return dt_vm_spec_use(s, id, bad);
}

void dt_vm_spec_discard(dt_vm_specs *s, uint64_t id, bool *bad)
{
	dt_vm_spec_use(s, id, bad);
}

void dt_vm_spec_drop(dt_vm_specs *s)
{
	(void)s;
}
