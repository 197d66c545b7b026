/*
 * agent_send: what the engine returns, as messages.
 *
 * A clause on a probe is described before its first record. Rows are sent as the engine counts them, without merging them
 * here: the front does that by name.
 */
#include <stdlib.h>

#include "session/agent.h"

/* Set v[i]; was it set before? */
#define MARK(vec, i)                                                                               \
	({                                                                                         \
		while ((vec)->n <= (i))                                                            \
			*dt_vec_add((vec), NULL) = false;                                          \
		bool was_ = (vec)->v[i];                                                           \
		(vec)->v[i] = true;                                                                \
		was_;                                                                              \
	})

void dt_agent_free(struct dt_agent *a)
{
	dt_buf_free(&a->body);
	dt_buf_free(&a->status);
	dt_vec_free(&a->programs);
	dt_vec_free(&a->announced);
	dt_vec_free(&a->described);
}

void dt_agent_send_agg(struct dt_agent *a, const dt_agg *agg)
{
	if (agg->func == DT_ACT_NONE || MARK(&a->described, agg->id))
		return;
	dt_put_agg(&a->body, agg);
	dt_link_send(a->link, DT_M_AGG, &a->body);
}

static uint32_t program_of(const struct dt_agent *a, const dt_clause *c)
{
	for (uint32_t i = 0; i < a->programs.n; i++)
		if (c >= a->programs.v[i]->clauses && c < a->programs.v[i]->clauses + a->programs.v[i]->nclauses)
			return i;
	return 0;
}

static void announce(struct dt_agent *a, const dt_ecb *e)
{
	struct dt_wire_ecb w = {e->epid,	e->clause ? program_of(a, e->clause) : 0,
				e->clause->number, e->probe->id,
				e->probe->prov, e->probe->mod,
				e->probe->func, e->probe->name,
				e->probe->machine ? e->probe->machine : ""};

	if (MARK(&a->announced, w.epid))
		return;
	dt_put_ecb(&a->body, &w);
	dt_link_send(a->link, DT_M_ECB, &a->body);
}

/* ---- data ---- */

static struct dt_wire_name name_of(struct dt_agent *a, const dt_action *act, const dt_value *v, uint32_t i)
{
	bool module = act->kind == DT_ACT_MOD || act->kind == DT_ACT_UMOD;
	dt_frame f;

	dt_symbolise(&a->env, v, i, &f);
	if (module && !f.mod) {
		snprintf(a->number, sizeof(a->number), "0x%llx", (unsigned long long)f.pc);
		f.mod = a->number;
	}
	if (module)
		return (struct dt_wire_name){.mod = f.mod, .sym = ""};
	if (v->kind == DT_V_SYMBOL && act->kind != DT_ACT_UADDR) /* the function, wherever in it */
		f.off = 0;
	return (struct dt_wire_name){f.mod, f.sym, f.off};
}

static void put_datum(struct dt_agent *a, const dt_action *act, const dt_datum *d, uint64_t time)
{
	dt_value v;
	uint32_t n = 0;

	if (d->data && dt_act_has_addresses(act->kind)) {
		dt_value_of(act, d, &v);
		v.time = time;
		n = v.kind == DT_V_STACK ? v.nframes : v.kind == DT_V_SYMBOL;
	}
	dt_put_datum(&a->body, d, n);
	for (uint32_t i = 0; i < n; i++) {
		struct dt_wire_name name = name_of(a, act, &v, i);

		dt_put_name(&a->body, &name);
	}
}

static int send_record(void *arg, const dt_record *r)
{
	struct dt_agent *a = arg;

	announce(a, r->ecb);
	if (r->fault) {
		struct dt_wire_fault f = {r->cpu, r->timestamp, *r->fault};

		f.fault.epid = r->ecb->epid;
		dt_put_fault(&a->body, &f);
		dt_link_send(a->link, DT_M_FAULT, &a->body);
	} else {
		struct dt_wire_record w = {r->ecb->epid, r->cpu, r->timestamp, r->first, r->nactions, r->continues};

		dt_put_record(&a->body, &w);
		for (uint32_t i = r->first; i < r->first + r->nactions; i++)
			put_datum(a, &r->ecb->clause->actions[i], &r->values[i], r->timestamp);
		dt_link_send(a->link, DT_M_RECORD, &a->body);
	}
	a->records++;
	return 0;
}

int dt_agent_send_row(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys, const uint64_t *value)
{
	struct dt_wire_row w = {agg->id, agg->nkeys, agg->nwords};
	struct dt_agent *a = arg;

	(void)cpu;
	dt_put_row(&a->body, &w);
	for (uint32_t i = 0; i < agg->nkeys; i++)
		put_datum(a, &agg->keys[i], &keys[i], 0);
	for (uint32_t i = 0; i < agg->nwords; i++)
		dt_put_u64(&a->body, value[i]);
	dt_link_send(a->link, DT_M_ROW, &a->body);
	a->rows++;
	return 0;
}

/* ---- what is due ---- */

static int tell_front(void *arg, const dt_diag *d)
{
	struct dt_agent *a = arg;

	return dtrace_tell(a->h, DTRACE_DIAG_DROP, d->text);
}

/* Losses, if there are new ones; what is left out to keep the budget; exit(). */
static void send_status(struct dt_agent *a)
{
	dt_status st = {0};
	bool same;

	a->h->engine_ops->status(a->h->engine, &st);
	dt_put_status(&a->body, &st);
	same = a->body.n == a->status.n && memcmp(a->body.s, a->status.s, a->body.n) == 0;
	if (same) {
		dt_buf_reset(&a->body);
	} else {
		dt_buf_reset(&a->status);
		dt_buf_add(&a->status, a->body.s, a->body.n);
		dt_link_send(a->link, DT_M_STATUS, &a->body);
	}
	if (st.shedding)
		dt_shedding_report(&a->shedding, st.shedding, &(struct dt_losses_to){.opts = &a->h->opts, .tell = tell_front, .arg = a});
	if (st.exiting && !a->exit_sent && !a->shedding.ended) {
		dt_put_u32(&a->body, (uint32_t)st.exit_status);
		dt_link_send(a->link, DT_M_EXIT, &a->body);
		a->exit_sent = true;
	}
}

void dt_agent_pump(struct dt_agent *a, bool all)
{
	dt_sink sink = {.arg = a, .record = send_record, .agg = a->h->fleet ? dt_agent_relay_add : dt_agent_send_row};
	uint64_t promise = dt_now_kernel(), now = dt_now();
	dtrace_hdl_t *h = a->h;
	dt_error err = {0};

	a->flushed = now;
	a->woken = false;
	dt_symbols_update(h);
	h->engine_ops->consume(h->engine, &sink);
	if (all || now - a->aggregated >= dt_opt(&h->opts, DT_O_AGGRATE)) {
		a->aggregated = now;
		if (h->engine_ops->snapshot && h->engine_ops->snapshot(h->engine, &sink, &err) < 0)
			dtrace_tell(h, DTRACE_DIAG_DROP, err.text);
		dt_agent_relay_rows(a);
	}
	send_status(a);
	dt_put_u64(&a->body, h->fleet ? dt_fleet_released(h->fleet) : promise);
	dt_link_send(a->link, DT_M_PROMISE, &a->body);
}
