/*
 * slot_layout: where everything lies, once the first round has told what is needed.
 *
 * The slot is one value of the slots map: fixed fields (image.h), then the areas placed here.
 * Read-only data is one frozen map value: constant strings, the names of the probes, the tables
 * that take an event (a system call number, ...) to its probe and clauses, and a run of zeros to
 * copy from.
 */
#include <stdlib.h>

#include "bpf/image.h"

uint32_t dt_layout_string(dt_engine *e, const char *s)
{
	void *at = dt_map_get(e->string_pool, s);

	if (!at) {
		at = (void *)(e->rodata.n + 1);
		dt_map_set(e->string_pool, s, at);
		dt_buf_add(&e->rodata, s, strlen(s) + 1);
		while (e->rodata.n % 8)
			dt_buf_add(&e->rodata, "", 1);
	}
	return (uint32_t)((uintptr_t)at - 1);
}

/* ---- variables ---- */

/* Numbers first, then objects, each with 8 bytes before it that say whether it is NULL. */
static void place_scalars(struct dt_plan_scope *s, uint32_t first)
{
	uint32_t at = first;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].seen && !s->v[i].array && !s->v[i].byref) {
			s->v[i].offset = at;
			at += 8;
		}
	s->refs = at;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].seen && !s->v[i].array && s->v[i].byref) {
			s->v[i].offset = at;
			at += 8 + (uint32_t)dt_align_up(s->v[i].size, 8);
		}
	s->size = at;
}

static void place_arrays(dt_engine *e, struct dt_plan_scope *s, bool thread)
{
	uint64_t room = dt_opt(e->opts, DT_O_DYNVARSIZE);

	for (uint32_t i = 0; i < s->n; i++) {
		struct dt_plan_var *v = &s->v[i];
		uint32_t at = 0, chunk;

		if (!v->array || !v->nkeys)
			continue;
		if (thread) {
			v->keys[DT_DIF_NTREGS] = (struct dt_plan_key){.size = 8};
			at = 8;
		}
		for (uint32_t k = 0; k < v->nkeys; k++) {
			v->keys[k].offset = at;
			at += (uint32_t)dt_align_up(v->keys[k].size, 8);
		}
		v->key_size = at ? at : 8;
		chunk = 32 + v->key_size + 8 + (v->byref ? (uint32_t)dt_align_up(v->size, 8) : 0);
		if (chunk < 256)
			chunk = 256; /* as DTrace's own chunks: dynvarsize means the same here */
		v->entries = room / (chunk + 4);
		if (v->entries < 1)
			v->entries = 1;
		if (v->key_size > e->need.dyn_key)
			e->need.dyn_key = v->key_size;
		if (8 + 2 * v->size > e->need.zeros)
			e->need.zeros = 8 + 2 * v->size + 16;
	}
}

/* ---- the slot ---- */

static uint32_t area(uint32_t *at, uint64_t size)
{
	uint32_t here = *at;

	*at += (uint32_t)dt_align_up(size, 8);
	return here;
}

#define SLOTS_BYTES (512u << 10) /* for all slots of a CPU, if four fit */

static int place_slot(dt_engine *e, dt_error *err)
{
	struct dt_plan_layout *l = &e->at;
	uint64_t strings = dt_align_up(e->strsize, 8);
	uint32_t at = e->unwind ? S_AREAS : S_UNWIND, largest = sizeof(struct dt_fault_rec);

	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].size > largest)
			largest = e->clauses.v[i].size;
	l->local_vars = area(&at, e->locals.size);
	l->local_refs = l->local_vars + e->locals.refs;
	l->local_refs_size = e->locals.size - e->locals.refs;
	l->key = area(&at, e->need.agg_key);
	l->dkey = area(&at, e->need.dyn_key);
	l->last_key = area(&at, e->need.element ? e->need.dyn_key : 0);
	l->record_size = largest;
	l->record = area(&at, largest);
	if (e->need.strings) {
		l->buf_size = (uint32_t)strings;
		for (int i = 0; i < 4; i++)
			l->buf[i] = area(&at, strings + 8);
	}
	l->stack = e->need.stack ? area(&at, 128 * 8) : at;
	l->scratch_size = e->need.memory ? 65536 : e->need.scratch ? (uint32_t)(16 * strings) : 8;
	if (e->need.memory && 16 * strings > l->scratch_size)
		l->scratch_size = (uint32_t)(16 * strings);
	l->scratch =
	    area(&at, 2 * (uint64_t)l->scratch_size + 8); /* and the NUL behind what is copied in */
	at += l->local_refs_size; /* see tr_memory.c: copies are checked against twice the area */
	l->slot_size = at;
	for (l->nslots = DT_BPF_SLOTS; l->nslots > 4 && l->nslots * (uint64_t)at > SLOTS_BYTES;)
		l->nslots /= 2;
	if (e->strsize > 1u << 20 || at > 64u << 20)
		return dt_err(err, EDT_NOMEM,
			      "strings of %llu bytes are too large for the kernel engine",
			      (unsigned long long)e->strsize);
	return 0;
}

