/*
 * store: creates types, interns derived ones, and defines the order in which names are searched.
 *
 * All nodes live in the store's arena. A derived type is created once: pointers and qualified types
 * are linked from the type they derive from, arrays and functions are found by a key made of the
 * addresses of their parts. So types made by the parser and types read from BTF share the same
 * nodes, and most comparisons are comparisons of pointers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "type/user_store.h"

const char *const dt_kind_names[14] = {"unknown",  "integer",  "float", "pointer", "array",
				       "function", "struct",   "union", "enum",	   "forward",
				       "typedef",  "volatile", "const", "restrict"};

uint64_t dt_size_mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) || r > DT_SIZE_LIMIT ? DT_SIZE_LIMIT : r;
}

uint64_t dt_size_add(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) || r > DT_SIZE_LIMIT ? DT_SIZE_LIMIT : r;
}

/* ---- the store ---- */

static void container_init(struct dt_container *c, const char *name)
{
	c->name = name;
	for (size_t i = 0; i < DT_NELEM(c->names); i++)
		c->names[i] = dt_map_new();
	c->enumerators = dt_map_new();
}

static void container_free(struct dt_container *c)
{
	for (size_t i = 0; i < DT_NELEM(c->names); i++)
		dt_map_free(c->names[i]);
	dt_map_free(c->enumerators);
}

dt_types *dt_types_new(void)
{
	dt_types *ts = dt_xcalloc(1, sizeof(*ts));

	ts->arena = dt_arena_new();
	ts->derived = dt_map_new();
	ts->intrinsic_names = dt_map_new();
	ts->modules = dt_map_new();
	ts->ids = dt_map_new();
	ts->members = dt_map_new();
	ts->user_files = dt_map_new();
	ts->user_places = dt_map_new();
	ts->user_paths = dt_map_new();
	ts->user_owner = geteuid();
	ts->user_alt = -1;
	ts->btf_dir = dt_xstrdup("/sys/kernel/btf");
	container_init(&ts->c, "C");
	container_init(&ts->d, "D");
	dt_intrinsics_make(ts);
	return ts;
}

void dt_types_free(dt_types *ts)
{
	if (ts == NULL)
		return;
	dt_kernel_close(ts);
	dt_user_close(ts);
	free(ts->btf_dir);
	container_free(&ts->c);
	container_free(&ts->d);
	dt_map_free(ts->modules);
	dt_map_free(ts->ids);
	dt_map_free(ts->members);
	dt_vec_free(&ts->tracepoints);
	dt_map_free(ts->tracepoint_names);
	dt_map_free(ts->intrinsic_names);
	dt_map_free(ts->derived);
	dt_arena_free(ts->arena);
	free(ts);
}

dt_arena *dt_types_arena(dt_types *ts)
{
	return ts->arena;
}

const struct dt_intrinsics *dt_intrinsics(const dt_types *ts)
{
	return &ts->in;
}

void dt_types_set_strsize(dt_types *ts, uint64_t strsize)
{
	ts->in.string->size = dt_size_mul(strsize, 1);
}

/* ---- derived types ---- */

dt_type *dt_type_node(dt_types *ts, enum dt_kind kind, const char *name)
{
	dt_type *t = dt_arena_alloc(ts->arena, sizeof(*t));

	t->kind = kind;
	t->name = name;
	return t;
}

static dt_type *make_pointer(dt_types *ts, dt_type *to, bool userland)
{
	dt_type *t = dt_type_node(ts, DT_K_POINTER, NULL);

	t->ref = to;
	t->size = t->align = 8;
	t->userland = userland;
	return t;
}

dt_type *dt_type_pointer(dt_types *ts, dt_type *to)
{
	if (to->to_pointer == NULL)
		to->to_pointer = make_pointer(ts, to, false);
	return to->to_pointer;
}

