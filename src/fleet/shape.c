/*
 * shape: what a target says of the program, against the program as it was compiled here.
 *
 * Both sides compile the same text. Here it says what the data mean; so a clause or an aggregation of a target is accepted only
 * if it consists of the same actions, and data only if they belong to such a clause. Sizes of numbers and strings may
 * differ, since every datum has its own; those of objects may not, nor where their members are: they are read by our types.
 */
#include <stdlib.h>

#include "base/budget.h"
#include "fleet/one_target.h"


/* ---- clauses and aggregations ---- */

static bool same_action(const dt_clause *c, const dt_action *ours, struct dt_wire_action theirs)
{
	enum dt_payload p = dt_act(ours->kind)->payload;
	bool object = p == DT_PAYLOAD_BYTES || (p == DT_PAYLOAD_VALUE && ours->difo && !dt_datum_is_string(ours) &&
						ours->difo->rtype.flags != 0);

	return ours->kind == theirs.kind && (!object || ours->size == theirs.size) && dt_wire_layout(c, ours) == theirs.layout;
}

/* c: the clause that they are of; NULL: they are keys */
static bool same_actions(const dt_clause *c, const dt_action *ours, uint32_t n, const struct dt_wire_action *theirs, uint32_t ntheirs)
{
	if (n != ntheirs)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_action(c, &ours[i], dt_wire_action_at(theirs, i)))
			return false;
	return true;
}

static bool is_meant(const dt_clause *c, const char *name, const char *os)
{
	const char *m = c->desc.machine;

	return m && (dt_glob_match(m, name) || dt_glob_match(m, os));
}

/* A relay may have it for a machine that comes later. */
static bool is_for(const dt_target *t, const dt_clause *c)
{
	return t->relay ? c->desc.machine && strcmp(c->desc.machine, "host") != 0 : is_meant(c, t->name, t->os);
}

static struct dt_target_clause *known_clause(dt_target *t, uint32_t program, uint32_t number)
{
	for (uint32_t i = 0; i < t->clauses.n; i++)
		if (t->clauses.v[i].program == program && t->clauses.v[i].number == number)
			return &t->clauses.v[i];
	return NULL;
}

const char *dt_shape_clause(dt_target *t, const struct dt_wire_clause *w)
{
	struct dt_fleet_program *p = w->program < t->fleet->programs.n ? &t->fleet->programs.v[w->program] : NULL;

	for (uint32_t i = 0; p && i < p->prog->nclauses; i++) {
		dt_clause *c = &p->prog->clauses[i];

		if (c->number != w->number || !is_for(t, c) || known_clause(t, w->program, w->number))
			continue;
		if (!same_actions(c, c->actions, c->nactions, w->actions, w->nactions))
			return "a clause of the program records other data there: its kernel has other types";
		p->matches[i] += w->matches;
		for (uint32_t a = 0; a < c->nactions; a++)
			t->exits |= c->actions[a].kind == DT_ACT_EXIT;
		*dt_vec_add(&t->clauses, NULL) = (struct dt_target_clause){w->program, w->number, c};
		return NULL;
	}
	return "it has a clause that the program does not have for it";
}

static const dt_agg *known_agg(const dt_target *t, uint32_t id)
{
	for (uint32_t i = 0; i < t->aggs.n; i++)
		if (t->aggs.v[i].id == id)
			return t->aggs.v[i].agg;
	return NULL;
}

const char *dt_shape_agg(dt_target *t, const struct dt_wire_agg *w)
{
	const dt_agg *a = dt_map_get(t->fleet->agg_by_name, w->name);

	if (!a || known_agg(t, w->id))
		return "it has an aggregation that the program does not have";
	if (a->func != w->func || a->param != w->param || a->nwords != w->nwords ||
	    !same_actions(NULL, a->keys, a->nkeys, w->keys, w->nkeys))
		return "an aggregation of the program is another one there";
	*dt_vec_add(&t->aggs, NULL) = (struct dt_target_agg){w->id, a};
	return NULL;
}

/* ---- clauses on probes ---- */

/* A string of the target, in memory of ours after the struct. */
static const char *keep(char **at, const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = memcpy(*at, s, n);

	dt_make_safe(copy, n - 1, false);
	*at += n;
	return copy;
}

