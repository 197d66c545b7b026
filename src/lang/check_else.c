/*
 * check_else: a ?? b, the first of them that this kernel's types allow.
 *
 * Kernels differ: a member moves, a type is renamed. A library says so in one place,
 *
 *	disk = R->q->disk ?? R->rq_disk;
 *
 * and means the left operand if it has no mistake in it here, else the right one. It is decided when the
 * expression is checked; nothing is left of it in the program. The left operand is checked with the
 * error handler set to come back here, and with it all that the compiler knows about where it is.
 */
#include "lang/check.h"

/* Where the compiler is in its work: put back when an attempt has failed. */
struct place {
	jmp_buf jmp;
	dt_error *err;
	int depth;
	struct dt_probe_args *pargs;
	struct dt_binding *bindings;
	const struct dt_expansion *expansions;
	uint32_t unjudged, attempts;
	dt_attr clause_attr;
};

static void put_back(dt_compiler *cc, const struct place *p)
{
	cc->depth = p->depth;
	cc->pargs = p->pargs;
	cc->bindings = p->bindings;
	cc->expansions = p->expansions;
	cc->unjudged = p->unjudged;
	cc->clause_attr = p->clause_attr;
}

static dt_node *attempt(dt_compiler *cc, dt_node *n)
{
	struct place p = {.err = cc->err,
			  .depth = cc->depth,
			  .pargs = cc->pargs,
			  .bindings = cc->bindings,
			  .expansions = cc->expansions,
			  .unjudged = cc->unjudged,
			  .attempts = cc->attempts,
			  .clause_attr = cc->clause_attr};
	dt_error ignored = {0};
	dt_node *volatile out = NULL;

	memcpy(p.jmp, cc->jmp, sizeof(p.jmp));
	cc->err = &ignored;
	cc->attempts++;
	if (setjmp(cc->jmp) == 0)
		out = dt_check(cc, n);
	else
		put_back(cc, &p);
	memcpy(cc->jmp, p.jmp, sizeof(p.jmp));
	cc->err = p.err;
	cc->attempts = p.attempts;
	if (!out && (ignored.code != EDT_COMPILER || cc->library_failed)) { /* not a mistake in n */
		*cc->err = ignored;
		longjmp(cc->jmp, 1);
	}
	return out;
}

dt_node *dt_check_otherwise(dt_compiler *cc, dt_node *n)
{
	dt_node *l = attempt(cc, n->l);

	return l ? l : dt_check(cc, n->r);
}
