/*
 * user_serve: the helper's side of types that it reads for the tracer (user_remote.h).
 *
 * It runs in a process that has one object and ends with it, so its state is in one variable.
 */
#include <stdio.h>
#include <stdlib.h>

#include "type/user_remote.h"

#define MAX_DEPTH (2 * DT_USER_DEPTH)

static struct server {
	dt_types *ts;
	struct dt_user_object *o; /* NULL: it cannot be opened */
	DT_VEC(dt_type *) nodes;  /* number - 1 -> node */
	dt_map *numbers;	  /* the other way round, by address */
	dt_buf fresh;		  /* nodes that this answer brings */
	uint32_t nfresh;
} * server;

/* ---- nodes ---- */

static uint32_t put_node(dt_type *t, int depth);

static uint32_t number(dt_type *t)
{
	char key[32];

	snprintf(key, sizeof(key), "%p", (void *)t);
	*dt_vec_add(&server->nodes, NULL) = t;
	dt_map_set(server->numbers, key, (void *)(uintptr_t)server->nodes.n);
	server->nfresh++;
	return server->nodes.n;
}

static uint32_t known(const dt_type *t)
{
	char key[32];

	snprintf(key, sizeof(key), "%p", (const void *)t);
	return (uint32_t)(uintptr_t)dt_map_get(server->numbers, key);
}

static uint32_t put_named(dt_type *t, uint32_t kind)
{
	dt_put_u32(&server->fresh, kind);
	dt_put_string(&server->fresh, t->name);
	return number(t);
}

/* A type that is made of one other: pointer, array, typedef, qualifier. */
static uint32_t put_derived(dt_type *t, int depth)
{
	uint32_t ref = put_node(t->ref, depth + 1);

	dt_put_u32(&server->fresh, t->kind);
	dt_put_u32(&server->fresh, ref);
	if (t->kind == DT_K_ARRAY)
		dt_put_u64(&server->fresh, t->nelems);
	if (t->kind == DT_K_POINTER)
		dt_put_u32(&server->fresh, t->userland);
	if (t->kind == DT_K_TYPEDEF)
		dt_put_string(&server->fresh, t->name);
	return number(t);
}

static uint32_t put_function_node(dt_type *t, int depth)
{
	DT_VEC(uint32_t) params = {0};
	uint32_t ret = put_node(t->ref, depth + 1);

	for (uint32_t i = 0; i < t->nparams; i++)
		*dt_vec_add(&params, NULL) = put_node(t->params[i], depth + 1);
	dt_put_u32(&server->fresh, DT_K_FUNCTION);
	dt_put_u32(&server->fresh, ret);
	dt_put_u32(&server->fresh, t->varargs);
	dt_put_u32(&server->fresh, params.n);
	dt_buf_add(&server->fresh, params.v, params.n * sizeof(*params.v));
	dt_vec_free(&params);
	return number(t);
}

static uint32_t put_number_node(dt_type *t)
{
	dt_put_u32(&server->fresh, t->kind);
	dt_put_string(&server->fresh, t->name);
	dt_put_u64(&server->fresh, t->size);
	dt_put_u32(&server->fresh, t->kind == DT_K_FLOAT ? DT_USER_FLOAT
				   : t->is_bool		 ? DT_USER_BOOL
				   : t->is_char		 ? DT_USER_CHAR
				   : t->is_signed	 ? DT_USER_SIGNED
							 : DT_USER_UNSIGNED);
	return number(t);
}

/* Struct, union, enum, or one that is only declared. Enumerators go with their enum. */
static uint32_t put_tag(dt_type *t)
{
	dt_put_u32(&server->fresh, t->kind);
	dt_put_string(&server->fresh, t->name);
	dt_put_u64(&server->fresh, t->size);
	dt_put_u32(&server->fresh, t->kind == DT_K_FORWARD ? t->tag_is_union : t->is_signed);
	if (t->kind == DT_K_ENUM) {
		dt_type_complete(server->ts, t);
		dt_put_u32(&server->fresh, t->nenumerators);
		for (uint32_t i = 0; i < t->nenumerators; i++) {
			dt_put_string(&server->fresh, t->enumerators[i].name);
			dt_put_u64(&server->fresh, (uint64_t)t->enumerators[i].value);
		}
	}
	return number(t);
}

