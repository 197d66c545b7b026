/*
 * wire: see wire.h.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "fleet/wire.h"

#define NO_DATA UINT32_MAX

/* A string that must be there, and not longer than a name. */
static const char *get_name(dt_message *m)
{
	const char *s = dt_get_string(m);

	if (!s || strlen(s) > DT_WIRE_NAME_MAX)
		m->bad = true;
	return m->bad ? "" : s;
}

static bool get_bool(dt_message *m)
{
	uint32_t v = dt_get_u32(m);

	if (v > 1)
		m->bad = true;
	return v;
}

/* ---- hello ---- */

uint64_t dt_wire_clock(void)
{
	size_t n = 0;
	char *id = dt_slurp(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &n);
	uint64_t clock = id ? dt_hash_bytes(id, n) : 0;

	free(id);
	return clock;
}

void dt_put_hello(dt_buf *b, const struct dt_wire_hello *h)
{
	dt_put_u32(b, h->version);
	dt_put_u64(b, h->nonce);
	dt_put_string(b, h->name);
	dt_put_string(b, h->os);
	dt_put_string(b, h->release);
	dt_put_u32(b, h->ncpus);
	dt_put_u64(b, h->hostid);
	dt_put_u64(b, h->clock);
	dt_put_u32(b, h->relay);
}

bool dt_get_hello(dt_message *m, struct dt_wire_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->version = dt_get_u32(m);
	h->nonce = dt_get_u64(m);
	if (h->version != DT_FLEET_VERSION)
		return !m->bad;
	h->name = get_name(m);
	h->os = get_name(m);
	h->release = get_name(m);
	h->ncpus = dt_get_u32(m);
	h->hostid = dt_get_u64(m);
	h->clock = dt_get_u64(m);
	h->relay = get_bool(m);
	return dt_message_is_done(m);
}

void dt_put_machine(dt_buf *b, const struct dt_wire_machine *w)
{
	dt_put_string(b, w->name);
	dt_put_string(b, w->os);
	dt_put_string(b, w->release);
	dt_put_u32(b, w->ncpus);
	dt_put_u64(b, w->hostid);
	dt_put_u64(b, w->uncertainty);
}

bool dt_get_machine(dt_message *m, struct dt_wire_machine *w)
{
	w->name = get_name(m);
	w->os = get_name(m);
	w->release = get_name(m);
	w->ncpus = dt_get_u32(m);
	w->hostid = dt_get_u64(m);
	w->uncertainty = dt_get_u64(m);
	return dt_message_is_done(m);
}

/* ---- options ---- */

/*
 * Numbers and choices only: which files are read or written is for each machine to say. What follows is not for a front to choose
 * either: with the C preprocessor it would read files as the agent's user; the others are about the session here, its processes and
 * its standard output.
 */
bool dt_wire_has_option(enum dt_opt_id id)
{
	static const enum dt_opt_id own[] = {DT_O_CPP,	 DT_O_CPPHDRS, DT_O_DEBUG,    DT_O_VERBOSE,    DT_O_TREE,   DT_O_MACHINES,
					     DT_O_FAST,	 DT_O_FOLLOW,  DT_O_EVALTIME, DT_O_TARGETWAIT, DT_O_POLICY, DT_O_GRABANON};

	for (size_t i = 0; i < DT_NELEM(own); i++)
		if (own[i] == id)
			return false;
	switch (dt_opt_table[id].kind) {
	case DT_OPT_BOOL:
	case DT_OPT_INT:
	case DT_OPT_SIZE:
	case DT_OPT_RATE:
	case DT_OPT_PERCENT:
	case DT_OPT_CHOICE: return true;
	case DT_OPT_STRING:
	case DT_OPT_LIST:
	case DT_OPT_ATTR:
	case DT_OPT_VERSION: break;
	}
	return false;
}

/* ---- programs ---- */