const char *dt_shape_ecb(dt_target *t, const struct dt_wire_ecb *w)
{
	const struct dt_target_clause *c = known_clause(t, w->program, w->clause);
	const struct dt_below *below = *w->machine ? dt_target_below(t, w->machine) : NULL;
	size_t n = strlen(w->prov) + strlen(w->mod) + strlen(w->func) + strlen(w->name) + 4;
	struct dt_far_ecb *e;
	dt_error err = {0};
	char *at;

	if (!c || (*w->machine && !below) || !is_meant(c->clause, below ? below->name : t->name, below ? below->os : t->os) || w->epid == 0 || w->epid > DT_MAX_TARGET_EPID || (w->epid <= t->ecbs.n && t->ecbs.v[w->epid - 1]))
		return "it has a clause on a probe that the program does not have for it";
	if (!dt_account_take(t->payer, sizeof(*e) + n + sizeof(e) * (w->epid > t->ecbs.n ? w->epid - t->ecbs.n : 0)))
		return "it has more probes than there is room for";
	e = dt_xcalloc(1, sizeof(*e) + n);
	at = e->text;
	e->probe = (dt_probe){.id = w->probe, .machine = below ? below->name : t->name};
	e->machine = below ? below->index : t->index;
	e->payer = t->payer;
	e->probe.prov = keep(&at, w->prov);
	e->probe.mod = keep(&at, w->mod);
	e->probe.func = keep(&at, w->func);
	e->probe.name = keep(&at, w->name);
	e->ecb = (dt_ecb){.epid = dt_fleet_epid(t->fleet), .probe = &e->probe, .clause = c->clause};
	while (t->ecbs.n < w->epid)
		*dt_vec_add(&t->ecbs, NULL) = NULL;
	t->ecbs.v[w->epid - 1] = e;
	return dt_rest_add(t->fleet, &e->ecb, &err) < 0 ? "the front's part of a clause cannot run" : NULL;
}

static const struct dt_far_ecb *ecb_of(const dt_target *t, uint32_t epid)
{
	return epid && epid <= t->ecbs.n ? t->ecbs.v[epid - 1] : NULL;
}

/* ---- data ---- */

static const char bad_names[] = "names of addresses are missing, or there are too many", no_room[] = "";

/* Put our addresses in place of theirs. NULL, bad_names or no_room. */
static const char *rename_addresses(const dt_target *t, const dt_action *a, const dt_datum *d, struct dt_wire_datum *w)
{
	bool stack = dt_act_is_stack(a->kind), symbol = dt_act_is_symbol(a->kind);
	struct dt_wire_name name;
	dt_value v;
	char *at;

	if (!dt_act_has_addresses(a->kind))
		return w->nnames == 0 ? NULL : bad_names;
	dt_value_of(a, d, &v);
	if (w->nnames != (v.kind == DT_V_STACK ? v.nframes : v.kind == DT_V_SYMBOL))
		return bad_names;
	if (!w->nnames)
		return NULL;
	if (symbol && d->size != 8 && d->size != 16)
		return bad_names;
	at = stack ? (char *)v.data : (char *)d->data + d->size - 8;
	for (uint32_t i = 0; i < w->nnames; i++, at += 8) {
		uint64_t addr;

		memcpy(&addr, at, sizeof(addr));
		dt_get_name(&w->names, &name);
		addr = dt_farnames_add(t->fleet->names, t->payer, &name, addr);
		if (!addr)
			return no_room;
		memcpy(at, &addr, sizeof(addr));
	}
	return NULL;
}

/*
 * The time of a target, on our clock; it does not go back, and nothing comes from the future: others would wait for it. So it also
 * promises that nothing older comes. (More of the same time may: parts of one firing.)
 */
static uint64_t our_time(dt_target *t, uint64_t theirs)
{
	uint64_t time = theirs - (uint64_t)t->clock.use, now = dt_now_kernel();

	if (time > now)
		time = now;
	if (time < t->clock.last)
		time = t->clock.last;
	t->clock.last = time;
	if (t->promise)
		dt_target_promised(t, t->promise);
	return time;
}

