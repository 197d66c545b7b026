/*
 * user_ask: the tracer's side of types that a helper reads (user_remote.h).
 *
 * To other files it is a reader like those of DWARF and CTF. The helper's answers are treated as
 * hostile: a node can refer only to earlier nodes, chains of them are no longer than a real reader
 * makes them, and members of a struct are checked as for any reader (user_node.c).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "type/user_remote.h"

#define MAX_DEPTH  (2 * DT_USER_DEPTH + 8)
#define NAMESPACES 4

struct remote {
	struct dt_user_reader r;
	dt_jail *jail;		 /* the object's */
	DT_VEC(dt_type *) nodes; /* number - 1 -> node */
	DT_VEC(uint16_t) depths; /* of these */
	DT_VEC(const char *) names[NAMESPACES];
	bool has_names[NAMESPACES];
	char *damage;
	bool dead; /* the helper is gone, and its numbers with it */
};

static struct remote *remote(struct dt_user_reader *r)
{
	return (struct remote *)r;
}

/* ---- nodes ---- */

/* An existing node; its depth counts for the one that refers to it. */
static dt_type *refer(struct remote *x, dt_message *m, uint32_t *depth)
{
	uint32_t n = dt_get_u32(m);

	if (n == 0 || n > x->nodes.n) {
		m->bad = true;
		return x->r.object->ts->broken;
	}
	if (x->depths.v[n - 1] >= *depth)
		*depth = x->depths.v[n - 1] + 1u;
	return x->nodes.v[n - 1];
}

static dt_type *take_intrinsic(struct remote *x, dt_message *m)
{
	dt_types *ts = x->r.object->ts;
	const char *name = dt_get_string(m);
	dt_type *t = name ? dt_base_by_spelling(ts, name) : NULL;

	if (name && !t)
		t = dt_map_get(ts->intrinsic_names, name);
	m->bad = m->bad || !t;
	return t;
}

static dt_type *take_number(struct remote *x, dt_message *m)
{
	const char *name = dt_get_string(m);
	uint64_t size = dt_get_u64(m);
	uint32_t encoding = dt_get_u32(m);

	m->bad = m->bad || encoding > DT_USER_FLOAT;
	return m->bad ? NULL : dt_user_base(&x->r, name, size, (enum dt_user_encoding)encoding);
}

static dt_type *take_function_node(struct remote *x, dt_message *m, uint32_t *depth)
{
	dt_types *ts = x->r.object->ts;
	dt_type *ret = refer(x, m, depth), **params, *t;
	bool varargs = dt_get_u32(m);
	uint32_t n = dt_get_count(m, sizeof(uint32_t));

	params = dt_xcalloc(n + 1, sizeof(*params));
	for (uint32_t i = 0; i < n; i++)
		params[i] = refer(x, m, depth);
	t = m->bad ? NULL : dt_type_function(ts, ret, params, n, varargs);
	free(params);
	return t;
}

static void take_enumerators(dt_message *m, dt_type *e)
{
	uint32_t n = dt_get_count(m, sizeof(uint32_t) + sizeof(uint64_t));
	dt_enumerator *v = dt_xcalloc(n + 1, sizeof(*v));

	for (uint32_t i = 0; i < n; i++) {
		v[i].name = dt_get_string(m);
		v[i].value = (int64_t)dt_get_u64(m);
	}
	if (!m->bad && e->kind == DT_K_ENUM) {
		e->lazy = false;
		dt_user_set_enumerators(e, v, n);
	}
	free(v);
}

static dt_type *take_tag(struct remote *x, dt_message *m, enum dt_kind kind)
{
	const void *ref = (const void *)(uintptr_t)(x->nodes.n + 1); /* its number */
	const char *name = dt_get_string(m);
	uint64_t size = dt_get_u64(m);
	uint32_t flag = dt_get_u32(m);
	dt_type *t;

	if (m->bad)
		return NULL;
	if (kind == DT_K_FORWARD)
		return dt_user_forward_node(&x->r, flag, name, ref);
	t = dt_user_lazy(&x->r, kind, name, size, ref);
	if (kind == DT_K_ENUM) {
		if (t->kind == DT_K_ENUM)
			t->is_signed = flag;
		take_enumerators(m, t);
	}
	return t;
}

