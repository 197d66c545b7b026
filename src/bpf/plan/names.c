/*
 * names: what programs know of a probe by its index: the parts of its name, its id, where its
 * function returns, the EPIDs of its clauses.
 *
 * Usually all probes are known when programs are made, and these tables are read-only data. When
 * probes can join while tracing (e->grows), they are maps with room to spare instead:
 *
 *	dt_names	array: probe -> four offsets in dt_text, id, return
 *	dt_text		the names
 *	dt_epids	hash: clause << 32 | probe -> EPID
 *
 * A name is cut to the room that a string of it gets in records and keys, which is fixed before
 * the longest name is known: then it is the longest that DTrace has.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bpf/image.h"
#include "kernel/kcode.h"

#define SPARE	  65536	     /* probes that can join */
#define TEXT_SIZE (2u << 20) /* a power of two; for all names */

static const char *part_of(const dt_probe *p, uint32_t part)
{
	return part == 0 ? p->prov : part == 1 ? p->mod : part == 2 ? p->func : p->name;
}

uint32_t dt_names_bound(const dt_engine *e, uint32_t part)
{
	static const uint32_t longest[] = {64, 64, 192, 64};
	size_t max = e->grows ? longest[part] - 1 : 0;

	for (uint32_t i = 0; i < e->probes.n; i++) {
		const char *s = part_of(e->probes.v[i].probe, part);

		if (strlen(s) > max)
			max = strlen(s);
	}
	return (uint32_t)max + 1;
}

/* arg0 of a return. Whoever is called when a kernel function returns sees the caller again, not the function:
 * where it returned is known only if it has a single place for that. Its code is read when some clause wants to
 * know. */
static uint32_t return_place(const dt_engine *e, uint32_t probe)
{
	const struct dt_plan_probe *x = &e->probes.v[probe];

	return e->need.returns && x->kind == PK_FUNC_RETURN && x->at.number
		   ? dt_kcode_return(e->kfuncs, e->types, (uint32_t)x->at.number - 1)
		   : 0;
}

/* ---- all are known: read-only data ---- */

static void place_names(dt_engine *e)
{
	uint32_t *index = dt_xcalloc(e->probes.n + 1, NAME_ROW);

	for (uint32_t i = 0; i < e->probes.n; i++) {
		for (uint32_t k = 0; k < 4; k++)
			index[i * 8 + k] = dt_layout_string(e, part_of(e->probes.v[i].probe, k));
		index[i * 8 + 4] = e->probes.v[i].probe->id;
		index[i * 8 + 5] = return_place(e, i);
	}
	e->at.names = (uint32_t)e->rodata.n;
	dt_buf_add(&e->rodata, index, e->probes.n * NAME_ROW);
	free(index);
}

/* clause * probes + probe -> epid; 0 where the clause is not enabled. */
static void place_epids(dt_engine *e)
{
	uint32_t *row = dt_xcalloc(e->probes.n + 1, 4);

	e->at.epids = (uint32_t)e->rodata.n;
	for (uint32_t i = 0; i < e->clauses.n; i++) {
		for (uint32_t k = 0; k < e->probes.n; k++)
			row[k] = e->clauses.v[i].ecbs[k] ? e->clauses.v[i].ecbs[k]->epid : 0;
		dt_buf_add(&e->rodata, row, e->probes.n * 4);
	}
	free(row);
	while (e->rodata.n % 8)
		dt_buf_add(&e->rodata, "", 1);
}

void dt_names_place(dt_engine *e)
{
	if (e->grows)
		return;
	if (e->need.names)
		place_names(e);
	if (e->need.epid || e->need.error)
		place_epids(e);
}

/* ---- more may come: maps ---- */

int dt_names_make(dt_engine *e, dt_error *err)
{
	struct dt_names *n = &e->names;

	if (!e->grows)
		return 0;
	n->room = e->probes.n + SPARE;
	if (e->need.names) {
		n->fd_rows = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_names", 4, NAME_ROW, n->room,
					  BPF_F_MMAPABLE, err);
		n->fd_text = n->fd_rows < 0 ? -1
					    : dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_text", 4,
							   TEXT_SIZE, 1, BPF_F_MMAPABLE, err);
		if (n->fd_text < 0 ||
		    !(n->rows = dt_kmap_memory(n->fd_rows, (uint64_t)n->room * NAME_ROW, err)) ||
		    !(n->text = dt_kmap_memory(n->fd_text, TEXT_SIZE, err)))
			return -1;
		n->pool = dt_map_new();
		n->used = 1;
	}
	if (e->need.epid || e->need.error) {
		n->fd_epids = dt_kmap_make(e, BPF_MAP_TYPE_HASH, "dt_epids", 8, 4, n->room * 4,
					   BPF_F_NO_PREALLOC, err);
		if (n->fd_epids < 0)
			return -1;
	}
	return dt_names_add(e, 0, err);
}

/* Where the text is in dt_text; 0: there is no room left, it is empty. */
static uint32_t text_at(struct dt_names *n, const char *s)
{
	uintptr_t at = (uintptr_t)dt_map_get(n->pool, s);
	size_t size = strlen(s) + 1;

	if (at || !*s)
		return (uint32_t)at;
	if (size > TEXT_SIZE - n->used)
		return 0;
	at = n->used;
	memcpy(n->text + at, s, size);
	n->used += (uint32_t)size;
	dt_map_set(n->pool, s, (void *)at);
	return (uint32_t)at;
}

