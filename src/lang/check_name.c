/*
 * check_name: identifiers, external symbols, args[].
 */
#include <ctype.h>
#include <stdio.h>

#include "lang/check.h"
#include "type/user.h"

/* ---- stability ---- */

void dt_use_attr(dt_compiler *cc, dt_pos pos, dt_attr a, const char *what)
{
	uint64_t packed = dt_opt(cc->opts, DT_O_AMIN);
	dt_attr min = {(uint8_t)(packed >> 16), (uint8_t)(packed >> 8), (uint8_t)packed};
	dt_buf b = {0};

	cc->clause_attr = dt_attr_min(cc->clause_attr, a);
	if (!cc->opts->is_set[DT_O_AMIN] || !dt_attr_below(a, min) || !cc->desc || cc->unjudged)
		return; /* definitions are checked where they are used */
	dt_attr_format(a, &b);
	const char *text = dt_arena_strdup(cc->arena, b.s);
	dt_buf_free(&b);
	dt_fail(cc, pos, D_ATTR_MIN, "attributes for %s (%s) are less than the minimum asked for",
		what, text);
}

static const dt_attr kernel_attr = {DT_STAB_PRIVATE, DT_STAB_PRIVATE, DT_CLASS_UNKNOWN};

/* ---- types written as text in the tables ---- */

dt_type *dt_type_from_text(dt_compiler *cc, const char *text, size_t len)
{
	enum dt_namespace ns = DT_NS_ORDINARY;
	int stars = 0;
	dt_type *t;

	while (len && (text[len - 1] == '*' || text[len - 1] == ' '))
		stars += text[--len] == '*';
	if (len > 7 && strncmp(text, "struct ", 7) == 0) {
		ns = DT_NS_STRUCT;
		text += 7;
		len -= 7;
	}
	t = dt_type_lookup(cc->types, NULL, ns, dt_arena_strndup(cc->arena, text, len));
	if (!t) /* a kernel type, and no kernel types are available: use an opaque pointer */
		t = dt_intrinsics(cc->types)->void_;
	while (stars-- > 0)
		t = dt_type_pointer(cc->types, t);
	return t;
}

/* ---- variables ---- */

static dt_node *make_var(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	if (!id->type && id->proto)
		id->type = dt_type_from_text(cc, id->proto, strlen(id->proto));
	n->kind = N_VAR;
	n->ident = id;
	n->flags |= NF_LVAL;
	if (!(id->flags & IDF_BUILTIN))
		n->flags |= NF_WRITABLE;
	dt_set_object(n, id->type);
	n->attr = id->attr;
	dt_use_attr(cc, n->pos, id->attr, id->name);
	return n;
}

static const char *scope_prefix(int scope)
{
	return scope == T_SELF ? "self->" : scope == T_THIS ? "this->" : "";
}

/* x[i] where x turned out to be a pointer, an array or a string: an ordinary subscript. */
static dt_node *subscript(dt_compiler *cc, dt_node *base, dt_node *index, dt_pos pos)
{
	dt_node *op;

	if (index->next)
		dt_fail(cc, pos, D_ARR_BADREF,
			"only an associative array can have more than one subscript");
	op = dt_node_op2(cc, '[', base, dt_check(cc, index));
	op->pos = pos;
	return dt_check_index(cc, op);
}

static bool can_subscript(const dt_type *t)
{
	return dt_type_is_pointer(t) || dt_type_is_array(t) || dt_type_is_string(t);
}

static dt_node *check_scalar(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	dt_node *keys = n->args;

	if (!(n->flags & NF_HAS_KEYS))
		return make_var(cc, n, id);
	n->args = NULL;
	n->flags &= ~(uint32_t)NF_HAS_KEYS;
	n = make_var(cc, n, id);
	if (!can_subscript(n->type))
		dt_fail(cc, n->pos, D_IDENT_BADREF,
			"%s%s is a scalar of type %s: it cannot be used as an array",
			scope_prefix(n->scope), id->name, dt_tname(cc, id->type));
	n->flags |= NF_CHECKED;
	return subscript(cc, n, keys, n->pos);
}

