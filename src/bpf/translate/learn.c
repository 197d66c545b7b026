/*
 * learn: the first round. All code is generated once, only to learn what it needs, and discarded. A
 * program that is too large for the kernel is split, and its halves are generated again.
 */
#include "bpf/translate/translate.h"

/* Program number i, or the rest of it after it has been split. */
static int learn_one(dt_plan *p, const struct dt_tr_input *in, uint32_t i, dt_plan_needs *out,
		     struct dt_rodata *collect, dt_error *err)
{
	bool again;
	int rc;

	do {
		dt_code c = {0};

		rc = dt_tr_program(in, i, out, collect, &c, err);
		again = rc == 0 && dt_plan_split(p, i, c.insns.n, c.shared, c.funcs.n);
		dt_code_free(&c);
	} while (again); /* with the rest */
	return rc;
}

int dt_learn(dt_plan *p, dt_plan_needs *out, struct dt_rodata *collect, dt_error *err)
{
	struct dt_plan_layout none;
	struct dt_tr_maps maps;
	struct dt_tr_input in = {.plan = p, .need = out, .at = &none, .maps = &maps, .ro = collect};
	uint32_t left;
	int rc = 0;

	dt_needs_init(out, p);
	dt_layout_init(&none, p);
	dt_tr_maps_init(&maps);
	do {
		left = out->is.left;
		for (uint32_t i = 0; i < p->progs.n && rc == 0; i++)
			rc = learn_one(p, &in, i, out, collect, err);
	} while (rc == 0 && out->is.left != left); /* a clause asks for code that comes before it (left.c) */
	return rc;
}

int dt_learn_more(dt_plan *p, uint32_t prog, const struct dt_tr_input *in, dt_plan_needs *out,
		  struct dt_rodata *collect, dt_error *err)
{
	struct dt_tr_input now = *in;

	now.need = out;
	dt_needs_make_room(out, p);
	return learn_one(p, &now, prog, out, collect, err);
}
