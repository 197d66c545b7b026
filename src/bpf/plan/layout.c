/*
 * layout: assigns offsets, once the first round has collected what is needed.
 *
 * The slot is one value of the slots map: fixed fields (code/slot.h), then the areas placed here.
 * Read-only data is one frozen map value: constant strings, the names of the probes, the tables
 * that take an event (a system call number, ...) to its probe and clauses, and zeros to copy from.
 */
#include <stdlib.h>

#include "bpf/code/sublang.h"
#include "bpf/code/slot.h"
#include "bpf/plan/layout.h"
#include "kernel/kcode.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---- variables ---- */

static bool is_array(const dt_plan *p, const dt_plan_needs *n, int scope, uint32_t i)
{
	return p->vars[scope].v[i].array || n->keys[scope][i].array;
}

/* Numbers first, then objects, each preceded by 8 bytes that say whether it is NULL. */
static void place_scalars(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n,
			  int scope, uint32_t first)
{
	const struct dt_plan_scope *s = &p->vars[scope];
	struct dt_scope_place *to = &l->vars[scope];
	uint32_t at = first;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].seen && !is_array(p, n, scope, i) && !s->v[i].byref) {
			to->v[i].offset = at;
			at += 8;
		}
	to->refs = at;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].seen && !is_array(p, n, scope, i) && s->v[i].byref) {
			to->v[i].offset = at;
			at += 8 + (uint32_t)dt_align_up(s->v[i].size, 8);
		}
	to->size = at;
}

uint64_t dt_layout_storage(const struct dt_scope_place *s)
{
	return dt_align_up(s->size + (s->size - s->refs) + 8, 8);
}

/* The table of thread-local variables in addition to task storage, or instead of it: thread.c. */
#define FEW	    (1u << 20) /* bytes of it in addition to task storage ... */
#define MANY	    (8u << 20) /* ... and instead of it */
#define ENTRIES_MIN 64
#define FEW_MAX	    1024
#define MANY_MAX    32768

bool dt_layout_has_storage(const struct dt_plan_layout *l, const dt_plan *p)
{
	return l->thread_size <= DT_STORAGE_MAX && dt_plan_can(p, STORAGE);
}

static void place_threads(struct dt_plan_layout *l, const dt_plan *p)
{
	uint64_t size = dt_layout_storage(&l->vars[DT_SCOPE_THREAD]), most, n;

	l->thread_size = (uint32_t)size;
	most = dt_layout_has_storage(l, p) ? FEW_MAX : MANY_MAX;
	n = (dt_layout_has_storage(l, p) ? FEW : MANY) / (ASIDE_OWNER + size);
	n = n > most ? most : n < ENTRIES_MIN ? ENTRIES_MIN : n;
	while (n >> (l->aside_bits + 1))
		l->aside_bits++;
}

/* The largest that code builds or copies, found while assigning offsets. */
struct largest {
	uint32_t agg_key, dyn_key, zeros, element;
};

/*
 * The elements that an array has memory for from the start. It gets more as it needs them, in the
 * map that all arrays share (var.c), until dynvarsize is used up.
 */
#define FIRST	(512u << 10)
#define ELEMENT 64 /* what the kernel adds to an element of a hash */

static void place_more(struct dt_plan_layout *l, const dt_plan *p, const struct largest *most)
{
	uint64_t room = dt_opt(p->opts, DT_O_DYNVARSIZE), n;

	if (!most->element || room <= FIRST)
		return;
	n = (room - FIRST) / (most->element + 8);
	for (l->more_elements = n > 0; l->more_elements * 2 <= n;)
		l->more_elements *= 2; /* its table has a power of two of buckets */
}

