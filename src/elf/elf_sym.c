/*
 * elf_sym: the symbols of an object.
 *
 * All tables are read into two lists, functions and variables, which are then sorted by address;
 * names of one address are adjacent, the best first. A table's strings are copied as a whole, once.
 * Symbols outside the load segments are ignored, and so are undefined, thread-local and section
 * symbols.
 *
 * Assembler functions often have no size: they reach to the next symbol, or to the end of their
 * segment. Rarely a symbol lies inside another (entry points in the middle of assembler code). Then
 * `reach` tells how far back to search.
 *
 * Work is linear in the size of the tables, or nearly so, for any contents: many symbols can share
 * one long name, or parts of one, so lengths are computed once, their sum is limited, and names of
 * different lengths are never compared.
 */
#include <stdlib.h>

#include "elf/elf_remote.h"

#define STOP_EVERY 1024 /* symbols between checks of the stop */
#define MAX_BACK   4096 /* symbols to look back over for one that reaches an address */
#define MAX_TRIES  128	/* slots of the hash table: names can be crafted to collide */

void dt_elf_add_symbol(dt_elf *to, const dt_elfsym *s, bool function)
{
	dt_symtab *t = function ? &to->functions : &to->data;

	if (t->syms.n < DT_MAX_ELF_SYMBOLS)
		*dt_vec_add(&t->syms, NULL) = *s;
}

/* Does the symbol name code (true), a variable (false), or neither (-1)? */
static int is_function(const GElf_Sym *s, bool exec)
{
	switch (GELF_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC: return true;
	case STT_OBJECT:
	case STT_COMMON: return false;
	case STT_NOTYPE: return exec && GELF_ST_BIND(s->st_info) != STB_LOCAL ? true : -1;
	default: return -1;
	}
}

/* Meaningless names: ARM's mapping symbols, compilers' labels. */
static bool is_noise(const char *name)
{
	return name[0] == 0 || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

/* A table being read. */
struct table {
	char *strings; /* with a NUL after it */
	size_t size;
	uint64_t left; /* bytes of names that may still be read */
};

static void add_one(dt_elf *to, const GElf_Sym *s, struct table *t)
{
	char *name = t->strings + s->st_name, *version;
	uint64_t end = UINT64_MAX;
	bool exec = true;
	int function;
	size_t len;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON ||
	    s->st_name >= t->size || is_noise(name))
		return;
	if (to->segs.n && !dt_elf_in_segment(to, s->st_value, &exec, &end))
		return;
	if ((function = is_function(s, exec)) < 0)
		return;
	len = strnlen(name, DT_MAX_ELF_NAME + 1);
	if (len > DT_MAX_ELF_NAME || len > t->left) {
		t->left -= len < t->left ? len : t->left;
		return;
	}
	t->left -= len;
	/* "memcpy@@GLIBC_2.14": names that share the end of this string must be cut as well. */
	if ((version = memchr(name, '@', len)) && version > name)
		*version = 0;
	dt_elf_add_symbol(
	    to,
	    &(dt_elfsym){
		.vaddr = s->st_value,
		.size = s->st_size <= end - s->st_value ? s->st_size : end - s->st_value,
		.name = name,
		.bind = GELF_ST_BIND(s->st_info),
		.type = GELF_ST_TYPE(s->st_info),
		.unsized = s->st_size == 0,
	    },
	    function);
}

/* A copy of the strings, since they are modified. Read directly into place, since they can be
 * large. */
static bool read_strings(dt_elf *to, dt_elf *of, Elf_Scn *scn, struct table *t)
{
	GElf_Shdr sh;
	Elf_Data *d;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB || sh.sh_size == 0)
		return false;
	if (of && !(sh.sh_flags & SHF_COMPRESSED)) {
		if (!dt_elf_may_read(of, &sh))
			return false;
		t->strings = dt_arena_alloc(to->arena, sh.sh_size + 1);
		t->size = dt_elf_read_at(of, sh.sh_offset, t->strings, sh.sh_size);
	} else {
		if (!(d = dt_elf_section_data(of, scn, &sh)))
			return false;
		t->strings = dt_arena_alloc(to->arena, d->d_size + 1);
		memcpy(t->strings, d->d_buf, d->d_size);
		t->size = d->d_size;
	}
	t->left = DT_MAX_NAMES_TIMES * t->size + DT_MB(1);
	return true;
}

