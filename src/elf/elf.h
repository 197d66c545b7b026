/*
 * elf: one ELF object (executable, shared library, separate debug file, vDSO): its identity, its
 * load segments, its symbols and sections.
 *
 * Three kinds of numbers, never to be mixed:
 *
 *   vaddr    an address as the file has it (symbol values, sections)
 *   offset   a place in the file; what a uprobe is attached to
 *   address  where it is in a process: vaddr + bias; the bias belongs to a mapping (proc/mappings.h)
 *
 * Opening reads only the headers. Symbols are read when they are first needed: .symtab and .dynsym
 * of the file, the compressed table of .gnu_debugdata (MiniDebugInfo), the .symtab of the separate
 * debug file, and the entries of the PLT ("malloc@plt"). Section data are read when asked for.
 * Nothing is mapped, so a file that shrinks while it is read is an error, not a signal. Any bytes
 * may be given: corrupt data is refused with a message, or ignored; so is data beyond what real
 * files need (base/budget.h), which dt_elf_problem() reports.
 *
 * With a jail (jail/jail.h) it is not this process that parses the file: each question goes to a helper, its answer is checked
 * and kept here, and only look-ups in it are ours. Without one, the file is parsed here: in the helper itself, for what the
 * kernel made (vDSO), in tests.
 *
 * One object must not be used by two threads at once.
 */
#ifndef DT_ELF_ELF_H
#define DT_ELF_ELF_H

#include "base/base.h"
#include "jail/jail.h"

typedef struct dt_elf dt_elf;

/* ---- open ---- */

/* Where to search for separate debug files and the object itself; all may be NULL. */
struct dt_elf_place {
	const char *root;      /* before absolute paths: "/proc/12/root"; NULL: our own root */
	const char *path;      /* the object's own path inside root, for .gnu_debuglink */
	const char *debug_dir; /* instead of "/usr/lib/debug" (option debugdir) */
	const dt_stop *stop;   /* reading symbols ends, incomplete, when it is set */
	dt_jail *jail;	       /* reads the file; NULL: this process does */
	bool own_jail;	       /* it is the object's from now on, also when opening fails */
};

/* path is opened unchanged; the place tells where it came from (NULL: path itself). NULL with *err.
 */
dt_elf *dt_elf_open(const char *path, const struct dt_elf_place *place, dt_error *err);
/* Takes over the descriptor, even if this fails. */
dt_elf *dt_elf_open_fd(int fd, const struct dt_elf_place *place, dt_error *err);
/* The same with its separate debug file (-1: none); no other is searched for. For helpers. */
dt_elf *dt_elf_open_pair(int fd, int debug, dt_error *err);
/* The bytes are copied (vDSO, tests). */
dt_elf *dt_elf_open_memory(const void *bytes, size_t n, dt_error *err);
void dt_elf_free(dt_elf *e);
/* Read the symbols, then release the file: sections and reads fail from now on. */
void dt_elf_shrink(dt_elf *e);
size_t dt_elf_memory(const dt_elf *e); /* bytes in use, about */
/* What was ignored so far because of a limit: "symbols are left out: .strtab has 3000 MB"; NULL:
 * nothing. */
const char *dt_elf_problem(const dt_elf *e);

/* ---- what it is ---- */
enum dt_elf_kind {
	DT_ELF_EXEC,   /* linked at fixed addresses */
	DT_ELF_PIE,    /* position-independent executable */
	DT_ELF_SHARED, /* library, vDSO */
	DT_ELF_OTHER,  /* relocatable, core */
};
enum dt_elf_kind dt_elf_kind(const dt_elf *e);
bool dt_elf_is_static(const dt_elf *e);	  /* executable without PT_INTERP */
bool dt_elf_is_64(const dt_elf *e);	  /* 64-bit */
uint16_t dt_elf_machine(const dt_elf *e); /* EM_X86_64 ... */
uint64_t dt_elf_entry(const dt_elf *e);
/* The GNU build id; 0 bytes when there is none. */
const uint8_t *dt_elf_build_id(const dt_elf *e, uint32_t *n);
const char *dt_elf_path(const dt_elf *e); /* its own path, from the place; "" unknown */
const char *dt_elf_interp(const dt_elf *e); /* program interpreter; NULL: none */
const char *dt_elf_soname(dt_elf *e);	    /* NULL: none */
/* The libraries it needs, and the list of directories that it names for them (NULL: none). */
uint32_t dt_elf_needed(dt_elf *e, char *const **names, const char **search);