static dt_type *take_derived(struct remote *x, dt_message *m, enum dt_kind kind, uint32_t *depth)
{
	dt_types *ts = x->r.object->ts;
	dt_type *ref = refer(x, m, depth);
	uint64_t n = kind == DT_K_ARRAY ? dt_get_u64(m) : kind == DT_K_POINTER ? dt_get_u32(m) : 0;
	const char *name = kind == DT_K_TYPEDEF ? dt_get_string(m) : NULL;

	if (m->bad)
		return NULL;
	if (kind == DT_K_ARRAY)
		return dt_type_array(ts, ref, n);
	if (kind == DT_K_POINTER)
		return n ? dt_user_pointer(ts, ref) : dt_type_pointer(ts, ref);
	return kind == DT_K_TYPEDEF ? dt_user_typedef(&x->r, name, ref)
				    : dt_type_qualify(ts, ref, kind);
}

static dt_type *take_node(struct remote *x, dt_message *m, uint32_t *depth)
{
	uint32_t kind = dt_get_u32(m);

	switch (kind) {
	case DT_NODE_INTRINSIC: return take_intrinsic(x, m);
	case DT_NODE_BROKEN: dt_get_string(m); return x->r.object->ts->broken;
	case DT_K_INTEGER:
	case DT_K_FLOAT: return take_number(x, m);
	case DT_K_FUNCTION: return take_function_node(x, m, depth);
	case DT_K_STRUCT:
	case DT_K_UNION:
	case DT_K_ENUM:
	case DT_K_FORWARD: return take_tag(x, m, (enum dt_kind)kind);
	case DT_K_POINTER:
	case DT_K_ARRAY:
	case DT_K_TYPEDEF:
	case DT_K_VOLATILE:
	case DT_K_CONST:
	case DT_K_RESTRICT: return take_derived(x, m, (enum dt_kind)kind, depth);
	default: m->bad = true; return NULL;
	}
}

/* The head of every answer. */
static void take_head(struct remote *x, dt_message *m)
{
	const char *damage;
	uint32_t n;

	if (!dt_get_u32(m))
		m->bad = true; /* of another helper */
	damage = dt_get_string(m);
	if (damage && !x->damage)
		x->damage = dt_xstrdup(damage);
	n = dt_get_count(m, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		uint32_t depth = 0;
		dt_type *t = take_node(x, m, &depth);

		m->bad = m->bad || !t || depth > MAX_DEPTH;
		if (m->bad)
			return;
		*dt_vec_add(&x->nodes, NULL) = t;
		*dt_vec_add(&x->depths, NULL) = (uint16_t)depth;
	}
}

/* A node, or none. */
static dt_type *take_optional(struct remote *x, dt_message *m)
{
	uint32_t n = dt_get_u32(m);

	m->bad = m->bad || n > x->nodes.n;
	return n && !m->bad ? x->nodes.v[n - 1] : NULL;
}

bool dt_remote_take_type(struct dt_user_reader *r, const dt_buf *answer, dt_type **t)
{
	dt_message m = dt_message_of(answer->s, answer->n);

	take_head(remote(r), &m);
	*t = take_optional(remote(r), &m);
	if (!dt_message_is_done(&m))
		*t = NULL;
	return dt_message_is_done(&m);
}

bool dt_remote_take_members(struct dt_user_reader *r, const dt_buf *answer, dt_type *t)
{
	dt_message m = dt_message_of(answer->s, answer->n);
	struct remote *x = remote(r);
	dt_member *v;
	uint32_t n, depth = 0;

	take_head(x, &m);
	n = dt_get_count(&m, 3 * sizeof(uint32_t) + sizeof(uint64_t));
	v = dt_xcalloc(n + 1, sizeof(*v));
	for (uint32_t i = 0; i < n; i++) {
		v[i].name = dt_get_string(&m);
		v[i].type = refer(x, &m, &depth);
		v[i].bit_offset = dt_get_u64(&m);
		v[i].bit_width = dt_get_u32(&m);
	}
	if (dt_message_is_done(&m))
		dt_user_set_members(t, v, n);
	free(v);
	return dt_message_is_done(&m);
}