static void check_key_type(dt_compiler *cc, dt_node *key, uint32_t i)
{
	dt_type *t = key->type;

	if (dt_type_is_void(t) || dt_type_is_dyn(t) || dt_type_is_function(t) ||
	    (!dt_type_is_scalar(t) && !dt_type_is_byref(t)) || dt_type_is_float(t) ||
	    dt_type_size(cc->types, t) == 0)
		dt_fail(cc, key->pos, D_KEY_TYPE,
			"array key #%u is of type %s, which cannot be a key", i + 1,
			dt_tname(cc, t));
}

/* Can a value of the integer type `from` change when it is converted to `to`? */
static bool cuts(dt_compiler *cc, dt_type *from, dt_type *to)
{
	uint64_t had = dt_type_size(cc->types, from), room = dt_type_size(cc->types, to);
	bool sign = dt_type_is_signed(from), same = sign == dt_type_is_signed(to);

	return room < 8 && (had > room || (!same && (sign || had == room)));
}

/* A key of an array that is declared is cut to its type, as an argument would be in C. */
static dt_node *fit_key(dt_compiler *cc, dt_node *key, dt_type *want, const dt_ident *id,
			uint32_t i)
{
	dt_node *fit;

	if (dt_type_is_integer(want) && dt_type_is_integer(key->type)) /* compared as 64-bit numbers */
		return id->keys_declared && cuts(cc, key->type, want) ? dt_coerce(cc, key, want) : key;
	fit = dt_convert(cc, key, want);
	if (!fit || (dt_is_null(key) && !dt_type_is_pointer(want) && !dt_type_is_string(want)))
		dt_fail(cc, key->pos, D_PROTO_ARG, "key #%u of array %s is %s, but was %s before",
			i + 1, id->name, dt_tname(cc, key->type), dt_tname(cc, want));
	return fit;
}

static void check_keys(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	uint32_t count = dt_list_len(n->args), i = 0;
	dt_node **link = &n->args;

	if (id->keys_known && count != id->nkeys)
		dt_fail(cc, n->pos, D_PROTO_LEN, "array %s has %u key%s, not %u", id->name,
			id->nkeys, id->nkeys == 1 ? "" : "s", count);
	if (!id->keys_known) {
		id->keys = dt_arena_alloc(cc->arena, count * sizeof(*id->keys));
		id->nkeys = count;
	}
	for (; *link; link = &(*link)->next, i++) {
		dt_node *next = (*link)->next, *key = dt_check(cc, *link);

		check_key_type(cc, key, i);
		if (id->keys_known)
			key = fit_key(cc, key, id->keys[i], id, i);
		else
			id->keys[i] = key->type;
		key->next = next;
		*link = key;
	}
	id->keys_known = true;
}

/* ---- args[], regs[], uregs[] ---- */

/* The declaration of a user's probe: provider myserv { probe start(...); } also declares the probes
 * of myserv123. */
static const dt_provider_probe *declared_probe(dt_compiler *cc, const dt_probedesc *d)
{
	const struct dt_known_provider *p;
	size_t n = d->prov ? strlen(d->prov) : 0;
	char name[64];

	while (n > 0 && strchr("0123456789*", d->prov[n - 1]))
		n--;
	if (n == 0 || n >= sizeof(name) || !d->name)
		return NULL;
	memcpy(name, d->prov, n);
	name[n] = 0;
	p = dt_map_get(cc->shared->providers, name);
	for (uint32_t i = 0; p && p->made && i < p->decl.nprobes; i++)
		if (strcmp(p->decl.probes[i].name, d->name) == 0)
			return &p->decl.probes[i];
	return NULL;
}

/* A program's declaration of a probe has more information than the probe's own size and sign of
 * arguments. */
static void use_declaration(dt_compiler *cc, const dt_provider_probe *p, struct dt_probe_args *out)
{
	uint32_t n = p->nxlated ? p->nxlated : p->nnative;

	out->typed = true;
	out->differ = false;
	out->nargs = n;
	out->args = dt_arena_alloc(cc->arena, (n + 1) * sizeof(*out->args));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = p->nxlated ? p->map[i] : i;

		out->args[i] = (dt_probe_arg){.native = p->native[from],
					      .xlated = p->nxlated ? p->xlated[i] : NULL,
					      .mapping = (int)from};
	}
}

