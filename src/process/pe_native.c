/*
 * pe_native: machine code for clauses. See compile.h.
 *
 * A clause becomes a function, for each way in which its probes have their arguments; all probes share it. It does what
 * vm/vm_ecb.c and vm_action.c do for clauses without control flow, whose data and keys are numbers: space for the record is
 * checked first, then the predicate, then the actions in order, and the record counts at the end.
 *
 *	base: the slot of the thread	frame: registers at the probe	stack: the ECB, the data of the record, a value
 */
#include <stdlib.h>

#include "process/compile.h"

void dt_pe_call(struct dt_pe_compiler *c, enum dt_pe_helper h)
{
	c->op->move(&c->n, DT_N_A0, DT_N_BASE);
	c->op->call(&c->n, c->helper[h]);
}

/* ---- what is known ---- */

static bool knows_action(const dt_action *a, const struct dt_action_plan *p)
{
	uint8_t flags = a->difo ? a->difo->rtype.flags : 0;

	if (a->given || a->incr)
		return false;
	switch (p->role) {
	case DT_ROLE_KEY_ID: return true;
	case DT_ROLE_KEY: return p->is_number && p->key < DT_PE_KEYS_MAX;
	case DT_ROLE_AGG: return true;
	case DT_ROLE_EFFECT: return p->effect == DT_EFFECT_NONE;
	case DT_ROLE_DATA:
		return p->effect == DT_EFFECT_NONE &&
		       (p->payload == DT_PAYLOAD_NONE ||
			(p->payload == DT_PAYLOAD_VALUE && !p->is_string && !(flags & (DT_TF_BYREF | DT_TF_BYUREF)) &&
			 (a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8)));
	}
	return false;
}

static bool knows_clause(const struct dt_pe_compiler *c, const struct dt_vm_ecb *x, uint32_t *kept)
{
	const dt_clause *cl = x->ecb->clause;

	*kept = 0;
	if (x->record.has_control || x->record.exits || x->record.speculates || x->record.nparts != 1)
		return false;
	if (cl->pred && !dt_pe_difo_known(c, cl->pred, kept))
		return false;
	for (uint32_t i = 0; i < cl->nactions; i++) {
		const struct dt_action_plan *p = &x->record.actions[i];

		if (!knows_action(&cl->actions[i], p))
			return false;
		if (p->role != DT_ROLE_KEY_ID && cl->actions[i].difo && !dt_pe_difo_known(c, cl->actions[i].difo, kept))
			return false;
	}
	return true;
}

/* ---- aggregations ---- */

static const struct dt_pe_keys *make_keys(struct dt_pe_compiler *c, dt_pe *p, const struct dt_vm_ecb *x, uint32_t last)
{
	const dt_agg *agg = x->record.actions[last].agg;
	struct dt_pe_keys *k = dt_pe_alloc(p->room, sizeof(*k) + agg->nkeys * sizeof(k->shown[0]));

	if (!k) {
		c->n.failed = true;
		return NULL;
	}
	for (uint32_t i = 0; i < p->program.aggs.n; i++)
		if (p->program.aggs.v[i] == agg) {
			k->agg = p->program.agg_copies.v[i];
			k->index = i;
		}
	for (uint32_t i = last; i-- > 0 && x->record.actions[i].role != DT_ROLE_KEY_ID;) {
		const dt_action *a = &x->ecb->clause->actions[i];

		if (x->record.actions[i].role != DT_ROLE_KEY || x->record.actions[i].key >= agg->nkeys)
			continue;
		k->shown[x->record.actions[i].key] = a->size;
		k->cost += (uint32_t)dt_align_up(a->size, 8);
		k->nkeys++;
	}
	c->n.failed = c->n.failed || !k->agg || k->nkeys != agg->nkeys;
	return k;
}

