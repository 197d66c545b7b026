/*
 * elf_object: the inside of an ELF object, shared by the elf*.c files.
 *
 *   elf.c        open, identity, segments, sections, notes
 *   elf_limit.c  limits on what is read
 *   elf_sym.c    symbol tables: read, order, look up
 *   elf_plt.c    names for the entries of the PLT
 *   elf_dynamic.c  its own name, the libraries it needs
 *   elf_debug.c  separate debug files, MiniDebugInfo
 *   demangle.c   C++ and Rust names
 *   elf_ask.c    the same for an object that a helper reads: its answers, checked (elf_remote.h)
 *   elf_serve.c  the helper's side of that
 */
#ifndef DT_ELF_ELF_OBJECT_H
#define DT_ELF_ELF_OBJECT_H

#include <gelf.h>
#include <libelf.h>

#include "base/budget.h"
#include "elf/elf.h"

/* Functions or variables, in order. */
typedef struct dt_symtab {
	DT_VEC(dt_elfsym) syms;
	uint64_t *reach; /* the largest end of syms[0..i]; NULL: none is inside another */
	uint32_t *slots; /* hash table over the names: index + 1, 0 is free; NULL: not needed yet */
	uint32_t mask;
} dt_symtab;

struct dt_elf {
	Elf *elf; /* NULL once shrunk, or if a helper reads it */
	struct dt_elf_remote *remote; /* of such an object; NULL: we read the file ourselves */
	int fd;	  /* -1: from memory */
	char *memory;
	size_t memory_size;
	char *root, *path, *debug_dir;
	dt_arena *arena; /* names of symbols */
	const dt_stop *stop;
	char *problem;	    /* the first part that was refused */

	GElf_Ehdr ehdr;
	enum dt_elf_kind kind;
	DT_VEC(struct dt_elf_segment) segs;
	uint8_t build_id[64];
	uint32_t build_id_len;
	char *interp;
	struct { /* elf_dynamic.c */
		bool read, pie;
		char *soname, *search; /* NULL: none */
		DT_VEC(char *) needed;
	} dynamic;

	bool sdt_read, has_sdt_base; /* the notes of static probes */
	struct dt_elf_section sdt;
	uint64_t sdt_base;

	bool symbols_read;
	dt_symtab functions, data;
	const uint64_t *near; /* helper: only symbols for these vaddrs, ascending, are kept; NULL: all */
	uint32_t nnear;
	dt_elf *debug;
	bool debug_searched;
};

/* A second descriptor of libelf on the same bytes, so that data that is read temporarily can be
 * released (elf_end). NULL: shrunk. */
Elf *dt_elf_again(const dt_elf *e);
/* The section of that name; NULL: none. `of` is where its bytes are; NULL: in memory. */
Elf_Scn *dt_elf_find_section(dt_elf *of, Elf *elf, const char *name, GElf_Shdr *sh);
/* The same for an object that a helper may read. */
bool dt_elf_has_section(dt_elf *e, const char *name, GElf_Shdr *sh);
/* Its bytes, decompressed; NULL if there are none, or they are corrupt or too many. */
Elf_Data *dt_elf_section_data(dt_elf *of, Elf_Scn *scn, const GElf_Shdr *sh);

/* elf_limit.c */
/* Can these bytes be given to libelf at all? It allocates an entry for each section a file claims
 * to have. */
int dt_elf_check_header(const dt_elf *e, dt_error *err);
/* May this section be read as a whole? If not, `of` gets a problem. */
bool dt_elf_may_read(dt_elf *of, const GElf_Shdr *sh);
/* A string of a string table; NULL: none, or the table may not be read. */
const char *dt_elf_string(dt_elf *of, Elf *elf, size_t section, size_t offset);
void dt_elf_left_out(dt_elf *of, const char *what, uint64_t size);
/* Bytes of the file itself, wherever it is; returns how many. */
size_t dt_elf_read_at(const dt_elf *e, uint64_t offset, void *to, size_t n);
/* Is [vaddr, vaddr + 1) inside a load segment? *end: where that segment ends. */
bool dt_elf_in_segment(const dt_elf *e, uint64_t vaddr, bool *exec, uint64_t *end);

/* elf_sym.c: how far symbols reach, once they are in order */
void dt_elf_find_reach(dt_symtab *t);
/* elf_sym.c: the symbols of one table of `of`, added to those of `to`. */
void dt_elf_add_symbols(dt_elf *to, dt_elf *of, Elf *elf, uint32_t section_type);
void dt_elf_add_symbol(dt_elf *to, const dt_elfsym *s, bool function);
/* elf_dynamic.c */
void dt_elf_read_dynamic(dt_elf *e);
void dt_elf_free_dynamic(dt_elf *e);
/* elf_plt.c */
void dt_elf_add_plt(dt_elf *to, Elf *elf);
/* elf_debug.c: the symbols of debug files, added to `to`. */
void dt_elf_add_minidebug(dt_elf *to, Elf *elf);

#endif