void dt_put_program(dt_buf *b, const struct dt_wire_program *p)
{
	dt_put_u32(b, p->number);
	dt_put_u32(b, p->is_cmdline);
	dt_put_u32(b, p->spec);
	dt_put_string(b, p->name);
	dt_put_bytes(b, p->text, p->len);
	dt_put_u32(b, p->argc);
	for (uint32_t i = 0; i < p->argc; i++)
		dt_put_string(b, p->argv[i]);
	dt_put_u32(b, p->nkept);
	for (uint32_t i = 0; i < p->nkept; i++)
		dt_put_string(b, p->kept[i]);
}

static uint32_t get_strings(dt_message *m, const char **out, uint32_t max)
{
	uint32_t n = dt_get_count(m, 5);

	if (n > max)
		m->bad = true;
	for (uint32_t i = 0; i < n && !m->bad; i++)
		if (!(out[i] = dt_get_string(m)))
			m->bad = true;
	return n;
}

bool dt_get_program(dt_message *m, struct dt_wire_program *p)
{
	p->number = dt_get_u32(m);
	p->is_cmdline = get_bool(m);
	p->spec = dt_get_u32(m);
	p->name = dt_get_string(m);
	p->text = dt_get_bytes(m, &p->len);
	if (p->spec > DT_PDESC_NAME)
		m->bad = true;
	p->argc = get_strings(m, p->argv, DT_WIRE_ARGS_MAX);
	p->nkept = get_strings(m, p->kept, DT_WIRE_KEPT_MAX);
	return dt_message_is_done(m);
}

/* ---- shapes ---- */

/* print() shows the type that it was given, also the names of an enum; everything else that of the expression. */
uint64_t dt_wire_layout(const dt_clause *c, const dt_action *a)
{
	bool object = a->difo && a->difo->type && dt_type_is_byref(a->difo->type) && !dt_datum_is_string(a);
	dt_type *t = object ? a->difo->type : NULL;

	for (uint32_t i = 0; c && i < c->nstmts; i++)
		if (c->stmts[i].type && a == &c->actions[c->stmts[i].first])
			t = c->stmts[i].type;
	return t ? dt_type_layout(t) : 0;
}

static void put_actions(dt_buf *b, const dt_clause *c, const dt_action *a, uint32_t n)
{
	dt_put_u32(b, n);
	for (uint32_t i = 0; i < n; i++) {
		dt_put_u32(b, a[i].kind);
		dt_put_u32(b, a[i].size);
		dt_put_u64(b, dt_wire_layout(c, &a[i]));
	}
}

static const struct dt_wire_action *get_actions(dt_message *m, uint32_t *n)
{
	*n = dt_get_count(m, sizeof(struct dt_wire_action));
	return dt_get_raw(m, *n * sizeof(struct dt_wire_action));
}

struct dt_wire_action dt_wire_action_at(const struct dt_wire_action *a, uint32_t i)
{
	struct dt_wire_action one;

	memcpy(&one, (const char *)a + i * sizeof(one), sizeof(one));
	return one;
}

void dt_put_clause(dt_buf *b, uint32_t program, const dt_clause *c, uint32_t matches)
{
	dt_put_u32(b, program);
	dt_put_u32(b, c->number);
	dt_put_u32(b, matches);
	put_actions(b, c, c->actions, c->nactions);
}

bool dt_get_clause(dt_message *m, struct dt_wire_clause *c)
{
	c->program = dt_get_u32(m);
	c->number = dt_get_u32(m);
	c->matches = dt_get_u32(m);
	c->actions = get_actions(m, &c->nactions);
	return dt_message_is_done(m);
}

void dt_put_agg(dt_buf *b, const dt_agg *a)
{
	dt_put_u32(b, a->id);
	dt_put_string(b, a->name);
	dt_put_u32(b, a->func);
	dt_put_u64(b, a->param);
	dt_put_u32(b, a->nwords);
	put_actions(b, NULL, a->keys, a->nkeys);
}

