/*
 * spec: speculations.
 *
 * nspec of them, each with a buffer of specsize bytes. With one CPU the seven states of a
 * speculation reduce to three, because a commit or discard completes at once and nothing waits for
 * a cleaner:
 *
 *	inactive --speculation()--> active --speculate()--> used
 *	    ^                         |                       |
 *	    +--- commit(), discard() -+-----------------------+
 *
 * Hence "busy" never happens here, only "unavailable".
 */
#include <stdlib.h>

#include "vm/machine.h"

struct dt_vm_specs {
	uint64_t n;
	uint64_t drops, unavail;
	struct {
		enum { INACTIVE, ACTIVE, USED } state;
		dt_vm_buf buf;
	} v[];
};

dt_vm_specs *dt_vm_specs_new(uint64_t nspec, uint64_t specsize)
{
	dt_vm_specs *s;

	if (nspec > DT_NSPEC_MAX)
		return NULL;
	s = dt_vm_memory(sizeof(*s) + nspec * sizeof(s->v[0]));
	if (!s)
		return NULL;
	s->n = nspec;
	for (uint64_t i = 0; i < nspec; i++)
		dt_vm_buf_init(&s->v[i].buf, specsize, false);
	return s;
}

void dt_vm_specs_free(dt_vm_specs *s)
{
	for (uint64_t i = 0; s && i < s->n; i++)
		dt_vm_buf_clear(&s->v[i].buf);
	free(s);
}

uint64_t dt_vm_spec_new(dt_vm_specs *s)
{
	for (uint64_t i = 0; i < s->n; i++)
		if (s->v[i].state == INACTIVE) {
			s->v[i].state = ACTIVE;
			return i + 1;
		}
	s->unavail++;
	return 0;
}

/* Id 0 means "no speculation" and is not an error; one above nspec is. */
static bool known(const dt_vm_specs *s, uint64_t id, bool *bad)
{
	*bad = id > s->n;
	return id != 0 && !*bad;
}

dt_vm_buf *dt_vm_spec_use(dt_vm_specs *s, uint64_t id, bool *bad)
{
	if (!known(s, id, bad) || s->v[id - 1].state == INACTIVE)
		return NULL;
	s->v[id - 1].state = USED;
	return &s->v[id - 1].buf;
}

dt_vm_buf *dt_vm_spec_data(dt_vm_specs *s, uint64_t id, bool *bad)
{
	return known(s, id, bad) && s->v[id - 1].state == USED ? &s->v[id - 1].buf : NULL;
}

void dt_vm_spec_discard(dt_vm_specs *s, uint64_t id, bool *bad)
{
	if (!known(s, id, bad))
		return;
	dt_vm_buf_clear(&s->v[id - 1].buf);
	s->v[id - 1].state = INACTIVE;
}

void dt_vm_spec_drop(dt_vm_specs *s)
{
	s->drops++;
}

bool dt_vm_spec_is_active(const dt_vm_specs *s, uint64_t id)
{
	return s->v[id - 1].state != INACTIVE;
}

dt_vm_buf *dt_vm_spec_set(dt_vm_specs *s, uint64_t id, bool active, bool used)
{
	s->v[id - 1].state = used ? USED : active ? ACTIVE : INACTIVE;
	return &s->v[id - 1].buf;
}

void dt_vm_specs_status(const dt_vm_specs *s, dt_status *st)
{
	st->spec_drops = s->drops;
	st->spec_unavail = s->unavail;
}
