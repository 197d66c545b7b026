/*
 * ident: the names a program can use.
 *
 * Four scopes, one hash table each: globals (variables, subroutines, actions, inlines), thread
 * locals (self->), clause locals (this->) and aggregations (@). They belong to the session, so that
 * several programs share them. Names added by a failed compile are removed again (undo), so that
 * the handle can be used after an error.
 *
 * Built-ins come from the tables (dif/builtins.def, action.c); nothing is listed here.
 */
#include <stdlib.h>

#include "lang/compiler.h"

static dt_map *scope_map(dt_compiler *cc, int scope_tok)
{
	return scope_tok == T_SELF   ? cc->shared->thread_locals
	       : scope_tok == T_THIS ? cc->shared->clause_locals
				     : cc->shared->globals;
}

static dt_ident *add(dt_compiler *cc, dt_map *map, const char *name, enum dt_idkind kind)
{
	dt_ident *id = dt_arena_alloc(cc->arena, sizeof(*id));

	id->name = dt_arena_strdup(cc->arena, name);
	id->kind = kind;
	id->attr = (dt_attr){DT_STAB_STABLE, DT_STAB_STABLE, DT_CLASS_COMMON};
	id->version = DT_VERSION(1, 0, 0);
	id->generation = cc->generation;
	dt_map_set(map, name, id);
	return id;
}

static dt_ident *add_builtin(dt_compiler *cc, const char *name, enum dt_idkind kind, uint32_t num,
			     uint64_t version)
{
	dt_ident *id = add(cc, cc->shared->globals, name, kind);

	id->id = num;
	id->version = version;
	id->flags = IDF_BUILTIN;
	return id;
}

static void add_variables(dt_compiler *cc)
{
	for (size_t i = 0; i < dt_nbuiltin_vars; i++) {
		const struct dt_builtin_var_desc *v = &dt_builtin_vars[i];
		dt_ident *id =
		    add_builtin(cc, v->name, v->id <= DT_VAR_ARRAY_MAX ? ID_ARRAY : ID_SCALAR,
				v->id, v->version);
		id->proto = v->type;
		id->attr = v->attr;
	}
}

static void add_subroutines(dt_compiler *cc)
{
	for (size_t i = 0; i < dt_nsubrs; i++) {
		const struct dt_subr_desc *s = &dt_subrs[i];

		if (s->id < DT_SUBR_SOFT)
			add_builtin(cc, s->name, ID_SUBR, s->id, s->version)->proto = s->proto;
	}
}

static void add_actions(dt_compiler *cc, const struct dt_action_desc *d, enum dt_idkind kind)
{
	for (; d->name; d++) {
		dt_ident *id = add_builtin(cc, d->name, kind, d->kind, d->version);

		id->act = d;
		id->proto = d->types;
	}
}

/* NULL is an inline of the constant 0. */
static void add_null(dt_compiler *cc)
{
	dt_ident *id = add_builtin(cc, "NULL", ID_INLINE, 0, DT_VERSION(1, 0, 0));

	id->type = dt_intrinsics(cc->types)->long_;
	id->inl = dt_arena_alloc(cc->arena, sizeof(*id->inl));
	id->inl->expr = dt_node_int(cc, (dt_pos){0}, 0, dt_intrinsics(cc->types)->int_);
}

void dt_idents_init(dt_compiler *cc)
{
	cc->shared->globals = dt_map_new();
	cc->shared->thread_locals = dt_map_new();
	cc->shared->clause_locals = dt_map_new();
	cc->shared->aggs = dt_map_new();
	cc->shared->next_global = cc->shared->next_thread = cc->shared->next_local =
	    DT_VAR_USER_MIN;
	cc->shared->next_agg = 1;
	add_variables(cc);
	add_subroutines(cc);
	add_actions(cc, dt_action_table, ID_ACTION);
	add_actions(cc, dt_aggfunc_table, ID_AGGFUNC);
	add_null(cc);
}

/* Identifiers newer than the requested interface version (-x version) do not exist. */
static bool is_visible(const dt_compiler *cc, const dt_ident *id)
{
	uint64_t version = dt_opt(cc->opts, DT_O_VERSION);

	return version == 0 || id->version <= version;
}

dt_ident *dt_ident_find(dt_compiler *cc, const char *name, int scope_tok)
{
	dt_ident *id = dt_map_get(scope_map(cc, scope_tok), name);

	return id && is_visible(cc, id) && !(cc->module && (id->flags & IDF_PROGRAM)) ? id : NULL;
}

dt_ident *dt_ident_soft(dt_compiler *cc, const char *name)
{
	for (size_t i = dt_nsubrs; i-- > 0 && dt_subrs[i].id >= DT_SUBR_SOFT;) {
		const struct dt_subr_desc *s = &dt_subrs[i];
		dt_ident *id;

		if (strcmp(s->name, name) != 0)
			continue;
		id = dt_arena_alloc(cc->arena, sizeof(*id));
		*id = (dt_ident){.name = s->name,
				 .kind = ID_SUBR,
				 .flags = IDF_BUILTIN,
				 .id = s->id,
				 .attr = {DT_STAB_EVOLVING, DT_STAB_EVOLVING, DT_CLASS_COMMON},
				 .version = s->version,
				 .proto = s->proto};
		return is_visible(cc, id) ? id : NULL;
	}
	return NULL;
}