static void place_arrays(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n,
			 int scope, struct largest *most)
{
	uint64_t room = dt_opt(p->opts, DT_O_DYNVARSIZE);

	for (uint32_t i = 0; i < p->vars[scope].n; i++) {
		const struct dt_plan_var *v = &p->vars[scope].v[i];
		const struct dt_var_keys *keys = &n->keys[scope][i];
		struct dt_var_place *to = &l->vars[scope].v[i];
		uint32_t at = scope == DT_SCOPE_THREAD ? 8 : 0, chunk;

		if (!is_array(p, n, scope, i) || !keys->n)
			continue;
		for (uint32_t k = 0; k < keys->n; k++) {
			to->key[k] = at;
			at += (uint32_t)dt_align_up(keys->key[k].size, 8);
		}
		to->key_size = at ? at : 8;
		chunk = ELEMENT + to->key_size + 8 + (v->byref ? (uint32_t)dt_align_up(v->size, 8) : 0);
		chunk = larger(chunk, DT_CHUNK_MIN(room)) + 4;
		to->entries = (room < FIRST ? room : FIRST) / chunk;
		most->element = larger(most->element, chunk);
		if (to->entries < 1)
			to->entries = 1;
		most->dyn_key = larger(most->dyn_key, to->key_size);
		most->zeros = larger(most->zeros, to->key_size);
		if (8 + 2 * v->size > most->zeros)
			most->zeros = 8 + 2 * v->size + 16;
	}
}

static void place_aggs(struct dt_plan_layout *l, const dt_plan *p, struct largest *most)
{
	l->agg = dt_arena_alloc(p->arena, (p->aggs.n + 1) * sizeof(*l->agg));
	for (uint32_t i = 0; i < p->aggs.n; i++) {
		const struct dt_plan_agg *b = p->aggs.v[i];

		most->agg_key = larger(most->agg_key, b->key_size);
		most->zeros = larger(most->zeros, (b->nwords + 1) * 8);
		if (b->key_size == 0) { /* a word that says "used", then the value */
			l->agg[i] = l->agg_size;
			l->agg_size += 8 + b->nwords * 8;
		}
	}
}

/* Room for updates that maps refuse, until the next snapshot. */
#define REFUSED_BYTES (64u << 10)
#define REFUSED_MIN   16
#define REFUSED_MAX   512

static void place_refused(struct dt_plan_layout *l, const struct largest *most)
{
	uint32_t n;

	l->refused_size = REFUSED_KEY + (uint32_t)dt_align_up(most->agg_key, 8);
	n = REFUSED_BYTES / l->refused_size;
	n = n > REFUSED_MAX ? REFUSED_MAX : n < REFUSED_MIN ? REFUSED_MIN : n;
	while (n >> (l->refused_bits + 1))
		l->refused_bits++;
}

/* ---- the slot ---- */

static uint32_t area(uint32_t *at, uint64_t size)
{
	uint32_t here = *at;

	*at += (uint32_t)dt_align_up(size, 8);
	return here;
}

#define GIVEN_MAX (2u << 20)

/* Option scratchsize: so much for each clause of the program, if that is not too much. */
static uint32_t given_size(const dt_plan *p)
{
	uint64_t each = dt_opt_scratch(p->opts), all = each;

	for (uint32_t i = 1; i < p->clauses.n; i++)
		if (p->clauses.v[i].c->source != p->clauses.v[i - 1].c->source &&
		    all + each <= GIVEN_MAX)
			all += each;
	return (uint32_t)all;
}

#define SLOTS_BYTES (512u << 10) /* for all slots of a CPU, if four fit ... */
#define SLOTS_ALL   (16ull << 20) /* ... and of all CPUs, if each has eight */

static uint32_t flow_size(const dt_plan *p)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < p->clauses.n; i++)
		if (p->clauses.v[i].record.has_control)
			size = larger(size, FLOW_ROUNDS + (p->clauses.v[i].record.loops + p->clauses.v[i].record.functions) * 8);
	return size;
}

