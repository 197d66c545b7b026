/*
 * sdt_notes: static probes described by a program's ELF notes (.note.stapsdt), made by dtrace -h or
 * by <sys/sdt.h>.
 */
#ifndef DT_ELF_SDT_NOTES_H
#define DT_ELF_SDT_NOTES_H

#include "elf/elf.h"

typedef struct dt_sdt {
	const char *prov, *name; /* as in the note: "python", "gc__start" */
	const char *args;	 /* as in the note: size@operand ... */
	uint64_t pc, semaphore;	 /* vaddrs; semaphore 0: none */
} dt_sdt;

/* The notes of an object one by one; corrupt ones are skipped. *it starts at 0. The strings belong
 * to the object. */
bool dt_sdt_next(dt_elf *e, size_t *it, dt_sdt *s);

/* Which of these files (DT_JAIL_FILES at most) may have notes? The others have none. */
void dt_elf_screen(dt_jail *jail, const int *fds, uint32_t n, bool *may);

typedef struct dt_sdt_arg {
	const char *type; /* "int32_t": size and sign, as the note gives them */
	const char *text; /* the value as a D expression over uregs[]; NULL: it cannot be read (a vector register) */
} dt_sdt_arg;

/* The arguments of a probe, in memory of the arena; returns how many, -1 if the text is invalid. */
int dt_sdt_args(dt_arena *a, dt_elf *e, const dt_sdt *s, dt_sdt_arg *args, int max);

#endif
