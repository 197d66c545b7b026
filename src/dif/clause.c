/*
 * clause: questions that several modules ask about a compiled clause.
 *
 * "Every DIFO of a clause" is defined here and nowhere else, so that a new place for an expression
 * (as the increment of a quantizer once was) is found by the verifier, the engines and the session
 * alike.
 */
#include "dif/dif.h"

/* The places in order: predicate; expression and increment of action 1; of action 2; ... */
bool dt_clause_next(const dt_clause *c, dt_difo_iter *it)
{
	while (it->place < 1 + 2 * (uint64_t)c->nactions) {
		uint64_t place = it->place++;
		uint32_t i = place == 0 ? 0 : (uint32_t)((place - 1) / 2);

		it->action = place == 0 ? 0 : i + 1;
		it->difo = place == 0		  ? c->pred
			   : (place - 1) % 2 == 0 ? c->actions[i].difo
						  : c->actions[i].incr;
		if (it->difo)
			return true;
	}
	return false;
}

bool dt_difo_reads(const dt_difo *d, uint32_t var)
{
	for (uint32_t i = 0; i < d->nvars; i++)
		if (d->vars[i].scope == DT_SCOPE_GLOBAL && d->vars[i].id == var)
			return true;
	return false;
}

bool dt_clause_reads(const dt_clause *c, uint32_t var)
{
	DT_EACH_DIFO(it, c)
		if (dt_difo_reads(it.difo, var))
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