dt_ident *dt_ident_new(dt_compiler *cc, const char *name, enum dt_idkind kind, int scope_tok,
		       dt_pos pos)
{
	uint32_t *next = scope_tok == T_SELF   ? &cc->shared->next_thread
			 : scope_tok == T_THIS ? &cc->shared->next_local
					       : &cc->shared->next_global;
	dt_ident *id = add(cc, scope_map(cc, scope_tok), name, kind);

	id->scope = scope_tok == T_SELF	  ? DT_SCOPE_THREAD
		    : scope_tok == T_THIS ? DT_SCOPE_LOCAL
					  : DT_SCOPE_GLOBAL;
	id->pos = pos;
	if (cc->src && !cc->src->is_library)
		id->flags |= IDF_PROGRAM;
	*dt_vec_add(&cc->undo, NULL) = id;
	if (kind == ID_SCALAR || kind == ID_ARRAY) {
		if (*next > DT_VAR_MAX)
			dt_fail(
			    cc, pos, D_ID_OFLOW,
			    "\"%s\" is one variable too many: a session can have %d in each scope",
			    name, DT_VAR_MAX - DT_VAR_USER_MIN + 1);
		id->id = (*next)++;
	}
	dt_pragma_apply(cc, id);
	return id;
}

dt_ident *dt_agg_find(dt_compiler *cc, const char *name)
{
	return dt_map_get(cc->shared->aggs, name);
}

dt_ident *dt_agg_get(dt_compiler *cc, const char *name, dt_pos pos)
{
	dt_ident *id = dt_agg_find(cc, name);

	if (id)
		return id;
	id = add(cc, cc->shared->aggs, name, ID_AGG);
	*dt_vec_add(&cc->undo, NULL) = id;
	id->pos = pos;
	id->id = cc->shared->next_agg++;
	id->agg = dt_arena_alloc(cc->arena, sizeof(*id->agg));
	id->agg->name = id->name;
	id->agg->id = id->id;
	return id;
}

void dt_idents_undo(dt_compiler *cc)
{
	for (uint32_t i = cc->undo.n; i-- > 0;) {
		dt_ident *id = cc->undo.v[i];
		dt_map *map = id->kind == ID_AGG	     ? cc->shared->aggs
			      : id->scope == DT_SCOPE_THREAD ? cc->shared->thread_locals
			      : id->scope == DT_SCOPE_LOCAL  ? cc->shared->clause_locals
							     : cc->shared->globals;
		if (dt_map_get(map, id->name) == id)
			dt_map_del(map, id->name);
	}
	cc->undo.n = 0;
}

static bool alike(enum dt_idkind kind, enum dt_idkind like)
{
	bool callable = kind == ID_SUBR || kind == ID_ACTION || kind == ID_AGGFUNC || kind == ID_FUNC;

	return (like == ID_SUBR || like == ID_ACTION) == callable;
}

static const char *nearest_of(dt_compiler *cc, const dt_map *map, const char *name,
			      enum dt_idkind like)
{
	const struct dt_library_source *libs = &cc->shared->libraries;
	bool more = map == cc->shared->globals && alike(ID_SCALAR, like) && libs->names;
	uint32_t nmore = more ? libs->names(libs->arg, NULL, 0) : 0, it = 0;
	size_t n = 0, max = dt_map_count(map);
	const char **names = dt_arena_alloc(cc->arena, (max + nmore + 1) * sizeof(*names));
	const char *key;
	void *value;

	while (dt_map_next(map, &it, &key, &value)) {
		dt_ident *id = value;
		if (n < max && is_visible(cc, id) &&
		    (map != cc->shared->globals || alike(id->kind, like)))
			names[n++] = key;
	}
	if (nmore)
		n += libs->names(libs->arg, names + n, nmore);
	return dt_nearest(name, names, n);
}

/* Names in other tracers that differ too much from ours to be found by spelling. */
static const char *as_elsewhere(const char *name, enum dt_idkind like)
{
	static const struct {
		const char *there, *here;
		enum dt_idkind like;
	} words[] = {
	    {"comm", "execname", ID_SCALAR}, {"nsecs", "timestamp", ID_SCALAR},
	    {"retval", "arg1", ID_SCALAR},   {"probe", "probename", ID_SCALAR},
	    {"kstack", "stack", ID_SUBR},    {"hist", "quantize", ID_SUBR},
	    {"lhist", "lquantize", ID_SUBR}, {"str", "copyinstr", ID_SUBR},
	    {"buf", "tracemem", ID_SUBR},    {"ksym", "sym", ID_SUBR},
	    {"signal", "raise", ID_SUBR},    {"zero", "clear", ID_SUBR},
	    {"ntop", "inet_ntop", ID_SUBR},
	};

	for (size_t i = 0; i < DT_NELEM(words); i++)
		if (alike(words[i].like, like) && strcmp(words[i].there, name) == 0)
			return words[i].here;
	return NULL;
}

const char *dt_suggest(dt_compiler *cc, const char *name, enum dt_idkind like)
{
	const char *near = like == ID_AGG ? NULL : as_elsewhere(name, like);

	if (!near)
		near = nearest_of(cc, like == ID_AGG ? cc->shared->aggs : cc->shared->globals, name,
				  like);
	return near ? dt_arena_printf(cc->arena, "; did you mean \"%s%s\"?",
				      like == ID_AGG ? "@" : "", near)
		    : "";
}

const char *dt_suggest_scoped(dt_compiler *cc, const char *name, int scope)
{
	const char *prefix = scope == T_SELF ? "self->" : "this->";
	const char *near =
	    nearest_of(cc, scope == T_SELF ? cc->shared->thread_locals : cc->shared->clause_locals,
		       name, ID_SCALAR);

	return near ? dt_arena_printf(cc->arena, "; did you mean \"%s%s\"?", prefix, near) : "";
}
