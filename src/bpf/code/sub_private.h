/*
 * sub_private: shared by the files of the subroutine language.
 */
#ifndef DT_BPF_CODE_SUB_PRIVATE_H
#define DT_BPF_CODE_SUB_PRIVATE_H

#include "bpf/code/sublang.h"

#define LOCALS_PER_FN 24
#define NAME_MAX_LEN  20

struct sub {
	dt_sub *lib;
	dt_code *c;
	const char *p; /* next character */
	/* current token: a name, a number, or punctuation */
	enum { END, NAME, NUM, PUNCT } kind;
	char name[NAME_MAX_LEN + 1];
	uint64_t num;
	char op[3];
	/* names of the function's variables, in order */
	char vars[LOCALS_PER_FN][NAME_MAX_LEN + 1];
	uint32_t nvars, base;
	uint32_t temps; /* in use */
	bool in_loop;
	bool dead;     /* nothing reaches the place where code would go next */
	uint32_t stop; /* label: leave after a fault */
	bool stops;
	/* bodies of loops, compiled when the function is done */
	struct {
		const char *at;
		uint32_t func;
	} pending[32];
	uint32_t npending, ndone;
};

/* Where word n for intermediate values is in the slot. */
int dt_sub_temp(struct sub *s, uint32_t n);
void dt_sub_stop_if_faulted(struct sub *s);

/* ---- sub_op.c ---- */
#define DT_SUB_OPERATORS 18
#define DT_SUB_TIGHTEST	 9
struct dt_sub_operator {
	const char *op;
	int level; /* from loosest to tightest */
	bool jump; /* a comparison */
	int code;
};
extern const struct dt_sub_operator dt_sub_binary[DT_SUB_OPERATORS];
void dt_sub_truth(struct sub *s, int op); /* r0 = r0 op 0 */
/* r0 = r0 op r1, or op the constant */
void dt_sub_apply(struct sub *s, size_t i, const int32_t *constant);

/* ---- sub_builtin.c ---- */
struct dt_sub_builtin {
	const char *name;
	bool buffer;	/* its first argument names one */
	uint32_t nargs; /* besides */
	/* Arguments are in temps from `a` on, the result goes to r0. */
	void (*emit)(struct sub *s, const struct dt_sub_buffer *b, uint32_t a);
};
const struct dt_sub_builtin *dt_sub_builtin_find(const char *name);

#endif