static int place_slot(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n,
		      const struct largest *most, dt_error *err)
{
	const struct dt_scope_place *locals = &l->vars[DT_SCOPE_LOCAL];
	uint64_t strings = dt_align_up(p->strsize, 8);
	uint32_t at = n->is.walker ? S_AREAS : S_UNWIND, largest = sizeof(struct dt_fault_rec);

	for (uint32_t i = 0; i < p->clauses.n; i++)
		if (p->clauses.v[i].size > largest)
			largest = p->clauses.v[i].size;
	l->nsub_locals = p->grows ? DT_SUB_LOCALS_MAX : n->sub_locals; /* code that comes later may call any */
	l->sub_locals = area(&at, l->nsub_locals * 8);
	l->flow = area(&at, flow_size(p));
	l->bodies = area(&at, (p->bodies.n + (uint64_t)p->nbody_loops) * 8);
	l->local_vars = area(&at, locals->size);
	l->local_refs = l->local_vars + locals->refs;
	l->local_refs_size = locals->size - locals->refs;
	l->key = area(&at, REFUSED_KEY + most->agg_key) + REFUSED_KEY;
	l->dkey_size = most->dyn_key;
	l->dkey = area(&at, 8 + most->dyn_key) + 8;
	l->last_key = n->is.element ? area(&at, 8 + most->dyn_key) + 8 : at;
	l->record_size = largest;
	l->record = area(&at, largest);
	if (n->is.strings) {
		l->buf_size = (uint32_t)strings;
		for (int i = 0; i < 4; i++)
			l->buf[i] = area(&at, strings + 8);
		for (int i = 4; n->is.groups && i < 6; i++)
			l->buf[i] = area(&at, strings + DT_SUB_WORDS);
	}
	l->stack = n->is.stack ? area(&at, 128 * 8) : at;
	if (n->is.absent) {
		l->absent_size = larger((uint32_t)strings, DT_ABSENT_PIECE);
		l->absent = area(&at, DT_ABSENT_WORDS + l->absent_size + DT_ABSENT_PIECE + 8);
	}
	l->packet = n->is.packet ? area(&at, DT_PACKET_WORDS) : at;
	l->scratch_size = n->is.memory ? 65536 : n->is.scratch ? (uint32_t)(16 * strings) : 8;
	if (n->is.memory && 16 * strings > l->scratch_size)
		l->scratch_size = (uint32_t)(16 * strings);
	if (n->is.memory)
		l->scratch_size += given_size(p);
	l->scratch =
	    area(&at, 2 * (uint64_t)l->scratch_size + 8); /* and the NUL after what is copied in */
	at += (uint32_t)dt_align_up(n->is.packet, 8);
	at += l->local_refs_size; /* see tr_memory.c: copies are checked against twice the area */
	l->slot_size = at = (uint32_t)dt_align_up(at, 8);
	for (l->nslots = DT_SLOTS_MAX; l->nslots > 4 && l->nslots * (uint64_t)at > SLOTS_BYTES;)
		l->nslots /= 2;
	while (l->nslots > 8 && p->ncpus * l->nslots * (uint64_t)at > SLOTS_ALL)
		l->nslots /= 2;
	if (p->strsize > 1u << 20 || at > 64u << 20)
		return dt_err(err, EDT_NOMEM,
			      "strings of %llu bytes are too large for the kernel engine",
			      (unsigned long long)p->strsize);
	return 0;
}

/* ---- read-only data ---- */

/* Does every probe of the program have all its clauses? If so, no masks are needed. */
static bool is_uniform(const dt_plan *plan, const struct dt_plan_prog *p)
{
	for (uint32_t i = 0; i < plan->probes.n; i++) {
		uint32_t n = 0;

		if (!dt_plan_serves(plan, p, i))
			continue;
		for (uint32_t k = 0; k < p->nclauses; k++)
			n += plan->clauses.v[p->clauses[k]].ecbs[i] != NULL;
		if (n && n != p->nclauses)
			return false;
	}
	return true;
}

#define SPARE_ROWS 65536 /* for places in user code that are added during tracing */

static void place_table(struct dt_prog_place *to, const dt_plan *plan, const struct dt_plan_prog *p,
			struct dt_rodata *ro)
{
	uint32_t *table, words;

