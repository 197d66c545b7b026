/*
 * record: the principal buffer and the buffers of speculations.
 *
 * A buffer is a list of records in order with a budget of bytes, the size an option gave it. Each
 * record costs its size in a fixed layout (header and all data, strings at full size), so that
 * drops depend only on the sizes, not on how the list is stored.
 */
#include <stdlib.h>

#include "vm/machine.h"

void dt_vm_buf_init(dt_vm_buf *b, uint64_t limit, bool ring)
{
	*b = (dt_vm_buf){.limit = limit, .ring = ring};
	b->last = &b->first;
}

dt_vm_rec *dt_vm_buf_take(dt_vm_buf *b)
{
	dt_vm_rec *r = b->first;

	if (r) {
		b->first = r->next;
		b->used -= r->cost;
		if (!b->first)
			b->last = &b->first;
	}
	return r;
}

void dt_vm_buf_clear(dt_vm_buf *b)
{
	while (b->first)
		free(dt_vm_buf_take(b));
}

/* A ring accepts any record that is not larger than itself. */
bool dt_vm_buf_fits(const dt_vm_buf *b, uint64_t cost, uint64_t reserve)
{
	uint64_t used = b->ring ? 0 : b->used;

	return reserve <= b->limit && used <= b->limit - reserve &&
	       cost <= b->limit - reserve - used;
}

void dt_vm_buf_add(dt_vm_buf *b, dt_vm_rec *r)
{
	while (b->ring && b->first && b->used + r->cost > b->limit)
		free(dt_vm_buf_take(b));
	r->next = NULL;
	*b->last = r;
	b->last = &r->next;
	b->used += r->cost;
}

bool dt_vm_buf_move(dt_vm_buf *to, dt_vm_buf *from, uint64_t timestamp, uint64_t reserve)
{
	dt_vm_rec *r;

	if (!dt_vm_buf_fits(to, from->used, reserve)) {
		dt_vm_buf_clear(from);
		return false;
	}
	while ((r = dt_vm_buf_take(from))) {
		r->timestamp = timestamp;
		dt_vm_buf_add(to, r);
	}
	return true;
}
