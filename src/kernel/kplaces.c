/*
 * kplaces: places in vmlinux that cannot be probed (kcode.h). The kernel has tables of them. Each row begins with the
 * distance to the place:
 *
 *	struct jump_entry		s32 code, target; s64 key
 *	struct static_call_site		s32 addr, key
 *	struct exception_table_entry	s32 insn, fixup; s16 type, data
 *
 * Kernels without CONFIG_KALLSYMS_ALL do not say where they are; but they are between the code and the code of booting, and a
 * row points into the code twice. No other data there looks like a hundred rows. Tables of modules have no symbols either, and
 * are not looked for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "kernel/kcode.h"
#include "kernel/ktext.h"

#define MAX_IMAGE (256u << 20)
#define MANY	  100 /* rows that are a table */

struct image {
	uint64_t text, end;	/* code, with that of booting */
	uint64_t at;		/* what is between */
	size_t n;
	uint8_t *bytes; /* NULL: not read yet, or it cannot be */
	bool looked;
};

static int32_t word(const uint8_t *p)
{
	int32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Does the word at an address lead to an instruction? */
static bool to_code(const struct image *m, uint64_t at, const uint8_t *p)
{
	uint64_t to = at + (uint64_t)(int64_t)word(p);

	return to >= m->text && to < m->end && to % dt_arch_host()->code_align == 0;
}

static bool is_jump(const struct image *m, uint64_t at, const uint8_t *p)
{
	uint64_t key;

	memcpy(&key, p + 8, sizeof(key));
	key = (key & ~3ull) + at + 8;
	return at % 8 == 0 && to_code(m, at, p) && to_code(m, at + 4, p + 4) && key >= m->text && key - m->text < MAX_IMAGE;
}

static bool is_fixup(const struct image *m, uint64_t at, const uint8_t *p)
{
	return to_code(m, at, p) && to_code(m, at + 4, p + 4) && p[8] < 32 && p[9] == 0;
}

static const struct table {
	const char *start, *stop;
	uint8_t row;
	bool fixups; /* can be probed on some CPUs */
	bool (*is_row)(const struct image *m, uint64_t at, const uint8_t *p); /* NULL: such kernels do not have it */
} tables[] = {{"__start___jump_table", "__stop___jump_table", 16, false, is_jump},
	      {"__start_static_call_sites", "__stop_static_call_sites", 8, false, NULL},
	      {"__start___ex_table", "__stop___ex_table", 12, true, is_fixup}};

static void add_rows(const struct table *t, dt_kplaces *p, uint64_t start, const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at + t->row <= n; at += t->row)
		*dt_vec_add(&p->addrs, NULL) = start + at + (uint64_t)(int64_t)word(bytes + at);
}

static void read_table(const struct table *t, dt_kplaces *p, uint64_t start, uint64_t stop)
{
	uint8_t *bytes;

	if (stop <= start || stop - start > 16u << 20)
		return;
	bytes = dt_xmalloc(stop - start);
	if (dt_ktext_read(start, bytes, stop - start) == 0)
		add_rows(t, p, start, bytes, stop - start);
	free(bytes);
}

static void read_image(dt_ksyms *ks, struct image *m)
{
	uint64_t boot;

	m->looked = true;
	if (!dt_ksym_by_name(ks, "vmlinux", "_stext", &m->text) || !dt_ksym_by_name(ks, "vmlinux", "_etext", &m->at) ||
	    !dt_ksym_by_name(ks, "vmlinux", "_sinittext", &boot) || !dt_ksym_by_name(ks, "vmlinux", "_einittext", &m->end) ||
	    m->at < m->text || boot <= m->at || m->end < boot || m->end - m->text > MAX_IMAGE)
		return;
	m->n = boot - m->at;
	m->bytes = dt_xmalloc(m->n);
	if (dt_ktext_read(m->at, m->bytes, m->n) < 0) {
		free(m->bytes);
		m->bytes = NULL;
	}
}

static void search_table(const struct table *t, dt_kplaces *p, const struct image *m)
{
	for (size_t at = 0; m->bytes && at + t->row <= m->n;) {
		size_t end = at;

		while (end + t->row <= m->n && t->is_row(m, m->at + end, m->bytes + end))
			end += t->row;
		if (end - at >= (size_t)MANY * t->row)
			add_rows(t, p, m->at + at, m->bytes + at, end - at);
		at = end > at ? end : at + 4;
	}
}

static int compare_addrs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

dt_kplaces *dt_kplaces_read(dt_ksyms *ks)
{
	dt_kplaces *p = dt_xcalloc(1, sizeof(*p));
	struct image m = {0};
	uint64_t start, stop;

	for (const struct table *t = tables; t < tables + DT_NELEM(tables); t++) {
		if (t->fixups && !dt_arch_host()->code->refuses_fixups)
			continue;
		if (dt_ksym_by_name(ks, "vmlinux", t->start, &start) && dt_ksym_by_name(ks, "vmlinux", t->stop, &stop)) {
			read_table(t, p, start, stop);
		} else if (t->is_row) {
			if (!m.looked)
				read_image(ks, &m);
			search_table(t, p, &m);
		}
	}
	free(m.bytes);
	if (p->addrs.n)
		qsort(p->addrs.v, p->addrs.n, sizeof(*p->addrs.v), compare_addrs);
	return p;
}

void dt_kplaces_free(void *places)
{
	dt_vec_free(&((dt_kplaces *)places)->addrs);
	free(places);
}

bool dt_kplaces_has(const dt_kplaces *p, uint64_t addr)
{
	return p->addrs.n &&
	       bsearch(&addr, p->addrs.v, p->addrs.n, sizeof(*p->addrs.v), compare_addrs);
}
