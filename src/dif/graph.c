/*
 * graph: the actions of a clause as a graph of blocks.
 *
 * Actions run one after the other, except that
 *
 *	BRANCH	continues at its target if its expression is 0
 *	JUMP	continues at its target
 *	AGAIN	goes back to its target if its expression is not 0, or without one always: one more
 *		round of its loop, or a fault when the loop has had as many as option loopmax allows
 *	CALL	continues at its target, the first action of a function
 *	RETURN	ends the function that its target begins: continues after the CALL
 *
 * A target is the number of an action, from 0; the number of actions is the end of the clause. The
 * functions of a clause are at its end, each entered by CALL only and left by its RETURN or to the end of
 * the clause, and they are called from before them only. So no function is active twice, and since AGAIN and
 * RETURN are counted, every clause ends. A block is a run of actions without one of these and
 * without a target inside it; each of these is a block to itself. What a block records is one part of
 * the record (engine/record_plan.h).
 *
 * speculate() holds for the rest of the statements in whose braces it was written: `arg` is the
 * action after those, where the clause continues without such a speculation; 0: the end of the clause.
 */
#include "dif/dif.h"

static bool has_target(const dt_action *a)
{
	enum dt_effect e = dt_act(a->kind)->effect;

	return dt_effect_is_control(e) || (e == DT_EFFECT_SPECULATE && a->arg);
}

bool dt_clause_has_control(const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++)
		if (has_target(&c->actions[i]))
			return true;
	return false;
}

static uint32_t numbers(const dt_clause *c, enum dt_effect effect)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nactions; i++)
		if (dt_act(c->actions[i].kind)->effect == effect && dt_control_number(&c->actions[i]) >= n)
			n = dt_control_number(&c->actions[i]) + 1;
	return n;
}

uint32_t dt_clause_loops(const dt_clause *c)
{
	return numbers(c, DT_EFFECT_AGAIN);
}

uint32_t dt_clause_functions(const dt_clause *c)
{
	return numbers(c, DT_EFFECT_RETURN);
}

void dt_clause_blocks(const dt_clause *c, bool *leads)
{
	memset(leads, 0, (c->nactions + (size_t)1) * sizeof(*leads));
	leads[0] = true;
	for (uint32_t i = 0; i < c->nactions; i++) {
		if (!has_target(&c->actions[i]))
			continue;
		leads[dt_control_target(&c->actions[i])] = true;
		if (dt_effect_is_control(dt_act(c->actions[i].kind)->effect))
			leads[i] = leads[i + 1] = true;
	}
}

void dt_clause_shift(dt_clause *c, uint32_t n)
{
	for (uint32_t i = n; i < c->nactions; i++)
		if (has_target(&c->actions[i]))
			c->actions[i].arg += n;
	for (uint32_t i = 0; i < c->nstmts; i++)
		c->stmts[i].first += n;
}

/* A statement is never entered in its middle. */
static bool is_start(const dt_clause *c, uint32_t action)
{
	uint32_t lo = 0, hi = c->nstmts;

	if (action == c->nactions)
		return true;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->stmts[mid].first <= action)
			lo = mid;
		else
			hi = mid;
	}
	return lo < hi && c->stmts[lo].first == action;
}

/* ---- functions ---- */

struct bodies {
	struct {
		uint32_t first, last; /* actions; the last is RETURN */
	} v[DT_BODIES_MAX];
	uint32_t n;
};

/* The function that the action is in, or n. */
static uint32_t body_of(const struct bodies *b, uint32_t action)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (action >= b->v[i].first && action <= b->v[i].last)
			return i;
	return b->n;
}

static bool goes_away(const dt_action *a)
{
	enum dt_effect e = dt_act(a->kind)->effect;

	return e == DT_EFFECT_JUMP || e == DT_EFFECT_RETURN;
}

static int find_bodies(const dt_clause *c, struct bodies *b, dt_error *err)
{
	uint32_t end = 0; /* of the last function */

	b->n = 0;
	for (uint32_t i = 0; i < c->nactions; i++) {
		const dt_action *a = &c->actions[i];
		uint32_t first = dt_control_target(a);

		if (dt_act(a->kind)->effect != DT_EFFECT_RETURN)
			continue;
		if (b->n == DT_BODIES_MAX)
			return dt_err(err, EDT_DIFINVAL, "more than %u functions in a clause", DT_BODIES_MAX);
		if (dt_control_number(a) != b->n || first < end || first == 0 || first > i ||
		    !goes_away(&c->actions[first - 1]))
			return dt_err(err, EDT_DIFINVAL, "action #%u does not end a function", i + 1);
		b->v[b->n].first = first;
		b->v[b->n++].last = i;
		end = i + 1;
	}
	return 0;
}

static int check_target(const dt_clause *c, const struct bodies *b, uint32_t i, dt_error *err)
{
	const dt_action *a = &c->actions[i];
	enum dt_effect e = dt_act(a->kind)->effect;
	uint64_t to = e == DT_EFFECT_SPECULATE ? a->arg : dt_control_target(a);

	if (to > c->nactions || !is_start(c, (uint32_t)to))
		return dt_err(err, EDT_DIFINVAL, "action #%u continues outside all statements", i + 1);
	if (e == DT_EFFECT_AGAIN || e == DT_EFFECT_RETURN ? to > i : to <= i)
		return dt_err(err, EDT_DIFINVAL, "action #%u goes in the wrong direction", i + 1);
	if (e != DT_EFFECT_CALL && e != DT_EFFECT_RETURN && dt_control_number(a) >= DT_LOOPS_MAX)
		return dt_err(err, EDT_DIFINVAL, "action #%u: more than %u loops", i + 1, DT_LOOPS_MAX);
	if (e == DT_EFFECT_CALL && (dt_control_number(a) >= b->n || b->v[dt_control_number(a)].first != to))
		return dt_err(err, EDT_DIFINVAL, "action #%u calls no function", i + 1);
	if (e != DT_EFFECT_CALL && to < c->nactions && b->n && body_of(b, i) != body_of(b, (uint32_t)to))
		return dt_err(err, EDT_DIFINVAL, "action #%u continues in another function", i + 1);
	return 0;
}

int dt_control_verify(const dt_clause *c, dt_error *err)
{
	struct bodies b;

	if (find_bodies(c, &b, err) < 0)
		return -1;
	for (uint32_t i = 0; i < c->nactions; i++)
		if (has_target(&c->actions[i]) && check_target(c, &b, i, err) < 0)
			return -1;
	return 0;
}