/* Its number; 0: there is none. */
static uint32_t put_node(dt_type *t, int depth)
{
	uint32_t n = t ? known(t) : 0;

	if (!t || n)
		return n;
	if (depth > MAX_DEPTH)
		t = server->ts->broken;
	switch (t->kind) {
	case DT_K_INTEGER:
	case DT_K_FLOAT: return t->user ? put_number_node(t) : put_named(t, DT_NODE_INTRINSIC);
	case DT_K_TYPEDEF:
		return t->module ? put_derived(t, depth) : put_named(t, DT_NODE_INTRINSIC);
	case DT_K_POINTER:
	case DT_K_ARRAY:
	case DT_K_VOLATILE:
	case DT_K_CONST:
	case DT_K_RESTRICT: return put_derived(t, depth);
	case DT_K_FUNCTION: return put_function_node(t, depth);
	case DT_K_STRUCT:
	case DT_K_UNION:
	case DT_K_ENUM:
	case DT_K_FORWARD: return put_tag(t);
	case DT_K_UNKNOWN: break;
	}
	return known(t) ? known(t) : put_named(t, DT_NODE_BROKEN);
}

/* ---- questions ---- */

static void start(struct dt_question *q, const char *name, uint32_t owner, bool has_debug)
{
	uint32_t alt = has_debug ? 2 : 1;
	int debug = has_debug && q->nfds > 1 ? q->fd[1] : -1;
	dt_error err;
	dt_elf *e;

	server = dt_xcalloc(1, sizeof(*server));
	server->numbers = dt_map_new();
	server->ts = dt_types_new();
	dt_types_set_btf_path(server->ts, NULL);
	server->ts->user_owner = owner;
	server->ts->user_alt = q->nfds > alt ? q->fd[alt] : -1;
	e = dt_elf_open_pair(q->fd[0], debug, &err);
	for (uint32_t i = 0; i < q->nfds; i++)
		q->fd[i] = -1; /* they stay open */
	if (e)
		server->o = dt_user_object(server->ts, e, name);
}

/* Are there names of .dwo files? Only programs with this table of addresses can have them. */
static bool is_split(dt_elf *e)
{
	struct dt_elf_section s;

	return e && dt_elf_section(e, ".debug_addr", &s) && dt_elf_section(e, ".debug_str", &s) &&
	       s.data && memmem(s.data, s.data_size, ".dwo", sizeof(".dwo")) != NULL;
}

static void answer_open(dt_buf *out)
{
	struct dt_user_object *o = server->o;

	dt_put_u32(out, o ? o->nreaders : 0);
	dt_put_string(out, !o ? "it cannot be read" : o->nreaders ? NULL : o->problem);
	dt_put_u32(out, o && (is_split(o->elf) || is_split(dt_elf_debug(o->elf))));
}

static void answer_function(dt_message *m, dt_buf *out)
{
	const char *symbol = dt_get_string(m);
	uint64_t address = dt_get_u64(m);
	struct dt_user_function f = {0};
	bool found = false;

	for (uint32_t i = 0; symbol && !found && i < server->o->nreaders; i++)
		found = server->o->readers[i]->ops->function(server->o->readers[i], symbol, address,
							     &f);
	dt_put_u32(out, found);
	if (!found)
		return;
	dt_put_u32(out, put_node(f.ret, 0));
	dt_put_u32(out, f.ret_by_reference);
	dt_put_u32(out, f.scalars_only);
	dt_put_string(out, f.unusual);
	dt_put_u32(out, f.nparams);
	for (uint32_t i = 0; i < f.nparams; i++) {
		dt_put_u32(out, put_node(f.params[i], 0));
		dt_put_u32(out, f.by_reference && f.by_reference[i]);
	}
}