/* The row's value, to A1; the value that is added is in T0. Without keys the row is known after its first use. */
static void find_row(struct dt_pe_compiler *c, const struct dt_pe_keys *k, uint32_t done)
{
	uint32_t slow = dt_native_label(&c->n), found = dt_native_label(&c->n);
	const struct dt_native_ops *op = c->op;
	dt_native *n = &c->n;

	if (!k->nkeys) {
		op->load(n, DT_N_A0, DT_N_BASE, offsetof(struct dt_pe_slot, aggs.active), 4);
		op->constant(n, DT_N_A1, 1);
		op->compute(n, DT_N_AND, DT_N_A0, DT_N_A0, DT_N_A1);
		op->constant(n, DT_N_A1, sizeof(struct dt_pe_table));
		op->compute(n, DT_N_MUL, DT_N_A0, DT_N_A0, DT_N_A1);
		op->compute(n, DT_N_ADD, DT_N_A0, DT_N_A0, DT_N_BASE);
		op->load(n, DT_N_A1, DT_N_A0, offsetof(struct dt_pe_slot, aggs.table[0].direct), 8);
		op->load(n, DT_N_A1, DT_N_A1, k->index * 4, 4);
		op->constant(n, DT_N_A2, 0);
		op->compare(n, DT_N_A1, DT_N_A2);
		op->branch(n, DT_N_EQ, slow);
		op->load(n, DT_N_A2, DT_N_A0, offsetof(struct dt_pe_slot, aggs.table[0].rows), 8);
		op->compute(n, DT_N_ADD, DT_N_A1, DT_N_A1, DT_N_A2);
		op->branch(n, DT_N_ALWAYS, found);
	}
	op->set(n, slow);
	op->move(n, DT_PE_VALUE, DT_N_T0);
	op->constant(n, DT_N_A1, dt_vm_addr(k));
	dt_pe_call(c, H_dt_rt_n_row);
	op->move(n, DT_N_A1, DT_N_T0);
	op->move(n, DT_N_T0, DT_PE_VALUE);
	op->constant(n, DT_N_A2, 0);
	op->compare(n, DT_N_A1, DT_N_A2);
	op->branch(n, DT_N_EQ, done);
	op->set(n, found);
}

static void add_one(struct dt_pe_compiler *c)
{
	c->op->constant(&c->n, DT_N_A2, 1);
	c->op->add_to(&c->n, DT_N_A1, 0, DT_N_A2);
}

/* T0 to the value at A1. */
static void add_value(struct dt_pe_compiler *c, const struct dt_pe_keys *k, uint32_t done)
{
	const struct dt_native_ops *op = c->op;
	enum dt_aggfunc func = dt_aggfunc(k->agg->func);
	dt_native *n = &c->n;

	switch (func) {
	case DT_AGG_COUNT: add_one(c); break;
	case DT_AGG_SUM: op->add_to(n, DT_N_A1, 0, DT_N_T0); break;
	case DT_AGG_AVG:
		add_one(c);
		op->add_to(n, DT_N_A1, 8, DT_N_T0);
		break;
	case DT_AGG_MIN:
	case DT_AGG_MAX:
		op->load(n, DT_N_A2, DT_N_A1, 0, 8);
		op->compare(n, DT_N_T0, DT_N_A2);
		op->branch(n, func == DT_AGG_MIN ? DT_N_GE : DT_N_LE, done);
		op->store(n, DT_N_A1, 0, DT_N_T0, 8);
		break;
	case DT_AGG_QUANTIZE:
		op->move(n, DT_N_A0, DT_N_A1);
		op->move(n, DT_N_A1, DT_N_T0);
		op->call(n, c->helper[H_dt_rt_n_quantize]);
		break;
	case DT_AGG_STDDEV:
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE:
		op->move(n, DT_N_A0, DT_N_A1);
		op->constant(n, DT_N_A1, dt_vm_addr(k->agg));
		op->move(n, DT_N_A2, DT_N_T0);
		op->call(n, c->helper[H_dt_rt_n_value]);
		break;
	}
}

/* ---- a clause ---- */

