/*
 * elf_dynamic: what an object tells the dynamic linker: its own name, the libraries it needs, and where to look for them.
 *
 * Strings are read one by one from where the file has them: the table can have megabytes of names of symbols, which
 * are not needed here.
 */
#include <limits.h>
#include <stdlib.h>

#include "elf/elf_remote.h"

/* A string of the dynamic string table; NULL: there is none, or it is longer than a path. To be freed. */
static char *read_string(const dt_elf *e, const GElf_Shdr *strings, uint64_t at)
{
	char buf[PATH_MAX];
	size_t n = sizeof(buf);

	if (strings->sh_type != SHT_STRTAB || at >= strings->sh_size)
		return NULL;
	if (n > strings->sh_size - at)
		n = strings->sh_size - at;
	n = dt_elf_read_at(e, strings->sh_offset + at, buf, n);
	return n && strnlen(buf, n) < n && *buf ? dt_xstrdup(buf) : NULL;
}

static void set(char **to, char *s)
{
	free(*to);
	*to = s;
}

static void read_entry(dt_elf *e, const GElf_Dyn *d, const GElf_Shdr *strings)
{
	char *s;

	switch (d->d_tag) {
	case DT_FLAGS_1: e->dynamic.pie = d->d_un.d_val & DF_1_PIE; break;
	case DT_SONAME: set(&e->dynamic.soname, read_string(e, strings, d->d_un.d_val)); break;
	case DT_RPATH:
	case DT_RUNPATH: set(&e->dynamic.search, read_string(e, strings, d->d_un.d_val)); break;
	case DT_NEEDED:
		if (e->dynamic.needed.n < DT_MAX_ELF_NEEDED &&
		    (s = read_string(e, strings, d->d_un.d_val)))
			*dt_vec_add(&e->dynamic.needed, NULL) = s;
		break;
	}
}

void dt_elf_read_dynamic(dt_elf *e)
{
	Elf_Scn *scn = NULL, *table;

	if (e->dynamic.read || !e->elf)
		return;
	e->dynamic.read = true;
	while ((scn = elf_nextscn(e->elf, scn))) {
		GElf_Shdr sh, strings = {0};
		Elf_Data *d;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC ||
		    !(d = dt_elf_section_data(e, scn, &sh)))
			continue;
		if ((table = elf_getscn(e->elf, sh.sh_link)))
			gelf_getshdr(table, &strings);
		for (int i = 0; gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++)
			read_entry(e, &dyn, &strings);
		return;
	}
}

void dt_elf_free_dynamic(dt_elf *e)
{
	for (uint32_t i = 0; i < e->dynamic.needed.n; i++)
		free(e->dynamic.needed.v[i]);
	dt_vec_free(&e->dynamic.needed);
	free(e->dynamic.soname);
	free(e->dynamic.search);
}

const char *dt_elf_soname(dt_elf *e)
{
	dt_elf_read_dynamic(e);
	return e->dynamic.soname;
}

uint32_t dt_elf_needed(dt_elf *e, char *const **names, const char **search)
{
	dt_elf_read_dynamic(e);
	*names = e->dynamic.needed.v;
	*search = e->dynamic.search;
	return e->dynamic.needed.n;
}