bool dt_remote_take_function(struct dt_user_reader *r, const dt_buf *answer,
			     struct dt_user_function *f, bool *found)
{
	dt_message m = dt_message_of(answer->s, answer->n);
	dt_arena *arena = r->object->ts->arena;
	struct remote *x = remote(r);
	uint32_t depth = 0, n;
	const char *unusual;

	take_head(x, &m);
	*found = dt_get_u32(&m) && !m.bad;
	if (!*found)
		return dt_message_is_done(&m);
	f->ret = refer(x, &m, &depth);
	f->ret_by_reference = dt_get_u32(&m);
	f->scalars_only = dt_get_u32(&m);
	unusual = dt_get_string(&m);
	f->unusual = unusual ? dt_arena_strdup(arena, unusual) : NULL;
	f->nparams = n = dt_get_count(&m, 2 * sizeof(uint32_t));
	f->params = dt_arena_alloc(arena, (n + 1) * sizeof(*f->params));
	f->by_reference = dt_arena_alloc(arena, (n + 1) * sizeof(*f->by_reference));
	for (uint32_t i = 0; i < n; i++) {
		f->params[i] = refer(x, &m, &depth);
		f->by_reference[i] = dt_get_u32(&m);
	}
	*found = dt_message_is_done(&m);
	return *found;
}

/* ---- requests ---- */

static void begin(const struct remote *x, dt_buf *b, enum dt_types_question what)
{
	dt_put_u32(b, what);
	dt_put_u32(b, x->nodes.n);
	dt_put_u32(b, (uint32_t)x->r.object->ts->user_owner);
	dt_put_string(b, x->r.object->name);
}

static void die(struct remote *x, const char *why)
{
	x->dead = true;
	free(x->damage);
	x->damage = dt_xstrdup(why);
}

/* Frees the request. False: no answer. */
static bool ask(struct remote *x, dt_buf *question, const struct dt_question *files, dt_buf *answer)
{
	struct dt_question q = files ? *files : (struct dt_question){0};
	char *what = dt_xasprintf("types of %s", x->r.object->name);
	dt_error err = {0};
	bool ok = false;

	q.data = question->s;
	q.size = question->n;
	q.seconds = DT_MAX_READER_TYPES;
	if (x->jail && !x->dead) {
		ok = dt_jail_ask(x->jail, what, dt_user_serve, &q, answer, &err) == 0;
		if (!ok)
			die(x, err.text);
	}
	dt_buf_free(question);
	free(what);
	return ok;
}

static void distrust(struct remote *x, bool believed)
{
	char *what;
	dt_error err;

	if (believed || x->dead)
		return;
	what = dt_xasprintf("types of %s", x->r.object->name);
	dt_jail_reject(x->jail, what, &(struct dt_question){0}, &err);
	die(x, err.text);
	free(what);
}

static dt_type *ask_type(struct remote *x, dt_buf *question)
{
	dt_buf answer = {0};
	dt_type *t = NULL;

	if (ask(x, question, NULL, &answer))
		distrust(x, dt_remote_take_type(&x->r, &answer, &t));
	dt_buf_free(&answer);
	return t;
}

static dt_type *lookup(struct dt_user_reader *r, enum dt_namespace ns, const char *name)
{
	dt_buf q = {0};

	begin(remote(r), &q, DT_ASK_LOOKUP);
	dt_put_u32(&q, ns);
	dt_put_string(&q, name);
	return ask_type(remote(r), &q);
}

static dt_type *variable(struct dt_user_reader *r, const char *name)
{
	dt_buf q = {0};

	begin(remote(r), &q, DT_ASK_VARIABLE);
	dt_put_string(&q, name);
	return ask_type(remote(r), &q);
}

static dt_type *definition(struct dt_user_reader *r, dt_type *forward)
{
	dt_buf q = {0};

	begin(remote(r), &q, DT_ASK_DEFINITION);
	dt_put_u32(&q, (uint32_t)(uintptr_t)forward->user_ref);
	return ask_type(remote(r), &q);
}

static bool function(struct dt_user_reader *r, const char *symbol, uint64_t address,
		     struct dt_user_function *f)
{
	dt_buf q = {0}, answer = {0};
	bool found = false;

	begin(remote(r), &q, DT_ASK_FUNCTION);
	dt_put_string(&q, symbol);
	dt_put_u64(&q, address);
	if (ask(remote(r), &q, NULL, &answer))
		distrust(remote(r), dt_remote_take_function(r, &answer, f, &found));
	dt_buf_free(&answer);
	return found;
}