/* ---- read-only data ---- */

/* Does every probe of the program have all of its clauses? Then no masks are needed. */
static bool is_uniform(const dt_engine *e, const struct dt_plan_prog *p)
{
	for (uint32_t i = 0; i < e->probes.n; i++) {
		uint32_t n = 0;

		if (!dt_plan_serves(e, p, i))
			continue;
		for (uint32_t k = 0; k < p->nclauses; k++)
			n += e->clauses.v[p->clauses[k]].ecbs[i] != NULL;
		if (n && n != p->nclauses)
			return false;
	}
	return true;
}

#define SPARE_ROWS 65536 /* for places in user code that join while tracing */

static void place_table(dt_engine *e, struct dt_plan_prog *p)
{
	uint32_t *table, words;

	p->masks = is_uniform(e, p) ? 0 : (p->nclauses + 31) / 32;
	if (e->grows && dt_plan_is_user(p->kind) && p->nclauses > 1)
		p->masks = (p->nclauses + 31) / 32;
	words = 1 + p->masks;
	for (uint32_t i = 0; i < e->probes.n; i++)
		if (dt_plan_serves(e, p, i) && e->probes.v[i].event >= p->nevents)
			p->nevents = e->probes.v[i].event + 1;
	if (dt_plan_is_user(p->kind)) {
		p->row_size = (uint32_t)dt_align_up(sizeof(struct dt_user_row) + p->masks * 4, 8);
		p->nevents += e->grows ? SPARE_ROWS : 0;
		p->nprobes = e->probes.n;
		return;
	}
	table = dt_xcalloc(p->nevents * words + 1, 4);
	for (uint32_t i = 0; i < e->probes.n; i++) {
		uint32_t *row;

		if (!dt_plan_serves(e, p, i))
			continue;
		row = table + e->probes.v[i].event * words;
		for (uint32_t k = 0; k < p->nclauses; k++)
			if (e->clauses.v[p->clauses[k]].ecbs[i]) {
				row[0] = i + 1;
				if (p->masks)
					row[1 + k / 32] |= 1u << k % 32;
			}
	}
	p->table = (uint32_t)e->rodata.n;
	dt_buf_add(&e->rodata, table, (size_t)p->nevents * words * 4);
	while (e->rodata.n % 8)
		dt_buf_add(&e->rodata, "", 1);
	free(table);
}

void dt_layout_program(dt_engine *e, struct dt_plan_prog *p)
{
	place_table(e, p);
	dt_layout_prologues(e, p);
}

static void place_rodata(dt_engine *e)
{
	static const char zeros[256];

	dt_names_place(e);
	for (uint32_t i = 0; i < e->progs.n; i++)
		dt_layout_program(e, &e->progs.v[i]);
	e->at.zeros = (uint32_t)e->rodata.n;
	if (e->threads.size > e->need.zeros)
		e->need.zeros = e->threads.size;
	e->at.zeros_size = (uint32_t)dt_align_up(e->need.zeros + 8, 8);
	if (e->need.memory && e->at.zeros_size < e->at.scratch_size)
		e->at.zeros_size = e->at.scratch_size;
	for (uint32_t left = e->at.zeros_size; left;) {
		uint32_t n = left < sizeof(zeros) ? left : sizeof(zeros);

		dt_buf_add(&e->rodata, zeros, n);
		left -= n;
	}
}

int dt_layout_make(dt_engine *e, dt_error *err)
{
	uint32_t at = 0;

	place_scalars(&e->globals, 0);
	place_scalars(&e->threads, e->need.vtime ? 8 : 0); /* vtimestamp's word comes first */
	place_scalars(&e->locals, 0);
	place_arrays(e, &e->globals, false);
	place_arrays(e, &e->threads, true);
	for (uint32_t i = 0; i < e->aggs.n; i++)
		if (e->aggs.v[i]->nkeys == 0) { /* a word that says "used", then the value */
			e->aggs.v[i]->offset = at;
			at += 8 + e->aggs.v[i]->nwords * 8;
		}
	e->agg_size = at;
	if (place_slot(e, err) < 0)
		return -1;
	place_rodata(e);
	return 0;
}
