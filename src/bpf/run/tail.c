/*
 * tail: the circles of the ring policy (translate/tr_tail.c), as this process sees them: mapped, and
 * read when tracing has ended.
 */
#include <stdlib.h>

#include "bpf/run/kmap.h"
#include "bpf/run/ring.h"

struct dt_tail {
	struct circle {
		uint8_t *data;
		uint64_t length;
	} cpu[1]; /* one for each CPU */
};

struct dt_tail *dt_tail_map(dt_bpf *e, dt_error *err)
{
	struct dt_tail *t = dt_xcalloc(1, sizeof(*t) + e->plan.ncpus * sizeof(struct circle));

	for (uint32_t i = 0; i < e->plan.ncpus; i++) {
		const struct dt_cpu_buffer *b = &e->maps.tail[i];
		uint64_t lap = b->mask + 1;
		struct circle *c = &t->cpu[i];

		*dt_cpu_word(e, i, CPU_HEAD) = DT_TAIL_START;
		*dt_cpu_word(e, i, CPU_SAFE) = DT_TAIL_START - lap;
		*dt_cpu_word(e, i, CPU_MASK) = b->mask;
		c->length = lap / e->at.tail_piece * e->at.tail_value;
		c->data = dt_kmap_memory(b->fd, c->length, 0, false, err);
		if (!c->data) {
			dt_tail_free(e, t);
			return NULL;
		}
	}
	return t;
}

void dt_tail_free(dt_bpf *e, struct dt_tail *t)
{
	for (uint32_t i = 0; t && i < e->plan.ncpus; i++)
		dt_kmap_unmap(t->cpu[i].data, t->cpu[i].length);
	free(t);
}

/* The records of a CPU that have not been overwritten, newest first. Tracing must have ended. */
void dt_tail_read(const dt_bpf *e, const struct dt_tail *t, uint32_t cpu,
		  void (*each)(void *arg, const struct dt_rec *r, uint32_t size), void *arg)
{
	const struct dt_cpu_buffer *b = &e->maps.tail[cpu];
	uint64_t head = *dt_cpu_word(e, cpu, CPU_HEAD), lap = b->mask + 1, at = head;

	while (at < DT_TAIL_START && at - head < lap) {
		uint64_t in = at & b->mask;
		const struct dt_tail_frame *f =
		    (const void *)(t->cpu[cpu].data + in / e->at.tail_piece * e->at.tail_value +
				   in % e->at.tail_piece);

		if (f->size < REC_HEADER || f->size > e->at.record_size ||
		    f->step * 8ull < dt_layout_frame(f->size) ||
		    at - head + dt_layout_frame(f->size) > lap)
			return;
		each(arg, f->rec, f->size);
		at += f->step * 8ull;
	}
}