void dt_elf_add_symbols(dt_elf *to, dt_elf *of, Elf *elf, uint32_t section_type)
{
	struct table t = {0};
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Scn *strings;
		GElf_Shdr sh;
		GElf_Sym sym;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != section_type ||
		    !(strings = elf_getscn(elf, sh.sh_link)) ||
		    !(d = dt_elf_section_data(of, scn, &sh)) || !read_strings(to, of, strings, &t))
			continue;
		for (int i = 1; t.left && gelf_getsym(d, i, &sym); i++) {
			add_one(to, &sym, &t);
			if (i % STOP_EVERY == 0 && dt_stopped(to->stop))
				return;
		}
		if (t.left == 0)
			dt_elf_left_out(of, "names of symbols that share their bytes", t.size);
		return;
	}
}

/* ---- order ---- */

static int underscores(const char *s)
{
	int n = 0;

	while (n < 8 && s[n] == '_')
		n++;
	return n;
}

/* By address, then the better name. */
static int by_address(const void *a, const void *b, void *stop)
{
	const dt_elfsym *x = a, *y = b;
	bool xf = x->type == STT_NOTYPE, yf = y->type == STT_NOTYPE;
	bool xl = x->bind == STB_LOCAL, yl = y->bind == STB_LOCAL;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (dt_stopped(stop) || x->name == y->name)
		return 0;
	if (x->plt != y->plt)
		return x->plt - y->plt;
	if (xf != yf)
		return xf - yf;
	if (x->unsized != y->unsized)
		return x->unsized - y->unsized;
	if (xl != yl)
		return xl - yl;
	if (underscores(x->name) != underscores(y->name))
		return underscores(x->name) < underscores(y->name) ? -1 : 1;
	if (x->name_len != y->name_len) /* free before cfree */
		return x->name_len < y->name_len ? -1 : 1;
	return memcmp(x->name, y->name, x->name_len);
}

static bool same_name(const dt_elfsym *s, const char *name, size_t len)
{
	return s->name_len == len && (s->name == name || memcmp(s->name, name, len) == 0);
}

/* The same symbol from two tables. They need not be neighbours: one table may call it local that
 * the other calls global. */
static bool is_known(const dt_elfsym *group, const dt_elfsym *end, const dt_elfsym *s)
{
	for (; group < end; group++)
		if (same_name(group, s->name, s->name_len))
			return true;
	return false;
}

#define NEAREST 32

static void mark_aliases(dt_symtab *t)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < t->syms.n; i++) {
		dt_elfsym *s = &t->syms.v[i];

		if (n > 0 && t->syms.v[first].vaddr == s->vaddr) {
			/* A linker that folds equal functions creates thousands of names for one
			 * address; check only the nearest. */
			if (is_known(&t->syms.v[n - first > NEAREST ? n - NEAREST : first],
				     &t->syms.v[n], s))
				continue;
			s->alias = true;
		} else {
			first = n;
		}
		t->syms.v[n++] = *s;
	}
	t->syms.n = n;
}

static void size_unsized(const dt_elf *e, dt_symtab *t)
{
	uint64_t next = UINT64_MAX, above = UINT64_MAX; /* the nearest address above this group */

	for (uint32_t i = t->syms.n; i-- > 0;) {
		dt_elfsym *s = &t->syms.v[i];
		uint64_t end = UINT64_MAX;
		bool exec;

		if (s->vaddr != next) {
			above = next;
			next = s->vaddr;
		}
		if (s->size)
			continue;
		dt_elf_in_segment(e, s->vaddr, &exec, &end);
		if (end == UINT64_MAX && above == UINT64_MAX)
			s->size = 1;
		else
			s->size = (above < end ? above : end) - s->vaddr;
	}
}

void dt_elf_find_reach(dt_symtab *t)
{
	uint64_t end = 0;
	bool nested = false;

	for (uint32_t i = 0; i < t->syms.n; i++) {
		const dt_elfsym *s = &t->syms.v[i];

		if (s->alias)
			continue;
		nested = nested || s->vaddr < end;
		if (s->vaddr + s->size > end)
			end = s->vaddr + s->size;
	}
	if (!nested)
		return;
	t->reach = dt_xcalloc(t->syms.n, sizeof(*t->reach));
	end = 0;
	for (uint32_t i = 0; i < t->syms.n; i++) {
		const dt_elfsym *s = &t->syms.v[i];

		if (!s->alias && s->vaddr + s->size > end)
			end = s->vaddr + s->size;
		t->reach[i] = end;
	}
}