bool dt_get_agg(dt_message *m, struct dt_wire_agg *a)
{
	a->id = dt_get_u32(m);
	a->name = get_name(m);
	a->func = dt_get_u32(m);
	a->param = dt_get_u64(m);
	a->nwords = dt_get_u32(m);
	a->keys = get_actions(m, &a->nkeys);
	return dt_message_is_done(m);
}

/* ---- probes ---- */

void dt_put_probe(dt_buf *b, const struct dt_wire_probe *p)
{
	dt_put_u32(b, p->id);
	dt_put_string(b, p->prov);
	dt_put_string(b, p->mod);
	dt_put_string(b, p->func);
	dt_put_string(b, p->name);
}

bool dt_get_probe(dt_message *m, struct dt_wire_probe *p)
{
	p->id = dt_get_u32(m);
	p->prov = get_name(m);
	p->mod = get_name(m);
	p->func = get_name(m);
	p->name = get_name(m);
	return dt_message_is_done(m);
}

void dt_put_ecb(dt_buf *b, const struct dt_wire_ecb *e)
{
	struct dt_wire_probe p = {e->probe, e->prov, e->mod, e->func, e->name};

	dt_put_u32(b, e->epid);
	dt_put_u32(b, e->program);
	dt_put_u32(b, e->clause);
	dt_put_string(b, e->machine);
	dt_put_probe(b, &p);
}

bool dt_get_ecb(dt_message *m, struct dt_wire_ecb *e)
{
	struct dt_wire_probe p;
	bool ok;

	e->epid = dt_get_u32(m);
	e->program = dt_get_u32(m);
	e->clause = dt_get_u32(m);
	e->machine = get_name(m);
	ok = dt_get_probe(m, &p);
	e->probe = p.id;
	e->prov = p.prov;
	e->mod = p.mod;
	e->func = p.func;
	e->name = p.name;
	return ok;
}

/* ---- data ---- */

void dt_put_datum(dt_buf *b, const dt_datum *d, uint32_t nnames)
{
	dt_put_u32(b, d->data ? d->size : NO_DATA);
	if (d->data)
		dt_buf_add(b, d->data, d->size);
	dt_put_u32(b, nnames);
}

void dt_put_name(dt_buf *b, const struct dt_wire_name *n)
{
	dt_put_string(b, n->mod);
	dt_put_string(b, n->sym);
	dt_put_u64(b, n->off);
}

bool dt_get_name(dt_message *m, struct dt_wire_name *n)
{
	n->mod = dt_get_string(m);
	n->sym = dt_get_string(m);
	n->off = dt_get_u64(m);
	return !m->bad;
}

bool dt_get_datum(dt_message *m, struct dt_wire_datum *d)
{
	struct dt_wire_name skipped;
	uint32_t size = dt_get_u32(m);

	*d = (struct dt_wire_datum){0};
	if (size != NO_DATA) {
		d->data = dt_get_raw(m, size);
		d->size = size;
	}
	d->nnames = dt_get_count(m, 16);
	d->names = *m;
	for (uint32_t i = 0; i < d->nnames && !m->bad; i++)
		dt_get_name(m, &skipped);
	return !m->bad;
}

/* All of them have their form. */
static void check_data(dt_message *m, uint32_t n)
{
	struct dt_wire_datum skipped;

	for (uint32_t i = 0; i < n && !m->bad; i++)
		dt_get_datum(m, &skipped);
}

void dt_put_record(dt_buf *b, const struct dt_wire_record *r)
{
	dt_put_u32(b, r->epid);
	dt_put_u32(b, r->cpu);
	dt_put_u64(b, r->time);
	dt_put_u32(b, r->first);
	dt_put_u32(b, r->nactions);
	dt_put_u32(b, r->continues);
}

bool dt_get_record(dt_message *m, struct dt_wire_record *r)
{
	dt_message data;

	r->epid = dt_get_u32(m);
	r->cpu = dt_get_u32(m);
	r->time = dt_get_u64(m);
	r->first = dt_get_u32(m);
	r->nactions = dt_get_u32(m);
	r->continues = get_bool(m);
	data = *m;
	check_data(&data, r->nactions);
	return dt_message_is_done(&data);
}