const char *dt_shape_record(dt_target *t, dt_message *m)
{
	struct dt_wire_record w;
	const char *why = NULL;
	struct dt_wire_datum *data;
	struct dt_waiting_record *r;
	const struct dt_far_ecb *far;
	const dt_ecb *ecb;
	dt_datum *values;
	uint32_t n;

	if (!dt_get_record(m, &w) || !(far = ecb_of(t, w.epid)))
		return "a record belongs to no clause";
	ecb = &far->ecb;
	n = ecb->clause->nactions;
	if (w.first > n || w.nactions > n - w.first)
		return "a record has data of no action";
	data = dt_xcalloc(n + 1, sizeof(*data));
	values = dt_xcalloc(n + 1, sizeof(*values));
	for (uint32_t i = w.first; i < w.first + w.nactions; i++) {
		dt_get_datum(m, &data[i]);
		values[i] = (dt_datum){data[i].data, data[i].size, 0};
	}
	r = dt_order_add(&t->fleet->order,
			 &(dt_record){.ecb = ecb,
				      .cpu = w.cpu,
				      .timestamp = our_time(t, w.time),
				      .values = values,
				      .first = w.first,
				      .nactions = w.nactions,
				      .continues = w.continues},
			 far->machine, t->payer);
	for (uint32_t i = w.first; r && i < w.first + w.nactions && !why; i++)
		why = rename_addresses(t, &ecb->clause->actions[i], &r->values[i], &data[i]);
	if (why)
		dt_order_refuse_last(&t->fleet->order);
	free(data);
	free(values);
	t->records++;
	return why == no_room ? NULL : why;
}

const char *dt_shape_fault(dt_target *t, const struct dt_wire_fault *w)
{
	const struct dt_far_ecb *far = ecb_of(t, w->fault.epid);
	dt_fault fault = w->fault;

	if (!far)
		return "a fault belongs to no clause";
	fault.epid = far->ecb.epid;
	dt_order_add(&t->fleet->order,
		     &(dt_record){.ecb = &far->ecb, .cpu = w->cpu, .timestamp = our_time(t, w->time), .fault = &fault},
		     far->machine, t->payer);
	t->records++;
	return NULL;
}

/* ---- rows ---- */

/* A row with memory for this many bytes of keys. */
static struct dt_fleet_row new_row(const dt_agg *a, size_t bytes, char **at)
{
	struct dt_fleet_row r = {.agg = a};
	size_t keys = (a->nkeys + 1) * sizeof(dt_datum), words = (a->nwords + 1) * sizeof(uint64_t);
	char *p = dt_xcalloc(1, keys + words + bytes);

	r.keys = (dt_datum *)(void *)p;
	r.words = (uint64_t *)(void *)(p + keys);
	*at = p + keys + words;
	return r;
}

/* It has come, but is not kept. */
static const char *refuse_row(dt_target *t)
{
	t->payer->refused_rows++;
	t->rows++;
	return NULL;
}

const char *dt_shape_row(dt_target *t, dt_message *m)
{
	struct dt_wire_row w;
	struct dt_wire_datum d;
	struct dt_fleet_row r;
	dt_message first;
	const dt_agg *a;
	size_t bytes = 0, cost;
	const char *why = NULL;
	char *at;

	if (!dt_get_row(m, &w) || !(a = known_agg(t, w.agg)) || a->nkeys != w.nkeys || a->nwords != w.nwords)
		return "a row belongs to no aggregation";
	first = *m;
	for (uint32_t i = 0; i < w.nkeys; i++) {
		dt_get_datum(&first, &d);
		bytes += dt_align_up(d.size, 8);
	}
	cost = bytes + w.nkeys * sizeof(dt_datum) + w.nwords * sizeof(uint64_t) + sizeof(r);
	if (!dt_account_take(t->payer, cost))
		return refuse_row(t);
	r = new_row(a, bytes, &at);
	r.payer = t->payer;
	r.cost = cost;
	for (uint32_t i = 0; i < w.nkeys && !why; i++) {
		dt_get_datum(m, &d);
		if (d.size)
			memcpy(at, d.data, d.size);
		r.keys[i] = (dt_datum){d.data ? at : NULL, d.size, 0};
		at += dt_align_up(d.size, 8);
		why = rename_addresses(t, &a->keys[i], &r.keys[i], &d);
	}
	if (why) {
		dt_account_give(t->payer, cost);
		free(r.keys);
		return why == no_room ? refuse_row(t) : why;
	}
	memcpy(r.words, dt_get_raw(m, w.nwords * sizeof(uint64_t)), w.nwords * sizeof(uint64_t));
	*dt_vec_add(&t->fleet->rows, NULL) = r;
	t->rows++;
	return NULL;
}