/* ---- the symbols for some addresses ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The first of the addresses that is not below this one. */
static uint32_t place_among(const dt_elf *e, uint64_t vaddr)
{
	uint32_t lo = 0, hi = e->nnear;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->near[mid] < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Keep what look-ups of e->near need, so that they find what they would find among all symbols: those that contain such an
 * address, the next ones below and above it (which say where one without a size ends), and all names of these. Between two of
 * the addresses, the next ones are the first and the last symbol there.
 */
static void keep_near(const dt_elf *e, dt_symtab *t)
{
	struct ends {
		uint64_t first, last;
		bool any;
	} *between = dt_xcalloc(e->nnear + 1, sizeof(*between));
	DT_VEC(uint64_t) kept = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->syms.n; i++) {
		const dt_elfsym *s = &t->syms.v[i];
		uint32_t k = place_among(e, s->vaddr);
		struct ends *b = &between[k];

		b->first = b->any && b->first < s->vaddr ? b->first : s->vaddr;
		b->last = b->any && b->last > s->vaddr ? b->last : s->vaddr;
		b->any = true;
		if (k < e->nnear && e->near[k] - s->vaddr < s->size)
			*dt_vec_add(&kept, NULL) = s->vaddr;
	}
	for (uint32_t k = 0; k <= e->nnear; k++)
		if (between[k].any) {
			*dt_vec_add(&kept, NULL) = between[k].first;
			*dt_vec_add(&kept, NULL) = between[k].last;
		}
	qsort(kept.v, kept.n, sizeof(*kept.v), by_number);
	for (uint32_t i = 0; i < t->syms.n; i++)
		if (bsearch(&t->syms.v[i].vaddr, kept.v, kept.n, sizeof(*kept.v), by_number))
			t->syms.v[n++] = t->syms.v[i];
	t->syms.n = n;
	dt_vec_free(&kept);
	free(between);
}

static void finish(const dt_elf *e, dt_symtab *t)
{
	if (t->syms.n == 0)
		return;
	if (e->near)
		keep_near(e, t);
	/* Not while reading: a version that is cut off shortens names that were read before. */
	for (uint32_t i = 0; i < t->syms.n; i++)
		t->syms.v[i].name_len = (uint16_t)strnlen(t->syms.v[i].name, DT_MAX_ELF_NAME);
	qsort_r(t->syms.v, t->syms.n, sizeof(*t->syms.v), by_address, (void *)e->stop);
	mark_aliases(t);
	size_unsized(e, t);
	dt_elf_find_reach(t);
}

static bool has_table(Elf *elf, uint32_t type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			return true;
	return false;
}

/* The kernel engine reads it through a separate object, and cannot report to the user. */
static void check_unwind(dt_elf *e, Elf *elf)
{
	GElf_Shdr sh;

	if (dt_elf_find_section(e, elf, ".eh_frame", &sh))
		dt_elf_may_read(e, &sh);
}

static void need_symbols(dt_elf *e)
{
	Elf *elf, *debug_elf;
	dt_elf *debug;

	if (e->symbols_read)
		return;
	e->symbols_read = true;
	if (e->remote) {
		dt_elf_ask_symbols(e);
		return;
	}
	if (!(elf = dt_elf_again(e)))
		return;
	dt_elf_add_symbols(e, e, elf, SHT_DYNSYM);
	if (has_table(elf, SHT_SYMTAB)) {
		dt_elf_add_symbols(e, e, elf, SHT_SYMTAB);
	} else if ((debug = dt_elf_debug(e)) && (debug_elf = dt_elf_again(debug))) {
		dt_elf_add_symbols(e, debug, debug_elf, SHT_SYMTAB);
		elf_end(debug_elf);
	} else {
		dt_elf_add_minidebug(e, elf);
	}
	dt_elf_add_plt(e, elf);
	check_unwind(e, elf);
	elf_end(elf);
	finish(e, &e->functions);
	finish(e, &e->data);
}

/* ---- lookups ---- */

uint32_t dt_elf_functions(dt_elf *e, const dt_elfsym **syms)
{
	need_symbols(e);
	*syms = e->functions.syms.v;
	return e->functions.syms.n;
}

