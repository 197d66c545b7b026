/*
 * elf_object: the inside of an ELF object, shared by the elf*.c files.
 *
 *   elf.c        open, identity, segments, sections, notes
 *   elf_sym.c    symbol tables: read, order, look up
 *   elf_plt.c    names for the entries of the PLT
 *   elf_debug.c  separate debug files, MiniDebugInfo
 *   demangle.c   C++ and Rust names
 */
#ifndef DT_ELF_ELF_OBJECT_H
#define DT_ELF_ELF_OBJECT_H

#include <gelf.h>
#include <libelf.h>

#include "elf/elf.h"

/* Functions or variables, in order. */
typedef struct dt_symtab {
	DT_VEC(dt_elfsym) syms;
	uint64_t *reach; /* of syms[0..i] the largest end; NULL: none lies inside another */
} dt_symtab;

struct dt_elf {
	Elf *elf; /* NULL once shrunk */
	int fd;	  /* -1: from memory */
	char *memory;
	size_t memory_size;
	char *root, *path, *debug_dir;
	dt_arena *arena; /* names of symbols */

	GElf_Ehdr ehdr;
	enum dt_elf_kind kind;
	DT_VEC(struct dt_elf_segment) segs;
	uint8_t build_id[64];
	uint32_t build_id_len;
	char *interp, *soname;
	bool soname_read;

	bool sdt_read, has_sdt_base; /* the notes of static probes */
	struct dt_elf_section sdt;
	uint64_t sdt_base;

	bool symbols_read;
	dt_symtab functions, data;
	dt_elf *debug;
	bool debug_searched;
};

/* A second descriptor of libelf on the same bytes, so that what is read for a while can be let go
 * (elf_end). NULL: shrunk. */
Elf *dt_elf_again(const dt_elf *e);
/* The section of that name; NULL: none. */
Elf_Scn *dt_elf_find_section(Elf *elf, const char *name, GElf_Shdr *sh);
/* Its bytes, decompressed; NULL when there are none or they are corrupt. */
Elf_Data *dt_elf_section_data(Elf_Scn *scn, const GElf_Shdr *sh);
/* Is [vaddr, vaddr + 1) inside a load segment? *end: where that segment ends. */
bool dt_elf_in_segment(const dt_elf *e, uint64_t vaddr, bool *exec, uint64_t *end);

/* elf_sym.c: the symbols of one table, added to those of `to`. */
void dt_elf_add_symbols(dt_elf *to, Elf *elf, uint32_t section_type);
void dt_elf_add_symbol(dt_elf *to, const dt_elfsym *s, bool function);
/* elf_plt.c */
void dt_elf_add_plt(dt_elf *to, Elf *elf);
/* elf_debug.c: what debug files know, added to `to`. */
void dt_elf_add_minidebug(dt_elf *to, Elf *elf);

#endif
