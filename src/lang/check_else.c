/*
 * check_else: a ?? b, the first operand that this kernel's types allow.
 *
 * Kernels differ: a member moves, a type is renamed. A library writes in one place
 *
 *	disk = R->q->disk ?? R->rq_disk;
 *
 * which is the left operand if it compiles here, else the right one. This is decided when the
 * expression is checked; the program does not contain it any more. The left operand is checked with
 * the error handler set to return here and to restore the state of the compiler.
 */
#include "lang/check.h"

/* The state of the compiler, restored when an attempt has failed. */
struct place {
	jmp_buf jmp;
	dt_error *err;
	int depth;
	struct dt_probe_args *pargs;
	struct dt_binding *bindings;
	const struct dt_expansion *expansions;
	uint32_t unjudged, attempts, calls;
	dt_attr clause_attr;
};

static void put_back(dt_compiler *cc, const struct place *p)
{
	cc->depth = p->depth;
	cc->pargs = p->pargs;
	cc->bindings = p->bindings;
	cc->expansions = p->expansions;
	cc->unjudged = p->unjudged;
	cc->calls = p->calls;
	cc->clause_attr = p->clause_attr;
	cc->shared->clause++; /* what functions were found to be is not known any more */
}

bool dt_attempt(dt_compiler *cc, dt_work_f *work, void *arg, dt_error *err)
{
	struct place p = {.err = cc->err,
			  .depth = cc->depth,
			  .pargs = cc->pargs,
			  .bindings = cc->bindings,
			  .expansions = cc->expansions,
			  .unjudged = cc->unjudged,
			  .attempts = cc->attempts,
			  .calls = cc->calls,
			  .clause_attr = cc->clause_attr};
	volatile bool ok = false;

	memcpy(p.jmp, cc->jmp, sizeof(p.jmp));
	cc->err = err;
	if (setjmp(cc->jmp) == 0) {
		work(cc, arg);
		ok = true;
	} else {
		put_back(cc, &p);
	}
	memcpy(cc->jmp, p.jmp, sizeof(p.jmp));
	cc->err = p.err;
	cc->attempts = p.attempts;
	if (!ok &&
	    (err->code != EDT_COMPILER || cc->library_failed)) { /* not an error in the program */
		*cc->err = *err;
		longjmp(cc->jmp, 1);
	}
	return ok;
}

struct operand {
	dt_node *in, *out;
};

static void check_operand(dt_compiler *cc, void *arg)
{
	struct operand *o = arg;

	cc->attempts++;
	o->out = dt_check(cc, o->in);
}

dt_node *dt_check_otherwise(dt_compiler *cc, dt_node *n)
{
	struct operand l = {n->l, NULL};
	dt_error ignored = {0};

	return dt_attempt(cc, check_operand, &l, &ignored) ? l.out : dt_check(cc, n->r);
}