	to->masks = is_uniform(plan, p) ? 0 : (p->nclauses + 31) / 32;
	if (plan->grows && dt_kind_is_user(p->kind) && p->nclauses > 1)
		to->masks = (p->nclauses + 31) / 32;
	words = 1 + to->masks;
	for (uint32_t i = 0; i < plan->probes.n; i++)
		if (dt_plan_serves(plan, p, i) && plan->probes.v[i].event >= to->nevents)
			to->nevents = plan->probes.v[i].event + 1;
	if (dt_kind_is_user(p->kind)) {
		to->row_size = (uint32_t)dt_align_up(sizeof(struct dt_user_row) + to->masks * 4, 8);
		to->nevents += plan->grows ? SPARE_ROWS : 0;
		to->nprobes = plan->probes.n;
		return;
	}
	table = dt_xcalloc(to->nevents * words + 1, 4);
	for (uint32_t i = 0; i < plan->probes.n; i++) {
		uint32_t *row;

		if (!dt_plan_serves(plan, p, i))
			continue;
		row = table + plan->probes.v[i].event * words;
		for (uint32_t k = 0; k < p->nclauses; k++)
			if (plan->clauses.v[p->clauses[k]].ecbs[i]) {
				row[0] = i + 1;
				if (to->masks)
					row[1 + k / 32] |= 1u << k % 32;
			}
	}
	to->table = dt_rodata_add(ro, table, (size_t)to->nevents * words * 4);
	free(table);
}

/* Which prologue a probe has; those in user code have it in their own tables. */
static void place_prologues(struct dt_prog_place *to, const dt_plan *plan,
			    const struct dt_plan_prog *p, struct dt_rodata *ro)
{
	uint32_t *of;

	if (!p->prologues || dt_kind_is_user(p->kind))
		return;
	of = dt_xcalloc(plan->probes.n + 1, sizeof(*of));
	for (uint32_t i = 0; i < plan->probes.n; i++)
		of[i] = plan->probes.v[i].prologue - (plan->probes.v[i].prologue > 0);
	to->prologue_of = dt_rodata_add(ro, of, plan->probes.n * sizeof(*of));
	free(of);
}

void dt_layout_program(struct dt_plan_layout *l, const dt_plan *p, uint32_t i, struct dt_rodata *ro)
{
	while (l->progs.n <= i)
		dt_vec_add(&l->progs, NULL);
	l->progs.v[i] = (struct dt_prog_place){0};
	place_table(&l->progs.v[i], p, &p->progs.v[i], ro);
	place_prologues(&l->progs.v[i], p, &p->progs.v[i], ro);
}

/* ---- data about probes, if all are known in advance (else in maps: run/names.c) ---- */

const char *dt_layout_name(const dt_probe *p, uint32_t part)
{
	return part == 0 ? p->prov : part == 1 ? p->mod : part == 2 ? p->func : p->name;
}

/* A name is cut to the size of its string in records and keys. If probes can be added, that size is
 * fixed before the longest name is known: then it is DTrace's maximum. */
uint32_t dt_layout_name_bound(const dt_plan *p, uint32_t part)
{
	static const uint32_t longest[] = {64, 64, 192, 64};
	size_t max = p->grows ? longest[part] - 1 : 0;

	for (uint32_t i = 0; i < p->probes.n; i++) {
		const char *s = dt_layout_name(p->probes.v[i].probe, part);

		if (strlen(s) > max)
			max = strlen(s);
	}
	return (uint32_t)max + 1;
}

/* A program that runs when a kernel function returns sees the caller, not the function: the
 * returning instruction is known only if there is only one. The code is read only if some clause
 * uses it. */
uint32_t dt_layout_return(const dt_plan *p, const dt_plan_needs *n, uint32_t probe)
{
	const struct dt_plan_probe *x = &p->probes.v[probe];

	return n->is.returns && x->kind == PK_FUNC_RETURN && x->at.number
		   ? dt_kcode_return(p->kfuncs, p->types, (uint32_t)x->at.number - 1)
		   : 0;
}