static void answer_members(dt_type *t, dt_buf *out)
{
	if (t)
		dt_type_complete(server->ts, t);
	dt_put_u32(out, t ? t->nmembers : 0);
	for (uint32_t i = 0; t && i < t->nmembers; i++) {
		dt_put_string(out, t->members[i].name);
		dt_put_u32(out, put_node(t->members[i].type, 0));
		dt_put_u64(out, t->members[i].bit_offset);
		dt_put_u32(out, t->members[i].bit_width);
	}
}

static void answer_names(uint32_t ns, dt_buf *out)
{
	const char *s;

	for (uint32_t i = 0; i < server->o->nreaders; i++) {
		uint32_t it = 0;

		while ((s = server->o->readers[i]->ops->name(server->o->readers[i],
							     (enum dt_namespace)ns, &it)))
			dt_put_string(out, s);
	}
}

static dt_type *find(uint32_t what, enum dt_namespace ns, const char *name)
{
	dt_type *t = NULL;

	for (uint32_t i = 0; name && !t && i < server->o->nreaders; i++) {
		struct dt_user_reader *r = server->o->readers[i];

		t = what == DT_ASK_LOOKUP ? r->ops->lookup(r, ns, name) : r->ops->variable(r, name);
	}
	return t;
}

static dt_type *nth(uint32_t n)
{
	return n && n <= server->nodes.n ? server->nodes.v[n - 1] : NULL;
}

static void answer(uint32_t what, dt_message *m, dt_buf *out)
{
	uint32_t n;
	dt_type *t;

	if (!server->o && what != DT_ASK_OPEN)
		return;
	switch (what) {
	case DT_ASK_OPEN: answer_open(out); break;
	case DT_ASK_LOOKUP:
		n = dt_get_u32(m);
		dt_put_u32(out, put_node(find(what, (enum dt_namespace)n, dt_get_string(m)), 0));
		break;
	case DT_ASK_VARIABLE:
		dt_put_u32(out, put_node(find(what, DT_NS_ORDINARY, dt_get_string(m)), 0));
		break;
	case DT_ASK_FUNCTION: answer_function(m, out); break;
	case DT_ASK_COMPLETE: answer_members(nth(dt_get_u32(m)), out); break;
	case DT_ASK_DEFINITION:
		t = nth(dt_get_u32(m));
		if (t && t->kind == DT_K_FORWARD && t->lazy)
			dt_user_forward(t);
		dt_put_u32(out, put_node(t && t->kind == DT_K_FORWARD ? t->ref : NULL, 0));
		break;
	case DT_ASK_NAMES: answer_names(dt_get_u32(m), out); break;
	}
}

static const char *damage(void)
{
	const char *s = NULL;

	for (uint32_t i = 0; server->o && !s && i < server->o->nreaders; i++)
		s = server->o->readers[i]->ops->damage(server->o->readers[i]);
	return s;
}

void dt_user_serve(struct dt_question *q, dt_buf *out)
{
	dt_message m = dt_message_of(q->data, q->size);
	uint32_t what = dt_get_u32(&m), counted = dt_get_u32(&m), owner = dt_get_u32(&m);
	const char *name = dt_get_string(&m);
	dt_buf body = {0};

	if (!server && what == DT_ASK_OPEN && q->nfds)
		start(q, name ? name : "", owner, dt_get_u32(&m));
	dt_put_u32(out, server && server->nodes.n == counted);
	if (!server || server->nodes.n != counted)
		return;
	dt_buf_reset(&server->fresh);
	server->nfresh = 0;
	answer(what, &m, &body);
	dt_put_string(out, damage());
	dt_put_u32(out, server->nfresh);
	dt_buf_add(out, server->fresh.s, server->fresh.n);
	dt_buf_add(out, body.s, body.n);
	dt_buf_free(&body);
}
