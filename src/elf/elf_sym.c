/*
 * elf_sym: the symbols of an object.
 *
 * All tables are read into two lists, functions and variables, which are then sorted by address;
 * names of one address stand together, the best first. A table's strings are copied whole, once.
 * What lies outside the load segments is left out, and so are undefined, thread-local and section
 * symbols.
 *
 * Assembler functions often have no size: they reach to the next symbol, or to the end of their
 * segment. Rarely a symbol lies inside another (entry points in the middle of assembler code). Then
 * `reach` tells how far back to look.
 */
#include <stdlib.h>

#include "elf/elf_object.h"

#define MAX_SYMBOLS 8000000 /* per object; far beyond the largest browser */

void dt_elf_add_symbol(dt_elf *to, const dt_elfsym *s, bool function)
{
	dt_symtab *t = function ? &to->functions : &to->data;

	if (t->syms.n < MAX_SYMBOLS)
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

/* Names that say nothing: ARM's mapping symbols, compiler's labels. */
static bool is_noise(const char *name)
{
	return name[0] == 0 || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static void add_one(dt_elf *to, const GElf_Sym *s, char *strings, size_t size)
{
	char *name = strings + s->st_name, *version;
	uint64_t end = UINT64_MAX;
	bool exec = true;
	int function;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON ||
	    s->st_name >= size || is_noise(name))
		return;
	if (to->segs.n && !dt_elf_in_segment(to, s->st_value, &exec, &end))
		return;
	if ((function = is_function(s, exec)) < 0)
		return;
	/* "memcpy@@GLIBC_2.14": names that share this string's tail want it cut, too. */
	if ((version = strchr(name, '@')) && version > name)
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

void dt_elf_add_symbols(dt_elf *to, Elf *elf, uint32_t section_type)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh, strings_sh;
		Elf_Scn *strings_scn;
		Elf_Data *d, *strings;
		GElf_Sym sym;
		char *names;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != section_type ||
		    !(strings_scn = elf_getscn(elf, sh.sh_link)) ||
		    !gelf_getshdr(strings_scn, &strings_sh) || strings_sh.sh_type != SHT_STRTAB ||
		    !(d = dt_elf_section_data(scn, &sh)) ||
		    !(strings = dt_elf_section_data(strings_scn, &strings_sh)))
			continue;
		names = dt_arena_alloc(to->arena, strings->d_size + 1);
		memcpy(names, strings->d_buf, strings->d_size);
		for (int i = 1; gelf_getsym(d, i, &sym); i++)
			add_one(to, &sym, names, strings->d_size);
		return;
	}
}

/* ---- order ---- */

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* By address, then the better name. */
static int by_address(const void *a, const void *b)
{
	const dt_elfsym *x = a, *y = b;
	bool xf = x->type == STT_NOTYPE, yf = y->type == STT_NOTYPE;
	bool xl = x->bind == STB_LOCAL, yl = y->bind == STB_LOCAL;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
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
	if (strlen(x->name) != strlen(y->name)) /* free before cfree */
		return strlen(x->name) < strlen(y->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The same symbol from two tables. They need not be neighbours: one table may call it local that
 * the other calls global. */
static bool is_known(const dt_elfsym *group, const dt_elfsym *end, const dt_elfsym *s)
{
	for (; group < end; group++)
		if (strcmp(group->name, s->name) == 0)
			return true;
	return false;
}

static void mark_aliases(dt_symtab *t)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < t->syms.n; i++) {
		dt_elfsym *s = &t->syms.v[i];

		if (n > 0 && t->syms.v[first].vaddr == s->vaddr) {
			/* Thousands of names of one address are a hostile file; look at some only.
			 */
			if (is_known(&t->syms.v[n - first > 64 ? n - 64 : first], &t->syms.v[n], s))
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

static void find_reach(dt_symtab *t)
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

static void finish(const dt_elf *e, dt_symtab *t)
{
	if (t->syms.n == 0)
		return;
	qsort(t->syms.v, t->syms.n, sizeof(*t->syms.v), by_address);
	mark_aliases(t);
	size_unsized(e, t);
	find_reach(t);
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

static void need_symbols(dt_elf *e)
{
	Elf *elf, *debug_elf;
	dt_elf *debug;

	if (e->symbols_read)
		return;
	e->symbols_read = true;
	if (!(elf = dt_elf_again(e)))
		return;
	dt_elf_add_symbols(e, elf, SHT_DYNSYM);
	if (has_table(elf, SHT_SYMTAB)) {
		dt_elf_add_symbols(e, elf, SHT_SYMTAB);
	} else if ((debug = dt_elf_debug(e)) && (debug_elf = dt_elf_again(debug))) {
		dt_elf_add_symbols(e, debug_elf, SHT_SYMTAB);
		elf_end(debug_elf);
	} else {
		dt_elf_add_minidebug(e, elf);
	}
	dt_elf_add_plt(e, elf);
	elf_end(elf);
	finish(e, &e->functions);
	finish(e, &e->data);
}

/* ---- questions ---- */

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

static const dt_elfsym *symbol_at(const dt_symtab *t, uint64_t vaddr)
{
	uint32_t lo = 0, hi = t->syms.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->syms.v[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) {
		const dt_elfsym *s = &t->syms.v[lo];

		if (s->alias)
			continue;
		if (vaddr - s->vaddr < s->size)
			return s;
		if (!t->reach || t->reach[lo] <= vaddr)
			return NULL;
	}
	return NULL;
}

const dt_elfsym *dt_elf_function_at(dt_elf *e, uint64_t vaddr)
{
	need_symbols(e);
	return symbol_at(&e->functions, vaddr);
}

const dt_elfsym *dt_elf_data_at(dt_elf *e, uint64_t vaddr)
{
	need_symbols(e);
	return symbol_at(&e->data, vaddr);
}

static const dt_elfsym *symbol_named(const dt_symtab *t, const char *name)
{
	for (uint32_t i = 0; i < t->syms.n; i++)
		if (strcmp(t->syms.v[i].name, name) == 0)
			return &t->syms.v[i];
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
