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
	/* a comparison of r0 with r1 or a constant, not emitted yet (sub_op.c) */
	struct dt_sub_test {
		int op; /* 0: none */
		bool constant;
		int32_t n;
	} test;
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

/* ---- sub_lex.c ---- */
void dt_sub_fail(dt_sub *lib, const char *text);
void dt_sub_bad(struct sub *s, const char *what); /* the text is wrong */
void dt_sub_next(struct sub *s);
bool dt_sub_is(const struct sub *s, const char *op);
bool dt_sub_is_word(const struct sub *s, const char *w);
bool dt_sub_take(struct sub *s, const char *op); /* if it is the next token */
void dt_sub_expect(struct sub *s, const char *op);

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
/* r0 = r0 op r1, or op the constant; the result of a comparison is s->test. */
void dt_sub_apply(struct sub *s, size_t i, const int32_t *constant);
void dt_sub_test(struct sub *s, int op);			   /* s->test = r0 op 0 */
void dt_sub_settle(struct sub *s);				   /* r0 = s->test, if there is one */
void dt_sub_jump(struct sub *s, bool truth, uint32_t to); /* if r0, or s->test, is so */

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