dt_type *dt_type_userland(dt_types *ts, dt_type *pointer)
{
	dt_type *p = dt_type_resolve(pointer), *to;

	if (p->kind != DT_K_POINTER || p->userland)
		return pointer;
	to = p->ref;
	if (to->to_user_pointer == NULL)
		to->to_user_pointer = make_pointer(ts, to, true);
	return to->to_user_pointer;
}

dt_type *dt_type_qualify(dt_types *ts, dt_type *t, enum dt_kind qualifier)
{
	dt_type **slot;

	switch (qualifier) {
	case DT_K_CONST: slot = &t->to_const; break;
	case DT_K_VOLATILE: slot = &t->to_volatile; break;
	case DT_K_RESTRICT: slot = &t->to_restrict; break;
	default: return t;
	}
	for (dt_type *q = t;
	     q->kind == DT_K_CONST || q->kind == DT_K_VOLATILE || q->kind == DT_K_RESTRICT;
	     q = q->ref)
		if (q->kind == qualifier)
			return t;
	if (*slot == NULL) {
		dt_type *q = dt_type_node(ts, qualifier, NULL);

		q->ref = t;
		q->size = t->size;
		q->align = t->align;
		q->user = t->user;
		*slot = q;
	}
	return *slot;
}

dt_type *dt_type_array(dt_types *ts, dt_type *elem, uint64_t nelems)
{
	char key[64];
	dt_type *t;

	snprintf(key, sizeof(key), "%p[%llu]", (void *)elem, (unsigned long long)nelems);
	t = dt_map_get(ts->derived, key);
	if (t == NULL) {
		t = dt_type_node(ts, DT_K_ARRAY, NULL);
		t->ref = elem;
		t->nelems = nelems;
		t->size = dt_size_mul(elem->size, nelems);
		t->align = elem->align;
		dt_map_set(ts->derived, key, t);
	}
	return t;
}

dt_type *dt_type_function(dt_types *ts, dt_type *ret, dt_type **params, uint32_t n, bool varargs)
{
	dt_buf key = {0};
	dt_type *t;

	dt_buf_printf(&key, "%p(", (void *)ret);
	for (uint32_t i = 0; i < n; i++)
		dt_buf_printf(&key, "%p,", (void *)params[i]);
	dt_buf_puts(&key, varargs ? "...)" : ")");
	t = dt_map_get(ts->derived, key.s);
	if (t == NULL) {
		t = dt_type_node(ts, DT_K_FUNCTION, NULL);
		t->ref = ret;
		t->align = 1;
		t->nparams = n;
		t->params = dt_arena_dup(ts->arena, params, n * sizeof(*params));
		t->varargs = varargs;
		dt_map_set(ts->derived, key.s, t);
	}
	dt_buf_free(&key);
	return t;
}

/* ---- named types ---- */

static struct dt_container *container(dt_types *ts, const char *name)
{
	return strcmp(name, ts->c.name) == 0 ? &ts->c : &ts->d;
}

/* A node of container c; a name (not NULL, not "") is entered in its namespace. */
static dt_type *named(dt_types *ts, struct dt_container *c, enum dt_kind kind, const char *name,
		      enum dt_namespace ns)
{
	bool anonymous = name == NULL || *name == '\0';
	dt_type *t = dt_type_node(ts, kind, anonymous ? NULL : dt_arena_strdup(ts->arena, name));

	t->module = c->name;
	if (!anonymous)
		dt_map_set(c->names[ns], name, t);
	return t;
}

dt_type *dt_type_typedef(dt_types *ts, const char *cname, const char *name, dt_type *base)
{
	dt_type *t;

	if (name == NULL || *name == '\0')
		return base;
	t = named(ts, container(ts, cname), DT_K_TYPEDEF, name, DT_NS_ORDINARY);
	t->ref = base;
	t->size = base->size;
	t->align = base->align;
	t->user = base->user;
	return t;
}