static void complete(struct dt_user_reader *r, dt_type *t)
{
	dt_buf q = {0}, answer = {0};

	begin(remote(r), &q, DT_ASK_COMPLETE);
	dt_put_u32(&q, (uint32_t)(uintptr_t)t->user_ref);
	if (ask(remote(r), &q, NULL, &answer))
		distrust(remote(r), dt_remote_take_members(r, &answer, t));
	dt_buf_free(&answer);
}

static void read_names(struct remote *x, enum dt_namespace ns)
{
	dt_buf q = {0}, answer = {0};
	dt_message m;

	x->has_names[ns] = true;
	begin(x, &q, DT_ASK_NAMES);
	dt_put_u32(&q, ns);
	if (!ask(x, &q, NULL, &answer))
		return;
	m = dt_message_of(answer.s, answer.n);
	take_head(x, &m);
	while (!m.bad && m.p < m.end) {
		const char *s = dt_get_string(&m);

		if (s)
			*dt_vec_add(&x->names[ns], NULL) =
			    dt_arena_strdup(x->r.object->ts->arena, s);
	}
	distrust(x, dt_message_is_done(&m));
	dt_buf_free(&answer);
}

static const char *next_name(struct dt_user_reader *r, enum dt_namespace ns, uint32_t *it)
{
	struct remote *x = remote(r);

	if (!x->has_names[ns])
		read_names(x, ns);
	return *it < x->names[ns].n ? x->names[ns].v[(*it)++] : NULL;
}

static const char *damage(struct dt_user_reader *r)
{
	return remote(r)->damage;
}

static void close_remote(struct dt_user_reader *r)
{
	struct remote *x = remote(r);

	dt_vec_free(&x->nodes);
	dt_vec_free(&x->depths);
	for (int i = 0; i < NAMESPACES; i++)
		dt_vec_free(&x->names[i]);
	free(x->damage);
	free(x);
}

static const struct dt_user_reader_ops ops = {
    .lookup = lookup,
    .variable = variable,
    .function = function,
    .complete = complete,
    .definition = definition,
    .name = next_name,
    .damage = damage,
    .close = close_remote,
};

/* ---- opening ---- */

struct dt_user_reader *dt_remote_new(struct dt_user_object *o)
{
	struct remote *x = dt_xcalloc(1, sizeof(*x));

	x->r = (struct dt_user_reader){&ops, o};
	return &x->r;
}

/* The answer to DT_ASK_OPEN; how many readers it has. */
static uint32_t take_open(struct remote *x, const dt_buf *answer, bool *split, char **problem)
{
	dt_message m = dt_message_of(answer->s, answer->n);
	const char *why;
	uint32_t n;

	take_head(x, &m);
	n = dt_get_u32(&m);
	why = dt_get_string(&m);
	*split = dt_get_u32(&m);
	*problem = why ? dt_xstrdup(why) : NULL;
	distrust(x, dt_message_is_done(&m));
	return x->dead ? 0 : n;
}

struct dt_user_reader *dt_remote_open(struct dt_user_object *o, bool *split, char **problem)
{
	struct remote *x = remote(dt_remote_new(o));
	dt_elf *debug = dt_elf_debug(o->elf);
	struct dt_question q = {.fd = {dt_elf_fd(o->elf)}, .nfds = 1};
	dt_buf question = {0}, answer = {0};
	int alt = dt_dwarf_open_alt(o);
	uint32_t n = 0;

	x->jail = dt_elf_jail(o->elf);
	if (debug)
		q.fd[q.nfds++] = dt_elf_fd(debug);
	if (alt >= 0)
		q.fd[q.nfds++] = alt;
	begin(x, &question, DT_ASK_OPEN);
	dt_put_u32(&question, debug != NULL);
	if (q.fd[0] >= 0 && ask(x, &question, &q, &answer))
		n = take_open(x, &answer, split, problem);
	if (alt >= 0)
		close(alt);
	dt_buf_free(&answer);
	if (n)
		return &x->r;
	if (x->damage && !*problem)
		*problem = dt_xstrdup(x->damage);
	close_remote(&x->r);
	return NULL;
}
