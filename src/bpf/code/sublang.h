/*
 * sublang: a small language for subroutines that loop (sub*.c), and the subroutines written in it
 * (lib.c). A program calls some of them; their code is added to it at the end.
 */
#ifndef DT_BPF_CODE_SUBLANG_H
#define DT_BPF_CODE_SUBLANG_H

#include "bpf/code/slot.h"

struct dt_sub_buffer {
	uint32_t off, size; /* in the slot */
};

#define DT_SUB_WORDS (8 + 16) /* after G and P: what a NUL may need, and two words */

/* The subroutines of one program. */
typedef struct dt_sub {
	dt_code *c;
	/* names that their texts can use */
	struct dt_sub_buffer buf[6]; /* A B O T, and those that keep what they have from one firing to the next: G P */
	struct dt_sub_buffer scratch;
	uint32_t strsize, nspecs;
	uint32_t locals, most_locals; /* where their variables are in the slot, and how many there can be */
	int fd_specs;
	/* provided by the program */
	void *arg;
	int (*field)(void *arg, const char *type, const char *path, uint32_t *offset); /* 0, or -1 and it has failed */
	void (*read)(void *arg, int helper); /* r1 to, r2 size, r3 from; r0 = what it returned */
	void (*fail)(void *arg, const char *text);
	/* results */
	DT_VEC(struct dt_sub_fn {
		char name[24];
		const char *source;
		uint32_t func;
		uint32_t locals; /* its first variable */
	}) fns;
	uint32_t nlocals;
	bool uses_scratch, uses_memory;
	bool failed;
} dt_sub;

/* The function of this name, and where its arguments go: consecutive words of the slot. */
uint32_t dt_sub_func(dt_sub *s, const char *name);
uint32_t dt_sub_args(dt_sub *s, const char *name);
void dt_sub_emit(dt_sub *s); /* at the end of a program: all that were called */

/* ---- lib.c, lib_text.c, lib_cgroup.c: they end with NULL ---- */
extern const char *const dt_sub_sources[];
extern const char *const dt_sub_text_sources[];
extern const char *const dt_sub_cgroup_sources[];

#endif