dt_type *dt_type_sou(dt_types *ts, const char *cname, enum dt_kind kind, const char *tag)
{
	enum dt_namespace ns = kind == DT_K_UNION ? DT_NS_UNION : DT_NS_STRUCT;
	struct dt_container *c = container(ts, cname);
	dt_type *t = tag != NULL && *tag != '\0' ? dt_map_get(c->names[ns], tag) : NULL;

	if (t != NULL && t->align == 0) /* declared, not defined yet */
		return t;
	return named(ts, c, kind, tag, ns);
}

dt_type *dt_type_enum(dt_types *ts, const char *cname, const char *tag)
{
	dt_type *t = named(ts, container(ts, cname), DT_K_ENUM, tag, DT_NS_ENUM);

	t->size = t->align = 4;
	t->is_signed = true;
	return t;
}

void dt_type_add_enumerator(dt_types *ts, dt_type *e, const char *name, int64_t value)
{
	uint32_t n = e->nenumerators;
	struct dt_enum_ref *ref;

	if ((n & (n - 1)) == 0) { /* full at every power of two */
		dt_enumerator *v = dt_arena_alloc(ts->arena, (n ? n * 2 : 1) * sizeof(*v));

		if (n != 0)
			memcpy(v, e->enumerators, n * sizeof(*v));
		e->enumerators = v;
	}
	name = dt_arena_strdup(ts->arena, name);
	e->enumerators[e->nenumerators++] = (dt_enumerator){name, value};
	/* int, unless a value does not fit: then as gcc does, the next type that holds all. */
	if (value < INT32_MIN || value > UINT32_MAX)
		e->size = e->align = 8;
	e->has_negative |= value < 0;
	if (e->size == 4) {
		bool big = (n != 0 && !e->is_signed) || value > INT32_MAX;

		e->is_signed = !big || e->has_negative;
		if (big && e->has_negative)
			e->size = e->align = 8;
	} else {
		e->is_signed = true;
	}
	ref = dt_arena_alloc(ts->arena, sizeof(*ref));
	*ref = (struct dt_enum_ref){e, value};
	dt_map_set(container(ts, e->module)->enumerators, name, ref);
}

/* ---- looking up ---- */

bool dt_types_hide_headers(dt_types *ts, bool hide)
{
	bool before = ts->headers_hidden;

	ts->headers_hidden = hide;
	return before;
}

dt_type *dt_type_lookup_local(dt_types *ts, enum dt_namespace ns, const char *name)
{
	dt_type *t = ts->headers_hidden ? NULL : dt_map_get(ts->c.names[ns], name);

	if (t == NULL)
		t = dt_map_get(ts->d.names[ns], name);
	if (t == NULL && ns == DT_NS_ORDINARY) {
		t = dt_map_get(ts->intrinsic_names, name);
		if (t == NULL)
			t = dt_base_by_spelling(ts, name);
	}
	return t;
}

dt_type *dt_type_lookup(dt_types *ts, const char *module, enum dt_namespace ns, const char *name)
{
	dt_type *t;

	if (name == NULL || *name == '\0')
		return NULL;
	if (module == NULL || *module == '\0') {
		t = dt_type_lookup_local(ts, ns, name);
		return t != NULL ? t : dt_kernel_lookup(ts, NULL, ns, name);
	}
	if (strcmp(module, "C") == 0 && ts->headers_hidden)
		return NULL;
	if (strcmp(module, "C") == 0 || strcmp(module, "D") == 0)
		return dt_map_get(container(ts, module)->names[ns], name);
	if (dt_module_is_user(module))
		return dt_user_type(ts, module, ns, name, NULL);
	return dt_kernel_lookup(ts, module, ns, name);
}

bool dt_enumerator_lookup(dt_types *ts, const char *name, bool kernel, dt_type **type,
			  int64_t *value)
{
	struct dt_enum_ref *ref = ts->headers_hidden ? NULL : dt_map_get(ts->c.enumerators, name);

	if (ref == NULL)
		ref = dt_map_get(ts->d.enumerators, name);
	if (ref == NULL)
		return kernel && dt_kernel_enumerator(ts, name, type, value);
	if (type != NULL)
		*type = ref->type;
	if (value != NULL)
		*value = ref->value;
	return true;
}