static struct dt_probe_args *probe_args(dt_compiler *cc, dt_pos pos)
{
	const dt_provider_probe *declared;
	dt_error why = {0};

	cc->asked++;
	if (cc->pargs && (!cc->src || cc->pargs_libraries == cc->shared->nlibraries))
		return cc->pargs;
	if (!cc->desc)
		dt_fail(cc, pos, D_ARGS_NONE, "args[ ] can only be used in a probe clause");
	cc->pargs = dt_arena_alloc(cc->arena, sizeof(*cc->pargs));
	cc->pargs_libraries = cc->shared->nlibraries;
	if (cc->probes.describe(cc->probes.arg, cc, cc->desc, true, cc->pargs, &why) != 0)
		dt_fail(cc, pos, D_ARGS_TYPE, "cannot find the types of args[ ]: %s", why.text);
	declared = declared_probe(cc, cc->desc);
	if (declared)
		use_declaration(cc, declared, cc->pargs);
	return cc->pargs;
}

/* The one subscript of args[], regs[] and uregs[]. */
static int64_t const_index(dt_compiler *cc, dt_node *n)
{
	int64_t v = 0;

	if (dt_list_len(n->args) != 1)
		dt_fail(cc, n->pos, D_PROTO_LEN, "%s[ ] takes one index", n->name);
	n->args = dt_check(cc, n->args);
	if (!dt_node_is_const_int(n->args, &v))
		dt_fail(cc, n->pos, D_PROTO_ARG,
			"index of %s[ ] must be an integer constant, not %s", n->name,
			dt_what(cc, n->args));
	return v;
}

static void check_range(dt_compiler *cc, const dt_node *n, int64_t v, int64_t limit,
			enum dt_tag tag)
{
	if (v < 0 || v >= limit)
		dt_fail(cc, n->pos, tag, "index %lld is out of range for %s[ ]", (long long)v,
			n->name);
}

static dt_node *raw_arg(dt_compiler *cc, dt_node *n, dt_ident *id, int index, dt_type *t)
{
	n->kind = N_VAR;
	n->ident = id;
	n->args = dt_node_int(cc, n->pos, (uint64_t)index, dt_intrinsics(cc->types)->int_);
	n->args->flags |= NF_CHECKED;
	n->flags |= NF_LVAL | NF_CHECKED;
	n->type = dt_decay(cc, t);
	return n;
}

/* Must it be translated, or is it (nearly) the probe's own type? */
static bool is_translated(dt_compiler *cc, const dt_probe_arg *arg)
{
	return arg->xlated && !dt_type_equal(cc->types, arg->native, arg->xlated) &&
	       !(dt_type_is_string(arg->xlated) && dt_type_is_string_compat(arg->native)) &&
	       (!dt_type_is_scalar(arg->xlated) || dt_type_is_pointer(arg->xlated) ||
		dt_xlator_find(cc, dt_decay(cc, arg->native), arg->xlated));
}

/* Argument i. If its type or the translator to it is not known, a library may define it; the types
 * are then read again, because a name may have meant a kernel type before. */
static dt_probe_arg *probe_arg(dt_compiler *cc, dt_pos pos, int64_t i)
{
	dt_probe_arg *arg = &probe_args(cc, pos)->args[i];

	if (arg->native && (arg->mapping < 0 || !is_translated(cc, arg) ||
			    dt_xlator_find(cc, dt_decay(cc, arg->native), arg->xlated)))
		return arg;
	return dt_library_for_text(cc, arg->unknown) ? &probe_args(cc, pos)->args[i] : arg;
}