void dt_put_fault(dt_buf *b, const struct dt_wire_fault *f)
{
	dt_put_u32(b, f->fault.epid);
	dt_put_u32(b, f->cpu);
	dt_put_u64(b, f->time);
	dt_put_u32(b, f->fault.action);
	dt_put_u32(b, (uint32_t)f->fault.offset);
	dt_put_u32(b, f->fault.code);
	dt_put_u64(b, f->fault.value);
	dt_put_u32(b, f->fault.absent);
}

bool dt_get_fault(dt_message *m, struct dt_wire_fault *f)
{
	f->fault.epid = dt_get_u32(m);
	f->cpu = dt_get_u32(m);
	f->time = dt_get_u64(m);
	f->fault.action = dt_get_u32(m);
	f->fault.offset = (int32_t)dt_get_u32(m);
	f->fault.code = dt_get_u32(m);
	f->fault.value = dt_get_u64(m);
	f->fault.absent = get_bool(m);
	return dt_message_is_done(m);
}

void dt_put_row(dt_buf *b, const struct dt_wire_row *r)
{
	dt_put_u32(b, r->agg);
	dt_put_u32(b, r->nkeys);
	dt_put_u32(b, r->nwords);
}

bool dt_get_row(dt_message *m, struct dt_wire_row *r)
{
	dt_message data;

	r->agg = dt_get_u32(m);
	r->nkeys = dt_get_u32(m);
	r->nwords = dt_get_u32(m);
	data = *m;
	check_data(&data, r->nkeys);
	dt_get_raw(&data, (size_t)r->nwords * sizeof(uint64_t));
	return dt_message_is_done(&data);
}

/* ---- losses ---- */

static const size_t counters[] = {
    offsetof(dt_status, dyn_drops),  offsetof(dt_status, dyn_rinse_drops), offsetof(dt_status, dyn_dirty_drops),
    offsetof(dt_status, spec_drops), offsetof(dt_status, spec_busy),	   offsetof(dt_status, spec_unavail),
    offsetof(dt_status, absent),     offsetof(dt_status, stack_overflows), offsetof(dt_status, dbl_errors),
};

void dt_put_status(dt_buf *b, const dt_status *st)
{
	uint32_t ncpus = st->drops && st->agg_drops ? st->ncpus : 0;

	dt_put_u32(b, ncpus);
	for (uint32_t i = 0; i < ncpus; i++) {
		dt_put_u64(b, st->drops[i]);
		dt_put_u64(b, st->agg_drops[i]);
	}
	for (size_t i = 0; i < DT_NELEM(counters); i++)
		dt_put_u64(b, *(const uint64_t *)((const char *)st + counters[i]));
}

bool dt_get_status(dt_message *m, dt_status *st, dt_arena *a)
{
	memset(st, 0, sizeof(*st));
	st->ncpus = dt_get_count(m, 16);
	st->drops = dt_arena_alloc(a, (st->ncpus + 1) * sizeof(uint64_t));
	st->agg_drops = dt_arena_alloc(a, (st->ncpus + 1) * sizeof(uint64_t));
	for (uint32_t i = 0; i < st->ncpus; i++) {
		st->drops[i] = dt_get_u64(m);
		st->agg_drops[i] = dt_get_u64(m);
	}
	for (size_t i = 0; i < DT_NELEM(counters); i++)
		*(uint64_t *)((char *)st + counters[i]) = dt_get_u64(m);
	return dt_message_is_done(m);
}

/* ---- durable sessions ---- */

void dt_put_session(dt_buf *b, const struct dt_wire_session *s)
{
	dt_put_string(b, s->name);
	dt_put_string(b, s->state);
	dt_put_string(b, s->why);
	dt_put_string(b, s->format);
	for (int i = 0; i < DT_WS_MAX; i++)
		dt_put_u64(b, s->n[i]);
}