static int add_epids(dt_engine *e, uint32_t probe)
{
	for (uint32_t i = 0; i < e->clauses.n; i++) {
		const dt_ecb *ecb = e->clauses.v[i].ecbs[probe];
		uint64_t key = (uint64_t)i << 32 | probe;

		if (ecb && bpf_map_update_elem(e->names.fd_epids, &key, &ecb->epid, BPF_ANY) < 0)
			return -1;
	}
	return 0;
}

int dt_names_add(dt_engine *e, uint32_t first, dt_error *err)
{
	struct dt_names *n = &e->names;

	for (uint32_t i = first; i < e->probes.n; i++) {
		uint32_t *row = n->rows ? n->rows + (uint64_t)i * (NAME_ROW / 4) : NULL;

		if (i >= n->room && (n->rows || n->fd_epids >= 0))
			return dt_err(err, ENOSPC, "more than %u probes have joined", SPARE);
		for (uint32_t k = 0; row && k < 4; k++)
			row[k] = text_at(n, part_of(e->probes.v[i].probe, k));
		if (row) {
			row[4] = e->probes.v[i].probe->id;
			row[5] = return_place(e, i);
		}
		if (n->fd_epids >= 0 && add_epids(e, i) < 0)
			return dt_err(err, ENOSPC, "no room for more probes");
	}
	return 0;
}

void dt_names_free(dt_engine *e)
{
	struct dt_names *n = &e->names;

	if (n->rows)
		munmap(n->rows, dt_align_up((uint64_t)n->room * NAME_ROW, 4096));
	if (n->text)
		munmap(n->text, TEXT_SIZE);
	dt_map_free(n->pool);
}

/* ---- in programs ---- */

/* r1 = u32 at `off` in the row of the probe */
static void row_field(dt_tr *t, uint32_t off)
{
	dt_code *c = t->c;
	dt_engine *e = t->e;
	uint32_t ok = dt_code_label(c), no = dt_code_label(c);

	e->need.names = true;
	if (e->grows) {
		ld(c, 4, R1, R6, S_PROBE);
		st(c, 4, R10, -4, R1);
		map(c, R1, e->names.fd_rows);
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -4);
		helper(c, BPF_FUNC_map_lookup_elem);
		movi(c, R1, 0);
		jmpi(c, BPF_JEQ, R0, 0, no);
		ld(c, 4, R1, R0, (int)off);
		dt_code_place(c, no);
		return;
	}
	ld(c, 4, R1, R6, S_PROBE);
	jmpi(c, BPF_JLT, R1, (int32_t)e->probes.n, ok);
	movi(c, R1, 0);
	dt_code_place(c, ok);
	alui(c, BPF_LSH, R1, NAME_ROW_SHIFT);
	map_value(c, R2, e->fd_rodata, e->at.names + off);
	alu(c, BPF_ADD, R2, R1);
	ld(c, 4, R1, R2, 0);
}

void dt_tr_name(dt_tr *t, uint32_t part)
{
	row_field(t, part * 4);
	if (t->e->grows) {
		alui(t->c, BPF_AND, R1, TEXT_SIZE - 1);
		map_value(t->c, R0, t->e->names.fd_text, 0);
	} else {
		alui(t->c, BPF_AND, R1, 0xfffffff); /* far below what may be added to a pointer */
		map_value(t->c, R0, t->e->fd_rodata, 0);
	}
	alu(t->c, BPF_ADD, R0, R1);
}

void dt_tr_probe_id(dt_tr *t)
{
	row_field(t, NAME_ROW_ID);
	mov(t->c, R0, R1);
}

void dt_tr_probe_return(dt_tr *t)
{
	t->e->need.returns = true;
	row_field(t, NAME_ROW_RETURN);
	mov(t->c, R0, R1);
}

void dt_tr_epid(dt_tr *t, bool faulting)
{
	dt_code *c = t->c;
	dt_engine *e = t->e;
	uint32_t no = dt_code_label(c);

	if (!faulting)
		e->need.epid = true;
	if (faulting)
		ld(c, 4, R1, R6, S_CLAUSE);
	else
		movi(c, R1, (int32_t)t->clause);
	if (e->grows) {
		alui(c, BPF_LSH, R1, 32);
		ld(c, 4, R2, R6, S_PROBE);
		alu(c, BPF_OR, R1, R2);
		st(c, 8, R10, -8, R1);
		map(c, R1, e->names.fd_epids);
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -8);
		helper(c, BPF_FUNC_map_lookup_elem);
		jmpi(c, BPF_JEQ, R0, 0, no);
		ld(c, 4, R0, R0, 0);
		dt_code_place(c, no);
		return;
	}
	alui(c, BPF_MUL, R1, (int32_t)e->probes.n);
	ld(c, 4, R2, R6, S_PROBE);
	alu(c, BPF_ADD, R1, R2);
	movi(c, R0, 0);
	jmpi(c, BPF_JGE, R1, (int32_t)(e->clauses.n * e->probes.n), no);
	alui(c, BPF_LSH, R1, 2);
	map_value(c, R2, e->fd_rodata, e->at.epids);
	alu(c, BPF_ADD, R2, R1);
	ld(c, 4, R0, R2, 0);
	dt_code_place(c, no);
}