static void check_args_known(dt_compiler *cc, dt_pos pos, const struct dt_probe_args *pa)
{
	if (pa->differ)
		dt_fail(cc, pos, D_ARGS_MULTI,
			"args[ ] cannot be used: the description matches probes with different "
			"argument types");
	if (pa->nprobes == 0 && !pa->typed)
		dt_fail(
		    cc, pos, D_ARGS_MULTI,
		    "no probe matches, so the types of args[ ] are not known; use arg0, arg1 ...");
	if (!pa->typed)
		dt_fail(cc, pos, D_ARGS_IDX,
			"the probe has no typed arguments; use arg0, arg1 ...");
}

static dt_node *check_args_var(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	int64_t i = const_index(cc, n);
	struct dt_probe_args *pa = probe_args(cc, n->pos);
	dt_probe_arg *arg;
	dt_node *raw, *x;

	dt_use_attr(cc, n->pos, pa->args_attr, "args[ ]");
	check_args_known(cc, n->pos, pa);
	check_range(cc, n, i, pa->nargs, D_ARGS_IDX);
	arg = probe_arg(cc, n->pos, i);
	if (!arg->native)
		dt_fail(cc, n->pos, D_ARGS_TYPE, "the type of args[%lld], %s, is not known",
			(long long)i, arg->unknown);
	if (arg->mapping < 0)
		dt_fail(cc, n->pos, D_ARGS_TYPE, "args[%lld] is not available: %s", (long long)i,
			arg->unknown);
	raw = raw_arg(cc, n, id, arg->mapping, arg->native);
	if (!arg->xlated || dt_type_equal(cc->types, arg->native, arg->xlated))
		return raw;
	if (dt_type_is_string(arg->xlated) && dt_type_is_string_compat(arg->native))
		return dt_to_string(cc, raw);
	if (!is_translated(cc, arg))
		return dt_coerce(cc, raw, arg->xlated);
	if (!dt_xlator_find(cc, raw->type, arg->xlated))
		dt_fail(cc, n->pos, D_ARGS_XLATOR,
			"no translator is defined for args[%lld]: %s to %s", (long long)i,
			dt_tname(cc, arg->native), dt_tname(cc, arg->xlated));
	x = dt_node_new(cc, N_XLATE, n->pos);
	x->ctype = arg->xlated;
	x->l = raw;
	x->type = dt_intrinsics(cc->types)->dyn;
	x->flags |= NF_CHECKED;
	return x;
}

#define NREGS 64 /* of regs[]: more than any CPU's R_* constants; uregs[] faults at run time */

static dt_node *check_builtin_array(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	if (!(n->flags & NF_HAS_KEYS))
		dt_fail(cc, n->pos, D_IDENT_BADREF, "%s[ ] needs an index", id->name);
	if (id->id == DT_VAR_ARGS)
		return check_args_var(cc, n, id);
	check_range(cc, n, const_index(cc, n), id->id == DT_VAR_UREGS ? INT64_MAX : NREGS,
		    D_REGS_IDX);
	return make_var(cc, n, id);
}

static dt_node *check_array(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	if (id->flags & IDF_BUILTIN)
		return check_builtin_array(cc, n, id);
	if (!(n->flags & NF_HAS_KEYS))
		dt_fail(cc, n->pos, D_IDENT_BADREF,
			"%s%s is an associative array: it needs its keys", scope_prefix(n->scope),
			id->name);
	check_keys(cc, n, id);
	return make_var(cc, n, id);
}

static dt_node *extern_symbol(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	dt_node *keys = (n->flags & NF_HAS_KEYS) ? n->args : NULL;

	n->kind = N_SYM;
	n->module = NULL;
	n->args = NULL;
	n->flags = (n->flags & ~(uint32_t)NF_HAS_KEYS) | NF_LVAL | NF_CHECKED;
	dt_set_object(n, id->type);
	dt_use_attr(cc, n->pos, kernel_attr, id->name);
	return keys ? subscript(cc, n, keys, n->pos) : n;
}

static dt_node *inline_use(dt_compiler *cc, dt_node *n, dt_ident *id)
{
	dt_node *keys = (n->flags & NF_HAS_KEYS) && id->inl->nparams == 0 ? n->args : NULL;
	dt_node *v = dt_expand_inline(cc, id, n);

	return keys ? subscript(cc, v, keys, n->pos) : v;
}