/* ---- segments ---- */
struct dt_elf_segment { /* PT_LOAD */
	uint64_t vaddr, offset, file_size, mem_size;
	bool read, write, exec;
};
uint32_t dt_elf_segments(const dt_elf *e, const struct dt_elf_segment **segs); /* by vaddr */
bool dt_elf_vaddr_to_offset(const dt_elf *e, uint64_t vaddr, uint64_t *offset);
/* Executable segments are searched first: data segments may share a page of the file with them. */
bool dt_elf_offset_to_vaddr(const dt_elf *e, uint64_t offset, uint64_t *vaddr);
/* The bias of an object one of whose mappings starts at `start` with file offset `offset`. */
bool dt_elf_bias(const dt_elf *e, uint64_t start, uint64_t offset, uint64_t *bias);
/* Read up to n bytes at a vaddr from the file; returns how many. */
size_t dt_elf_read(dt_elf *e, uint64_t vaddr, void *to, size_t n);

/* ---- symbols ---- */
typedef struct dt_elfsym {
	uint64_t vaddr;
	uint64_t size;	  /* of an unsized one: up to the next symbol or the end of its section */
	const char *name; /* as in the file, without "@VERSION"; PLT entries: "malloc@plt" */
	uint8_t bind;	  /* STB_* */
	uint8_t type;	  /* STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT */
	bool alias;	  /* another name of the symbol before it that is not an alias */
	bool plt;	  /* an entry of the PLT */
	bool unsized;	  /* the file gives no size: assembler */
	uint16_t name_len;
} dt_elfsym;

/* All functions by vaddr, each followed by its aliases. The first of a group is the best name:
 * global before local, then with fewer leading underscores, then shorter. Valid until
 * dt_elf_free(). */
uint32_t dt_elf_functions(dt_elf *e, const dt_elfsym **syms);
uint32_t dt_elf_data(dt_elf *e, const dt_elfsym **syms); /* variables, likewise */
/* The function that the vaddr lies in (never an alias); NULL: none. */
const dt_elfsym *dt_elf_function_at(dt_elf *e, uint64_t vaddr);
const dt_elfsym *dt_elf_data_at(dt_elf *e, uint64_t vaddr);
/* The names of the functions that these n vaddrs lie in; NULL: none. For a few of them this is much faster than reading
 * all symbols, which it does not do. Valid until dt_elf_free(). */
void dt_elf_function_names(dt_elf *e, const uint64_t *vaddrs, uint32_t n, const char **names);
/* By name, aliases included, exactly as in the file; the first by vaddr when there are several. */
const dt_elfsym *dt_elf_function_named(dt_elf *e, const char *name);
const dt_elfsym *dt_elf_data_named(dt_elf *e, const char *name);

/* C++ and Rust (both manglings): the readable name, to be freed; NULL: the name is not mangled.
 * With params false without parameter lists: "ns::cls::f" for "ns::cls::f(int)". */
char *dt_demangle(const char *name, bool params);
/* The same for n names, by a helper if there is a jail. */
void dt_demangle_all(dt_jail *j, const char *const *names, uint32_t n, bool params, char **out);

/* ---- sections ---- */
struct dt_elf_section {
	uint64_t vaddr, offset, size;
	uint32_t type; /* SHT_* */
	const void
	    *data; /* decompressed if necessary; NULL for SHT_NOBITS; valid until shrink or free */
	uint64_t data_size;
};
/* False: there is none, or it cannot be read. */
bool dt_elf_section(dt_elf *e, const char *name, struct dt_elf_section *s);
/* Does this vaddr lie in a section of that name? */
bool dt_elf_in_section(dt_elf *e, const char *name, uint64_t vaddr);

/* One note of .note.stapsdt, as it is in the file (addresses not yet adjusted to .stapsdt.base). */
struct dt_elf_note {
	const void *desc; /* pc, base, semaphore; provider, name, arguments as strings */
	uint32_t size;
};
/* The notes with owner "stapsdt" and type 3, in order of the file; false at the end. *it starts at
 * 0. */
bool dt_elf_next_sdt(dt_elf *e, size_t *it, struct dt_elf_note *note);
/* Where .stapsdt.base is now; false: there is none. */
bool dt_elf_sdt_base(dt_elf *e, uint64_t *vaddr);

/* ---- debug information ---- */
/* The separate debug file by build id or .gnu_debuglink; NULL: none. Owned by e. */
dt_elf *dt_elf_debug(dt_elf *e);
/* Where the DWARF is: e itself, its debug file, or NULL. */
dt_elf *dt_elf_dwarf(dt_elf *e);
dt_jail *dt_elf_jail(const dt_elf *e); /* reads it; NULL: this process does */
/* The source of the instruction at this vaddr: its file is added to *file. False: unknown. */
bool dt_elf_line(dt_elf *e, uint64_t vaddr, dt_buf *file, unsigned *line);
int dt_elf_fd(const dt_elf *e); /* -1: none (memory, or shrunk). Owned by e */

#endif
