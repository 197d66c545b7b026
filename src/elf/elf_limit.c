/*
 * elf_limit: refuses parts of an ELF file that exceed what real files have (base/budget.h).
 *
 * A file of some kilobytes can claim to have sections of gigabytes: in a sparse file they cost
 * their author nothing, and a reader all of its memory. So every section has a limit by its
 * purpose, and a large one must have its blocks on disk. The first part that is refused is
 * remembered in one sentence, for the user.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "elf/elf_object.h"

void dt_elf_left_out(dt_elf *of, const char *what, uint64_t size)
{
	if (of && !of->problem)
		of->problem = dt_xasprintf("not read: %s (%llu MB)", what,
					   (unsigned long long)(size + DT_MB(1) - 1) >> 20);
}

const char *dt_elf_problem(const dt_elf *e)
{
	return e->problem || !e->debug ? e->problem : e->debug->problem;
}

/* ---- headers ---- */

static uint64_t number(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

/* The number of sections that libelf would allocate an entry for. A count that does not fit into
 * the header is the size of section 0. */
static uint64_t section_count(const dt_elf *e, const Elf64_Ehdr *h)
{
	bool is64 = h->e_ident[EI_CLASS] == ELFCLASS64;
	const Elf32_Ehdr *h32 = (const Elf32_Ehdr *)h;
	uint64_t at = is64 ? h->e_shoff : h32->e_shoff;
	size_t size = is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t first[sizeof(Elf64_Shdr)];

	if (is64 ? h->e_shnum : h32->e_shnum)
		return is64 ? h->e_shnum : h32->e_shnum;
	if (at == 0 || dt_elf_read_at(e, at, first, size) < size)
		return 0;
	return is64 ? number(first + offsetof(Elf64_Shdr, sh_size), 8)
		    : number(first + offsetof(Elf32_Shdr, sh_size), 4);
}

int dt_elf_check_header(const dt_elf *e, dt_error *err)
{
	Elf64_Ehdr h = {0};
	uint64_t n;

	if (dt_elf_read_at(e, 0, &h, sizeof(h)) < sizeof(Elf32_Ehdr) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0; /* libelf reports the error */
	n = section_count(e, &h);
	if (n <= DT_MAX_ELF_SECTIONS)
		return 0;
	return dt_err(err, ENOEXEC, "%s%s%llu sections are more than an ELF file has",
		      e->path ? e->path : "", e->path ? ": " : "", (unsigned long long)n);
}

/* ---- sections ---- */

static uint64_t limit_of(const GElf_Shdr *sh)
{
	switch (sh->sh_type) {
	case SHT_STRTAB: return DT_MAX_ELF_STRINGS;
	case SHT_SYMTAB:
	case SHT_DYNSYM: return DT_MAX_ELF_SYMBOLS * sizeof(Elf64_Sym);
	case SHT_NOTE: return DT_MAX_ELF_NOTE;
	case SHT_DYNAMIC: return DT_MAX_ELF_DYNAMIC;
	case SHT_RELA: return DT_MAX_ELF_RELA;
	case SHT_X86_64_UNWIND: return DT_MAX_ELF_UNWIND;
	}
	if (!(sh->sh_flags & SHF_ALLOC))
		return DT_MAX_ELF_DEBUG;
	return DT_MAX_ELF_OTHER;
}

static const char *kind_of(const GElf_Shdr *sh)
{
	switch (sh->sh_type) {
	case SHT_STRTAB: return "names of symbols";
	case SHT_SYMTAB:
	case SHT_DYNSYM: return "symbols";
	case SHT_NOTE: return "notes";
	}
	return sh->sh_flags & SHF_ALLOC ? "a section of unwind tables or code"
					: "debug information";
}

bool dt_elf_may_read(dt_elf *of, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || sh->sh_size == 0)
		return true;
	if (sh->sh_size <= limit_of(sh) &&
	    (sh->sh_size <= DT_MAX_ELF_HOLE || !of || of->fd < 0 || sh->sh_offset == UINT64_MAX ||
	     !dt_file_has_hole(of->fd, sh->sh_offset, sh->sh_size)))
		return true;
	dt_elf_left_out(of, kind_of(sh), sh->sh_size);
	return false;
}

const char *dt_elf_string(dt_elf *of, Elf *elf, size_t section, size_t offset)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB ||
	    sh.sh_flags & SHF_COMPRESSED || !dt_elf_may_read(of, &sh))
		return NULL;
	return elf_strptr(elf, section, offset);
}