static dt_node *bound_value(dt_compiler *cc, dt_node *n)
{
	for (struct dt_binding *b = cc->bindings; b; b = b->next) {
		dt_node *v;
		if (strcmp(b->name, n->name) != 0)
			continue;
		v = dt_node_expand(cc, b->value, n->pos);
		return (n->flags & NF_HAS_KEYS) ? subscript(cc, v, n->args, n->pos) : v;
	}
	return NULL;
}

static dt_node *enumerator(dt_compiler *cc, dt_node *n, bool kernel)
{
	dt_type *t;
	int64_t v;

	if (n->flags & NF_HAS_KEYS)
		return NULL;
	if (!dt_enumerator_lookup(cc->types, n->name, false, &t, &v) &&
	    !(kernel && dt_enumerator_lookup(cc->types, n->name, true, &t, &v)))
		return NULL;
	return dt_node_int(cc, n->pos, (uint64_t)v, t);
}

dt_node *dt_check_ident(dt_compiler *cc, dt_node *n)
{
	dt_node *v = n->scope == 0 ? bound_value(cc, n) : NULL;
	dt_ident *id = v ? NULL : dt_ident_find(cc, n->name, n->scope);

	if (v)
		return v;
	if (!id && n->scope == 0 && (v = enumerator(cc, n, false)))
		return v;
	if (!id && n->scope == 0 && dt_library_for(cc, n->name))
		id = dt_ident_find(cc, n->name, 0);
	if (!id && n->scope == 0 && (v = enumerator(cc, n, true)))
		return v;
	if (!id && n->scope == 0)
		dt_fail(cc, n->pos, D_IDENT_UNDEF, "failed to resolve %s: Unknown variable name%s",
			n->name, dt_suggest(cc, n->name, ID_SCALAR));
	if (!id)
		dt_fail(cc, n->pos, D_VAR_UNDEF, "%s%s has not yet been declared or assigned%s",
			scope_prefix(n->scope), n->name, dt_suggest_scoped(cc, n->name, n->scope));
	switch (id->kind) {
	case ID_SCALAR: return check_scalar(cc, n, id);
	case ID_ARRAY: return check_array(cc, n, id);
	case ID_INLINE: return inline_use(cc, n, id);
	case ID_SYM: return extern_symbol(cc, n, id);
	default:
		dt_fail(cc, n->pos, D_IDENT_BADREF, "%s is a function: call it as %s( )", n->name,
			n->name);
	}
}

/* ---- assignment targets ---- */

static dt_type *variable_type(dt_compiler *cc, dt_pos pos, const char *name, const dt_node *value)
{
	dt_type *t = value ? value->type : dt_intrinsics(cc->types)->int64;

	if (dt_type_is_dyn(t))
		dt_fail(cc, pos, D_OP_INCOMPAT,
			"%s cannot hold a pointer to a translated object: assign the object (*p) "
			"or one "
			"of its members",
			name);
	if (dt_type_is_void(t))
		dt_fail(cc, pos, D_OP_INCOMPAT, "%s cannot be assigned a void value: %s", name,
			dt_what(cc, value));
	if (dt_type_is_function(t))
		return dt_decay(cc, t);
	while (t->kind == DT_K_CONST || t->kind == DT_K_VOLATILE || t->kind == DT_K_RESTRICT)
		t = t->ref;
	return t;
}

/* A program's own name takes precedence over enumerators of the kernel: those are not even looked
 * up, which would mean reading its types. */
bool dt_target_is_new(dt_compiler *cc, dt_node *n)
{
	if (n->kind != N_IDENT || (n->scope == 0 && bound_value(cc, n)) ||
	    dt_ident_find(cc, n->name, n->scope) || (n->scope == 0 && enumerator(cc, n, false)))
		return false;
	if ((n->flags & NF_HAS_KEYS) && n->scope == T_THIS)
		dt_fail(cc, n->pos, D_ARR_LOCAL,
			"this->%s: a clause-local variable cannot be an associative array",
			n->name);
	for (dt_node **link = &n->args; *link; link = &(*link)->next)
		*link = dt_check(cc, *link);
	return true;
}

