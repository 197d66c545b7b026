/*
 * names: data about probes by index, if probes can be added during tracing (else it is read-only
 * data: plan/layout.c). The maps have spare room:
 *
 *	dt_names	array: probe -> four offsets in dt_text, id, return
 *	dt_text		the names
 *	dt_epids	hash: clause << 32 | probe -> EPID
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/run/kmap.h"
#include "bpf/run/maps.h"

#define SPARE 65536 /* probes that can be added */

struct dt_names {
	uint32_t *rows, room; /* mapped */
	char *text;	      /* mapped */
	uint32_t used;
	dt_map *pool; /* text -> where it is */
};

static int make_texts(dt_bpf *e, struct dt_names *n, dt_error *err)
{
	e->maps.names = dt_kmap_make(e,
				     &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
						       .name = "dt_names",
						       .key = 4,
						       .value = NAME_ROW,
						       .entries = n->room,
						       .flags = BPF_F_MMAPABLE},
				     err);
	if (e->maps.names < 0)
		return -1;
	e->maps.text = dt_kmap_make(e,
				    &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
						      .name = "dt_text",
						      .key = 4,
						      .value = NAME_TEXT_SIZE,
						      .entries = 1,
						      .flags = BPF_F_MMAPABLE},
				    err);
	if (e->maps.text < 0)
		return -1;
	n->rows = dt_kmap_memory(e->maps.names, (uint64_t)n->room * NAME_ROW, 0, true, err);
	n->text = n->rows ? dt_kmap_memory(e->maps.text, NAME_TEXT_SIZE, 0, true, err) : NULL;
	n->pool = dt_map_new();
	n->used = 1;
	return n->text ? 0 : -1;
}

int dt_names_make(dt_bpf *e, dt_error *err)
{
	struct dt_names *n;

	if (!e->plan.grows)
		return 0;
	n = e->names = dt_xcalloc(1, sizeof(*n));
	n->room = e->plan.probes.n + SPARE;
	if (e->needs.is.names && make_texts(e, n, err) < 0)
		return -1;
	if (e->needs.is.epid || e->plan.has_error) {
		e->maps.epids = dt_kmap_make(e,
					     &(struct dt_kmap){.type = BPF_MAP_TYPE_HASH,
							       .name = "dt_epids",
							       .key = 8,
							       .value = 4,
							       .entries = n->room * 4,
							       .flags = BPF_F_NO_PREALLOC},
					     err);
		if (e->maps.epids < 0)
			return -1;
	}
	return dt_names_add(e, 0, err);
}

/* Where the text is in dt_text; 0 (an empty text): no space left. */
static uint32_t text_at(struct dt_names *n, const char *s)
{
	uintptr_t at = (uintptr_t)dt_map_get(n->pool, s);
	size_t size = strlen(s) + 1;

	if (at || !*s)
		return (uint32_t)at;
	if (size > NAME_TEXT_SIZE - n->used)
		return 0;
	at = n->used;
	memcpy(n->text + at, s, size);
	n->used += (uint32_t)size;
	dt_map_set(n->pool, s, (void *)at);
	return (uint32_t)at;
}

static int add_epids(const dt_bpf *e, uint32_t probe)
{
	for (uint32_t i = 0; i < e->plan.clauses.n; i++) {
		const dt_ecb *ecb = e->plan.clauses.v[i].ecbs[probe];
		uint64_t key = (uint64_t)i << 32 | probe;

		if (ecb && bpf_map_update_elem(e->maps.epids, &key, &ecb->epid, BPF_ANY) < 0)
			return -1;
	}
	return 0;
}

int dt_names_add(dt_bpf *e, uint32_t first, dt_error *err)
{
	struct dt_names *n = e->names;

	for (uint32_t i = first; n && i < e->plan.probes.n; i++) {
		uint32_t *row = n->rows ? n->rows + (uint64_t)i * (NAME_ROW / 4) : NULL;

		if (i >= n->room && (n->rows || e->maps.epids >= 0))
			return dt_err(err, ENOSPC, "more than %u probes have joined", SPARE);
		for (uint32_t k = 0; row && k < 4; k++)
			row[k] = text_at(n, dt_layout_name(e->plan.probes.v[i].probe, k));
		if (row) {
			row[NAME_ROW_ID / 4] = e->plan.probes.v[i].probe->id;
			row[NAME_ROW_RETURN / 4] = dt_layout_return(&e->plan, &e->needs, i);
		}
		if (e->maps.epids >= 0 && add_epids(e, i) < 0)
			return dt_err(err, ENOSPC, "no room for more probes");
	}
	return 0;
}

void dt_names_free(dt_bpf *e)
{
	struct dt_names *n = e->names;

	if (!n)
		return;
	dt_kmap_unmap(n->rows, (uint64_t)n->room * NAME_ROW);
	dt_kmap_unmap(n->text, NAME_TEXT_SIZE);
	dt_map_free(n->pool);
	free(n);
	e->names = NULL;
}
