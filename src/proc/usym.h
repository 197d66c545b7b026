/*
 * usym: from (process, address) to names.
 *
 * Mappings come from the side-band (sideband.h), which falls back to /proc. Objects are opened once
 * for all processes that map the same file; above a limit the least recently used ones are
 * released. Addresses in anonymous memory are looked up in the perf map of the process
 * (/tmp/perf-PID.map in its own root), which JIT compilers write; it is read as it grows.
 */
#ifndef DT_PROC_USYM_H
#define DT_PROC_USYM_H

#include "elf/elf.h"
#include "proc/sideband.h"

typedef struct dt_usyms dt_usyms;

typedef struct dt_usym {
	const char *object; /* base name of the file: "libc.so.6"; "[vdso]"; NULL: unknown */
	const char *name;   /* NULL: unknown. Demangled unless told not to */
	uint64_t offset;    /* of the address in the symbol */
	uint64_t start;	    /* address of the symbol; 0: unknown */
	uint64_t base;	    /* address of the object's first byte; 0: unknown */
	bool jit;	    /* from a perf map; object is "[jit]" */
} dt_usym;

struct dt_usyms_opts {
	bool raw_names;	       /* do not demangle */
	const char *debug_dir; /* NULL: /usr/lib/debug */
	size_t max_memory;     /* of symbol tables; 0: a default */
	dt_jail *jail;	       /* reads files; NULL: this process does */
	const dt_stop *stop;   /* reading ends, incomplete, when it is set */
};

/* The caller owns sb, which must outlive this. */
dt_usyms *dt_usyms_new(dt_sideband *sb, const struct dt_usyms_opts *opts);
void dt_usyms_free(dt_usyms *us);
/* time: when the address was seen; 0: not known. False: nothing is known about the address. The
 * strings live until dt_usyms_trim(). */
bool dt_usym_by_addr(dt_usyms *us, long pid, uint64_t time, uint64_t addr, dt_usym *s);
/* The object mapped there, opened, and its bias (address = vaddr + bias). NULL: none. Valid until
 * dt_usyms_trim(). */
dt_elf *dt_usym_object(dt_usyms *us, long pid, uint64_t time, uint64_t addr, uint64_t *bias);
/* What was not read of a file because of a limit, once for each file: "lib.so: not read: ...";
 * NULL: nothing new. To be freed. */
char *dt_usyms_problem(dt_usyms *us);
/* Release what is above the limit. Call it between records. */
void dt_usyms_trim(dt_usyms *us);

#endif