static uint32_t place_names(const dt_plan *p, const dt_plan_needs *n, struct dt_rodata *ro)
{
	uint32_t *index = dt_xcalloc(p->probes.n + 1, NAME_ROW), at;

	for (uint32_t i = 0; i < p->probes.n; i++) {
		uint32_t *row = index + i * (NAME_ROW / 4);

		for (uint32_t k = 0; k < 4; k++)
			row[k] = dt_rodata_string(ro, dt_layout_name(p->probes.v[i].probe, k));
		row[NAME_ROW_ID / 4] = p->probes.v[i].probe->id;
		row[NAME_ROW_RETURN / 4] = dt_layout_return(p, n, i);
	}
	at = dt_rodata_add(ro, index, p->probes.n * NAME_ROW);
	free(index);
	return at;
}

/* clause * probes + probe -> epid; 0 where the clause is not enabled. */
static uint32_t place_epids(const dt_plan *p, struct dt_rodata *ro)
{
	uint32_t *epids = dt_xcalloc((size_t)p->clauses.n * p->probes.n + 1, 4), at;

	for (uint32_t i = 0; i < p->clauses.n; i++)
		for (uint32_t k = 0; k < p->probes.n; k++) {
			const dt_ecb *ecb = p->clauses.v[i].ecbs[k];

			epids[(size_t)i * p->probes.n + k] = ecb ? ecb->epid : 0;
		}
	at = dt_rodata_add(ro, epids, (size_t)p->clauses.n * p->probes.n * 4);
	free(epids);
	return at;
}

static void place_rodata(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n,
			 uint32_t zeros, struct dt_rodata *ro)
{
	void *none;

	if (!p->grows && n->is.names)
		l->names = place_names(p, n, ro);
	if (!p->grows && (n->is.epid || p->has_error))
		l->epids = place_epids(p, ro);
	for (uint32_t i = 0; i < p->progs.n; i++)
		dt_layout_program(l, p, i, ro);
	l->zeros_size = (uint32_t)dt_align_up(zeros + 8, 8);
	if (n->is.memory)
		l->zeros_size = larger(l->zeros_size, l->scratch_size);
	none = dt_xcalloc(1, l->zeros_size);
	l->zeros = dt_rodata_add(ro, none, l->zeros_size);
	free(none);
}

/* ---- all together ---- */

static void make_scopes(struct dt_plan_layout *l, const dt_plan *p)
{
	for (int i = 0; i < DT_PLAN_SCOPES; i++)
		l->vars[i].v = dt_arena_alloc(p->arena, (p->vars[i].n + 1) * sizeof(*l->vars[i].v));
}

void dt_layout_init(struct dt_plan_layout *l, const dt_plan *p)
{
	*l = (struct dt_plan_layout){.key = REFUSED_KEY,
				     .dkey = 8,
				     .last_key = 8,
				     .nslots = 4,
				     .nsub_locals = DT_SUB_LOCALS_MAX};
	make_scopes(l, p);
	l->agg = dt_arena_alloc(p->arena, (p->aggs.n + 1) * sizeof(*l->agg));
}

int dt_layout_make(struct dt_plan_layout *l, const dt_plan *p, const dt_plan_needs *n,
		   struct dt_rodata *ro, dt_error *err)
{
	struct largest most = {.zeros = n->is.zeros};

	*l = (struct dt_plan_layout){0};
	make_scopes(l, p);
	place_scalars(l, p, n, DT_SCOPE_GLOBAL, 0);
	place_scalars(l, p, n, DT_SCOPE_THREAD,
		      n->is.vtime ? 8 : 0); /* vtimestamp's word comes first */
	place_scalars(l, p, n, DT_SCOPE_LOCAL, 0);
	place_aggs(l, p, &most);
	place_refused(l, &most);
	place_arrays(l, p, n, DT_SCOPE_GLOBAL, &most);
	place_arrays(l, p, n, DT_SCOPE_THREAD, &most);
	place_more(l, p, &most);
	if (n->is.task_storage)
		place_threads(l, p);
	if (place_slot(l, p, n, &most, err) < 0)
		return -1;
	place_rodata(l, p, n, larger(most.zeros, l->vars[DT_SCOPE_THREAD].size), ro);
	if (p->buffers.policy == DT_BUFPOLICY_RING)
		dt_layout_tails(l, p);
	return 0;
}

void dt_layout_free(struct dt_plan_layout *l)
{
	dt_vec_free(&l->progs);
}