static void action(struct dt_pe_compiler *c, dt_pe *p, const struct dt_vm_ecb *x, uint32_t i)
{
	const dt_action *a = &x->ecb->clause->actions[i];
	const struct dt_action_plan *plan = &x->record.actions[i];
	const struct dt_pe_keys *k;
	uint32_t done;

	c->action = i + 1;
	if (plan->role == DT_ROLE_KEY_ID)
		return;
	if (a->difo || plan->role != DT_ROLE_EFFECT)
		dt_pe_difo(c, a->difo);
	switch (plan->role) {
	case DT_ROLE_KEY: c->op->store(&c->n, DT_N_BASE, (uint32_t)(offsetof(struct dt_pe_slot, keys) + plan->key * 8), DT_N_T0, 8); break;
	case DT_ROLE_DATA:
		if (plan->payload == DT_PAYLOAD_VALUE)
			c->op->store(&c->n, DT_PE_DATA, plan->offset, DT_N_T0, a->size);
		break;
	case DT_ROLE_AGG:
		k = make_keys(c, p, x, i);
		if (!k)
			break;
		done = dt_native_label(&c->n);
		find_row(c, k, done);
		add_value(c, k, done);
		c->op->set(&c->n, done);
		break;
	case DT_ROLE_KEY_ID:
	case DT_ROLE_EFFECT: break;
	}
}

/* To `out` if T0 is 0. */
static void unless(struct dt_pe_compiler *c, uint32_t out)
{
	c->op->constant(&c->n, DT_N_A0, 0);
	c->op->compare(&c->n, DT_N_T0, DT_N_A0);
	c->op->branch(&c->n, DT_N_EQ, out);
}

static void faults(struct dt_pe_compiler *c, uint32_t end)
{
	for (uint32_t i = 0; i < c->faults.n; i++) {
		c->op->set(&c->n, c->faults.v[i].label);
		c->op->constant(&c->n, DT_N_A1, c->faults.v[i].code);
		c->op->constant(&c->n, DT_N_A2, (uint64_t)c->faults.v[i].offset);
		dt_pe_call(c, H_dt_rt_n_fault);
		c->op->constant(&c->n, DT_N_T0, c->faults.v[i].action + 1ull);
		c->op->branch(&c->n, DT_N_ALWAYS, end);
	}
	c->faults.n = 0;
}

static void clause(struct dt_pe_compiler *c, dt_pe *p, const struct dt_vm_ecb *x, uint32_t kept)
{
	const dt_clause *cl = x->ecb->clause;
	uint32_t cost = x->record.cost, out, end;

	c->op->begin(&c->n, kept);
	out = dt_native_label(&c->n);
	end = dt_native_label(&c->n);
	c->op->move(&c->n, DT_PE_ECB, DT_N_A2);
	if (cl->pred) {
		if (cost) {
			c->op->constant(&c->n, DT_N_A1, cost);
			dt_pe_call(c, H_dt_rt_n_room);
			unless(c, out);
		}
		c->action = 0;
		dt_pe_difo(c, cl->pred);
		unless(c, out);
	}
	if (cost) {
		c->op->move(&c->n, DT_N_A1, DT_PE_ECB);
		dt_pe_call(c, H_dt_rt_n_record);
		unless(c, out);
		c->op->move(&c->n, DT_PE_DATA, DT_N_T0);
	}
	for (uint32_t i = 0; i < cl->nactions; i++)
		action(c, p, x, i);
	if (cost)
		dt_pe_call(c, H_dt_rt_n_added);
	c->op->branch(&c->n, DT_N_ALWAYS, out);
	faults(c, end);
	c->op->set(&c->n, out);
	c->op->constant(&c->n, DT_N_T0, 0);
	c->op->set(&c->n, end);
	c->op->end(&c->n);
}

/* ---- all of them ---- */