uint32_t dt_elf_data(dt_elf *e, const dt_elfsym **syms)
{
	need_symbols(e);
	*syms = e->data.syms.v;
	return e->data.syms.n;
}

/* The first symbol at this vaddr or after it. */
static uint32_t lower_bound(const dt_symtab *t, uint64_t vaddr)
{
	uint32_t lo = 0, hi = t->syms.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->syms.v[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const dt_elfsym *symbol_at(const dt_symtab *t, uint64_t vaddr)
{
	uint32_t at = vaddr < UINT64_MAX ? lower_bound(t, vaddr + 1) : t->syms.n;

	for (uint32_t back = 0; at > 0 && back < MAX_BACK; back++) {
		const dt_elfsym *s = &t->syms.v[--at];

		if (s->alias) {
			at = lower_bound(t, s->vaddr);
			s = &t->syms.v[at];
		}
		if (vaddr - s->vaddr < s->size)
			return s;
		if (!t->reach || t->reach[at] <= vaddr)
			return NULL;
	}
	return NULL;
}

const dt_elfsym *dt_elf_function_at(dt_elf *e, uint64_t vaddr)
{
	need_symbols(e);
	return symbol_at(&e->functions, vaddr);
}

void dt_elf_function_names(dt_elf *e, const uint64_t *vaddrs, uint32_t n, const char **names)
{
	uint64_t *sorted;
	const char **found;
	uint32_t many = 0;

	memset(names, 0, n * sizeof(*names));
	if (!e->remote || e->symbols_read) {
		for (uint32_t i = 0; i < n; i++) {
			const dt_elfsym *sym = dt_elf_function_at(e, vaddrs[i]);

			names[i] = sym ? sym->name : NULL;
		}
		return;
	}
	sorted = dt_xcalloc(n, sizeof(*sorted));
	found = dt_xcalloc(n, sizeof(*found));
	memcpy(sorted, vaddrs, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (uint32_t i = 0; i < n; i++)
		if (many == 0 || sorted[i] != sorted[many - 1])
			sorted[many++] = sorted[i];
	dt_elf_ask_names(e, sorted, many, found);
	for (uint32_t i = 0; i < n; i++)
		names[i] = found[(uint64_t *)bsearch(&vaddrs[i], sorted, many, sizeof(*sorted), by_number) - sorted];
	free(found);
	free(sorted);
}

const dt_elfsym *dt_elf_data_at(dt_elf *e, uint64_t vaddr)
{
	need_symbols(e);
	return symbol_at(&e->data, vaddr);
}

/* The table is built at the first lookup: most objects never need it. Of equal names the first is
 * kept. */
static void need_slots(dt_symtab *t)
{
	uint32_t size = 64;

	if (t->slots)
		return;
	while (size < t->syms.n * 2)
		size *= 2;
	t->slots = dt_xcalloc(size, sizeof(*t->slots));
	t->mask = size - 1;
	for (uint32_t i = 0; i < t->syms.n; i++) {
		const dt_elfsym *s = &t->syms.v[i];
		uint32_t at = (uint32_t)dt_hash_bytes(s->name, s->name_len) & t->mask;

		for (uint32_t tries = 0; t->slots[at] && tries < MAX_TRIES; tries++) {
			if (same_name(&t->syms.v[t->slots[at] - 1], s->name, s->name_len))
				break;
			at = (at + 1) & t->mask;
		}
		if (!t->slots[at])
			t->slots[at] = i + 1;
	}
}

static const dt_elfsym *symbol_named(dt_symtab *t, const char *name)
{
	size_t len = strlen(name);
	uint32_t at;

	need_slots(t);
	at = (uint32_t)dt_hash_bytes(name, len) & t->mask;
	for (uint32_t tries = 0; t->slots[at] && tries <= MAX_TRIES; tries++) {
		const dt_elfsym *s = &t->syms.v[t->slots[at] - 1];

		if (same_name(s, name, len))
			return s;
		at = (at + 1) & t->mask;
	}
	return NULL;
}

const dt_elfsym *dt_elf_function_named(dt_elf *e, const char *name)
{
	need_symbols(e);
	return symbol_named(&e->functions, name);
}

const dt_elfsym *dt_elf_data_named(dt_elf *e, const char *name)
{
	need_symbols(e);
	return symbol_named(&e->data, name);
}