bool dt_get_session(dt_message *m, struct dt_wire_session *s)
{
	s->name = get_name(m);
	s->state = get_name(m);
	s->why = dt_get_string(m);
	s->format = get_name(m);
	for (int i = 0; i < DT_WS_MAX; i++)
		s->n[i] = dt_get_u64(m);
	return s->name[0] && s->why && dt_message_is_done(m);
}

void dt_put_lines(dt_buf *b, uint64_t missed, const void *lines, size_t n)
{
	dt_put_u64(b, missed);
	dt_put_bytes(b, lines, n);
}

bool dt_get_lines(dt_message *m, uint64_t *missed, const char **lines, size_t *n)
{
	*missed = dt_get_u64(m);
	*lines = dt_get_bytes(m, n);
	return *lines && dt_message_is_done(m);
}

static bool is_lines(dt_message *m)
{
	const char *lines;
	uint64_t missed;
	size_t n;

	return dt_get_lines(m, &missed, &lines, &n);
}

/* ---- any of them ---- */

static bool is_status(dt_message *m)
{
	dt_arena *a = dt_arena_new();
	dt_status st;
	bool ok = dt_get_status(m, &st, a);

	dt_arena_free(a);
	return ok;
}

static bool has_numbers(dt_message *m, size_t bytes)
{
	dt_get_raw(m, bytes);
	return dt_message_is_done(m);
}

bool dt_wire_is_well_formed(uint32_t type, dt_message m)
{
	union {
		struct dt_wire_hello hello;
		struct dt_wire_clause clause;
		struct dt_wire_agg agg;
		struct dt_wire_ecb ecb;
		struct dt_wire_probe probe;
		struct dt_wire_record record;
		struct dt_wire_fault fault;
		struct dt_wire_row row;
		struct dt_wire_program program;
		struct dt_wire_session session;
		struct dt_wire_machine machine;
	} u;

	switch ((enum dt_message_type)type) {
	case DT_M_HELLO: return dt_get_hello(&m, &u.hello);
	case DT_M_MACHINE: return dt_get_machine(&m, &u.machine);
	case DT_M_PROGRAM: return dt_get_program(&m, &u.program);
	case DT_M_CLAUSE: return dt_get_clause(&m, &u.clause);
	case DT_M_AGG: return dt_get_agg(&m, &u.agg);
	case DT_M_ECB: return dt_get_ecb(&m, &u.ecb);
	case DT_M_PROBE: return dt_get_probe(&m, &u.probe);
	case DT_M_RECORD: return dt_get_record(&m, &u.record);
	case DT_M_FAULT: return dt_get_fault(&m, &u.fault);
	case DT_M_ROW: return dt_get_row(&m, &u.row);
	case DT_M_STATUS: return is_status(&m);
	case DT_M_SESSION: return dt_get_session(&m, &u.session);
	case DT_M_LINES: return is_lines(&m);
	case DT_M_WATCH: return get_name(&m)[0] && dt_get_u32(&m) <= 2 && dt_message_is_done(&m);
	case DT_M_OPTION: return get_name(&m)[0] && get_name(&m)[0] && dt_message_is_done(&m);
	case DT_M_NOTE: return dt_get_u32(&m) <= 3 && dt_get_string(&m) && dt_message_is_done(&m);
	case DT_M_LIST: return (get_name(&m), dt_get_string(&m)) && has_numbers(&m, 4);
	case DT_M_REFUSED: return dt_get_string(&m) && dt_message_is_done(&m);
	case DT_M_LISTED: return (dt_get_string(&m), dt_message_is_done(&m));
	case DT_M_ENABLED:
	case DT_M_EXIT: return has_numbers(&m, 4);
	case DT_M_PING:
	case DT_M_PROMISE: return has_numbers(&m, 8);
	case DT_M_PONG:
	case DT_M_BYE: return has_numbers(&m, 16);
	case DT_M_GO:
	case DT_M_STARTED:
	case DT_M_ASK:
	case DT_M_SESSIONS:
	case DT_M_BUSY:
	case DT_M_STOP: return dt_message_is_done(&m);
	case DT_M_MAX_: break;
	}
	return false;
}