dt_node *dt_check_target(dt_compiler *cc, dt_node *n, const dt_node *value)
{
	bool keyed = n->flags & NF_HAS_KEYS;
	dt_type *type;
	dt_ident *id;

	if (!dt_target_is_new(cc, n))
		return dt_check(cc, n);
	if (cc->module && n->scope == 0)
		dt_fail(cc, n->pos, D_MODULE, "%s must be declared: module %s keeps its variables to itself", n->name,
			cc->module->name);
	type = variable_type(cc, n->pos, n->name, value);
	id = dt_ident_new(cc, n->name, keyed ? ID_ARRAY : ID_SCALAR, n->scope, n->pos);
	id->type = type;
	id->flags |= IDF_TYPED | IDF_WIDENS;
	return dt_check(cc, n);
}

/* ---- external symbols ---- */

/* A clause of one process cannot read the memory of another. */
static void check_process(dt_compiler *cc, const dt_node *n, const char *module)
{
	const char *prov = cc->desc ? cc->desc->prov : NULL;
	size_t len = strcspn(module, "`");

	cc->asked++;
	if (dt_module_is_user(prov) && (strlen(prov) != len || memcmp(prov, module, len) != 0))
		dt_fail(cc, n->pos, D_SYM_BADREF,
			"%s`%s is not a symbol of the process of this clause, %s", module, n->name,
			prov);
}

/* pid123`a.out`var is *(userland T *)address; a function is its address. */
static dt_node *user_symbol(dt_compiler *cc, dt_node *n, const char *module)
{
	dt_error why = {0};
	uint64_t address;
	dt_node *at;
	dt_type *t;

	check_process(cc, n, module);
	t = dt_user_symbol(cc->types, module, n->name, &address, &why);
	if (!t)
		dt_fail_error(cc, n->pos, &why, D_IDENT_UNDEF);
	dt_use_attr(cc, n->pos, kernel_attr, n->name);
	at = dt_node_int(cc, n->pos, address,
			 dt_type_userland(cc->types, dt_type_pointer(cc->types, t)));
	at->flags |= NF_CHECKED;
	if (dt_type_is_function(t))
		return at;
	n = dt_node_op1(cc, '*', at);
	n->pos = at->pos;
	return dt_check_deref(cc, n);
}

dt_node *dt_check_sym(dt_compiler *cc, dt_node *n)
{
	const char *mod = n->module && n->module[0] ? n->module : NULL;
	dt_ident *declared;
	uint64_t addr;
	dt_type *t;

	if (dt_module_is_user(mod))
		return user_symbol(cc, n, mod);
	declared = dt_ident_find(cc, n->name, 0);
	t = declared && declared->kind == ID_SYM ? declared->type
						 : dt_type_of_symbol(cc->types, mod, n->name);
	if (!t) {
		const char *why = dt_types_kernel_problem(cc->types);
		if (cc->probes.symbol &&
		    cc->probes.symbol(cc->probes.arg, mod, n->name, &addr) == 0)
			dt_fail(cc, n->pos, D_SYM_NOTYPES,
				"kernel symbol %s has no type data; declare it: extern T %s;",
				n->name, n->name);
		dt_fail(cc, n->pos, D_IDENT_UNDEF,
			"failed to resolve %s`%s: no such kernel symbol%s%s", mod ? mod : "",
			n->name, why ? "; " : "", why ? why : "");
	}
	/* Elsewhere this is checked when the program is loaded. */
	if (cc->attempts && !cc->defining && cc->probes.symbol &&
	    cc->probes.symbol(cc->probes.arg, mod, n->name, &addr) != 0)
		dt_fail(cc, n->pos, D_IDENT_UNDEF, "kernel symbol %s is not in /proc/kallsyms",
			n->name);
	n->flags |= NF_LVAL;
	dt_set_object(n, t);
	dt_use_attr(cc, n->pos, kernel_attr, n->name);
	return n;
}
