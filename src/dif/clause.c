/*
 * clause: questions that several modules ask about a compiled clause.
 *
 * "Every DIFO of a clause" is defined here and nowhere else, so that a new place for an expression
 * (such as the increment of a quantizer) is found by the verifier, the engines and the session
 * alike.
 */
#include "dif/dif.h"

/* The places in order: predicate; expression and increment of action 1; of action 2; ... */
bool dt_clause_next(const dt_clause *c, dt_difo_iter *it)
{
	if (it->caller && it->function < it->caller->nfunctions) {
		it->difo = it->caller->functions[it->function++];
		return true;
	}
	while (it->place < 1 + 2 * (uint64_t)c->nactions) {
		uint64_t place = it->place++;
		uint32_t i = place == 0 ? 0 : (uint32_t)((place - 1) / 2);

		it->action = place == 0 ? 0 : i + 1;
		it->difo = place == 0		  ? c->pred
			   : (place - 1) % 2 == 0 ? c->actions[i].difo
						  : c->actions[i].incr;
		if (it->difo) {
			it->caller = it->difo;
			it->function = 0;
			return true;
		}
	}
	return false;
}

const dt_place *dt_difo_place(const dt_difo *d, int32_t offset)
{
	uint32_t at = offset < 0 ? DT_PLACE_WHOLE : (uint32_t)offset / sizeof(dt_instr);
	uint32_t lo = 0, hi = d->nplaces;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (d->places[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < d->nplaces && d->places[lo].at == at ? &d->places[lo] : NULL;
}

static bool difo_reads(const dt_difo *d, uint32_t var)
{
	for (uint32_t i = 0; i < d->nvars; i++)
		if (d->vars[i].scope == DT_SCOPE_GLOBAL && d->vars[i].id == var)
			return true;
	return false;
}

bool dt_clause_reads(const dt_clause *c, uint32_t var)
{
	DT_EACH_DIFO(it, c)
		if (difo_reads(it.difo, var))
			return true;
	return false;
}

bool dt_clause_is_destructive(const dt_clause *c)
{
	if (c->destructive)
		return true;
	for (uint32_t i = 0; i < c->nactions; i++)
		if (dt_act(c->actions[i].kind)->needs & DT_NEEDS_DESTRUCTIVE)
			return true;
	DT_EACH_DIFO(it, c)
		if (it.difo->destructive)
			return true;
	return false;
}

bool dt_clause_destroys_there(const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dt_act_desc *d = dt_act(c->actions[i].kind);

		if (d->needs & DT_NEEDS_DESTRUCTIVE && d->payload == DT_PAYLOAD_NONE)
			return true;
	}
	DT_EACH_DIFO(it, c)
		if (it.difo->destructive)
			return true;
	return false;
}

/* ---- what only the kernel has ---- */

#define KERNEL_MIN 0xffff800000000000ull
#define KERNEL_MAX 0xfffffffffff00000ull /* above: small negative numbers */

/* Does an expression use what only the kernel has? Symbols are addresses by now. */
static bool kernel_difo(const dt_difo *d)
{
	bool loads = false;

	for (uint32_t i = 0; i < d->nvars; i++) {
		const struct dt_builtin_var_desc *v = dt_builtin_var_find(d->vars[i].id);

		if (d->vars[i].scope == DT_SCOPE_GLOBAL && v && v->needs_kernel)
			return true;
	}
	for (uint32_t i = 0; i < d->len; i++)
		loads = loads || dt_op_table[DT_I_OP(d->text[i])].format == DT_F_LOAD;
	for (uint32_t i = 0; loads && i < d->intlen; i++)
		if (d->inttab[i] >= KERNEL_MIN && d->inttab[i] < KERNEL_MAX)
			return true;
	return false;
}

bool dt_clause_needs_kernel(const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++)
		if (dt_act(c->actions[i].kind)->needs & DT_NEEDS_KERNEL)
			return true;
	DT_EACH_DIFO(it, c)
		if (kernel_difo(it.difo))
			return true;
	return false;
}