static bool start(struct dt_pe_compiler *c, const dt_pe *p)
{
	c->p = p;
	c->op = dt_native_host();
	c->n.at = dt_pe_target_code_at(&p->target);
	c->n.cap = DT_PE_CODE_MAX;
	c->n.code = dt_xmalloc(c->n.cap);
	for (uint32_t i = 0; i < H_MAX; i++) {
		uint32_t at;

		if (DT_PE_HELPERS_AT + i * 4ull + 4 > dt_pe_runtime_size)
			return false;
		memcpy(&at, dt_pe_runtime + DT_PE_HELPERS_AT + i * 4, 4);
		c->helper[i] = p->target.in->base + DT_PE_ANCHOR_SIZE + at;
	}
	return c->op != NULL;
}

static struct dt_pe_made *made_of(struct dt_pe_compiler *c, const dt_clause *cl)
{
	struct dt_pe_made *m;

	for (uint32_t i = c->made.n; i-- > 0;)
		if (c->made.v[i].clause == cl)
			return &c->made.v[i];
	m = dt_vec_add(&c->made, NULL);
	m->clause = cl;
	return m;
}

static uint64_t compile(struct dt_pe_compiler *c, dt_pe *p, const struct dt_vm_ecb *x)
{
	uint32_t before = c->n.size, kept;

	if (!knows_clause(c, x, &kept))
		return 0;
	clause(c, p, x, kept);
	if (!c->n.failed)
		return c->n.at + before;
	c->n.failed = false; /* the next one may be smaller */
	c->n.size = before;
	c->n.jumps.n = c->n.labels.n = c->faults.n = 0;
	return 0;
}

/* For the probes of one place. False: no memory. */
static bool compile_place(struct dt_pe_compiler *c, dt_pe *p, const struct dt_pe_place *x)
{
	struct dt_pe_site *s = (struct dt_pe_site *)(uintptr_t)x->patch.site;
	const dt_prologue *pro = x->event->prologue;
	uint64_t *code = dt_pe_alloc(p->room, x->ecbs.n * sizeof(*code));

	if (!code)
		return false;
	c->args = pro && !pro->own ? DT_PE_COMPUTED : x->event->at.kind == DT_AT_URETPROBE ? DT_PE_RETURN : DT_PE_ENTRY;
	s->lean = !x->call && !x->gate && (!pro || !pro->when); /* and no clause needs what is computed */
	for (uint32_t i = 0; i < x->ecbs.n; i++) {
		const struct dt_vm_ecb *e = &p->host->ecbs[x->ecbs.v[i]];
		struct dt_pe_made *m = made_of(c, e->ecb->clause);

		if (!m->tried[c->args]) {
			c->reads_args = false;
			m->code[c->args] = compile(c, p, e);
			m->reads_args = m->reads_args || c->reads_args;
		}
		m->tried[c->args] = true;
		code[i] = m->code[c->args];
		s->lean = s->lean && code[i] && !(c->args == DT_PE_COMPUTED && m->reads_args);
	}
	s->code = code;
	return true;
}

/* The code of clauses whose probes come later is added to what is there. */
bool dt_pe_compile(dt_pe *p)
{
	struct dt_pe_compiler *c = p->compiler;
	uint32_t before;

	if (!c) {
		c = p->compiler = dt_xcalloc(1, sizeof(*c));
		c->works = start(c, p);
	}
	before = c->n.size;
	for (uint32_t i = 0; i < p->places.memory->n && c->works; i++) {
		const struct dt_pe_place *x = &p->places.v[i];
		const struct dt_pe_site *s = (const struct dt_pe_site *)(uintptr_t)x->patch.site;

		if (x->state == DT_PE_PLANNED || x->state == DT_PE_IN)
			if (x->ecbs.n && !s->code && !compile_place(c, p, x))
				return false;
	}
	return dt_pe_target_code(&p->target, c->n.code, before, c->n.size);
}

void dt_pe_compiler_free(struct dt_pe_compiler *c)
{
	if (!c)
		return;
	dt_native_free(&c->n);
	dt_vec_free(&c->faults);
	dt_vec_free(&c->made);
	free(c);
}
