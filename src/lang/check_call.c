/*
 * check_call: calls of subroutines, actions and aggregating functions.
 *
 * All have a prototype (dif/builtins.def, dif/actions.def), and are checked against it in the same
 * way: each argument, their number, their types. An action's own rules are checked later, when code
 * is generated for the statement (action*.c). Inside an expression an action is a value of its
 * result type, which for most is void: code that needs a value refuses it.
 */
#include "lang/check.h"
#include "lang/decl.h"

struct formal {
	const char *text;
	size_t len;
	bool optional;
};

struct proto {
	struct formal args[8];
	uint32_t min, max; /* arguments; max UINT32_MAX: any number of further ones */
	const char *ret;
	size_t retlen;
};

/* "ret(a, b, [c])", "ret(a, ...)" */
static void parse_proto(const char *text, struct proto *out)
{
	const char *p = strchr(text, '(');

	*out = (struct proto){.ret = text, .retlen = (size_t)(p - text)};
	for (p++; *p != ')' && out->max < DT_NELEM(out->args);) {
		size_t len = strcspn(p, ",)");
		struct formal *f = &out->args[out->max];
		if (*p == '.') {
			out->max = UINT32_MAX;
			return;
		}
		f->optional = *p == '[';
		f->text = p + f->optional;
		f->len = len - (f->optional ? 2 : 0);
		out->max++;
		out->min += !f->optional;
		p += len;
		p += strspn(p, ", ");
	}
}

static bool formal_is(const struct formal *f, const char *text)
{
	return strlen(text) == f->len && strncmp(text, f->text, f->len) == 0;
}

/* name_t * accepts pointers to that type and to void; void * and struct T *, which are kernel
 * types, accept any. */
static bool fits_pointer(dt_compiler *cc, dt_type *t, const struct formal *f)
{
	size_t len = strcspn(f->text, " *");
	const char *name = dt_arena_strndup(cc->arena, f->text, len);
	dt_type *want = NULL;

	if (!dt_type_is_pointer(t) && !dt_type_is_array(t) && !dt_type_is_function(t) &&
	    !dt_type_is_string(t))
		return false;
	if (len > 2 && strcmp(name + len - 2, "_t") == 0 && strcmp(name, "uintptr_t") != 0)
		want = dt_named_type(cc, NULL, name, true);
	if (!want)
		return true;
	if (dt_type_is_string(t))
		return false;
	t = dt_type_resolve(dt_decay(cc, t));
	return dt_type_is_void(t->ref) || dt_type_compatible(cc->types, t->ref, want);
}

static dt_node *fit_arg(dt_compiler *cc, dt_node *a, const struct formal *f)
{
	dt_type *t = a->type;
	bool pointer = dt_type_is_pointer(t) || dt_type_is_array(t) || dt_type_is_function(t);

	if (formal_is(f, "any"))
		return a;
	if (dt_type_is_dyn(t) || dt_type_is_void(t))
		return NULL;
	if (formal_is(f, "string"))
		return dt_convert(cc, a, dt_intrinsics(cc->types)->string);
	if (f->text[f->len - 1] == '*')
		return (dt_is_null(a) && !pointer) || fits_pointer(cc, t, f) ? a : NULL;
	if (strncmp(f->text, "const ", 6) == 0)
		return a->kind == N_INT ? a : NULL;
	if (formal_is(f, "uintptr_t"))
		return pointer || dt_type_is_integer(t) ? a : NULL;
	return dt_type_is_integer(t) ? a : NULL;
}

/* Is it a variable that is kept by reference, or a part of one? */
static bool is_in_variable(const dt_node *n)
{
	while ((n->kind == N_OP1 && (n->op == '&' || n->op == '(' || n->op == T_STRINGOF)) ||
	       (n->kind == N_OP2 && (n->op == '.' || (n->op == '[' && (n->l->flags & NF_REF)))))
		n = n->l;
	return n->kind == N_VAR && (n->flags & NF_REF);
}

/* Only scratch memory can be written: a string or another variable is not. */
static void check_written(dt_compiler *cc, const dt_node *call)
{
	uint32_t i = call->ident->id == DT_SUBR_COPYINTO ? 2 : 1;
	const dt_node *to = call->args;

	if (call->ident->kind != ID_SUBR ||
	    (call->ident->id != DT_SUBR_BCOPY && call->ident->id != DT_SUBR_COPYINTO))
		return;
	for (uint32_t n = i; n > 0; n--)
		to = to->next;
	if (dt_type_is_string(to->type) || is_in_variable(to))
		dt_fail(
		    cc, to->pos, D_PROTO_ARG,
		    "%s( ) argument #%u is not scratch memory, which alloca( ) gives: it is \"%s\"",
		    call->ident->name, i + 1, dt_tname(cc, to->type));
}

/* Option scratchsize: what no clause can have is refused here, the rest when it runs. */
static void check_scratch(dt_compiler *cc, const dt_node *call)
{
	const dt_node *size = call->args;
	uint64_t most = dt_opt_scratch(cc->opts);
	int64_t n;

	if (call->ident->kind != ID_SUBR ||
	    (call->ident->id != DT_SUBR_ALLOCA && call->ident->id != DT_SUBR_COPYIN) || !most)
		return;
	if (call->ident->id == DT_SUBR_COPYIN)
		size = size->next;
	if (dt_node_is_const_int(size, &n) && (uint64_t)n > most)
		dt_fail(cc, size->pos, D_ALLOCA_SIZE,
			"%s( ) of %lld bytes: option scratchsize allows %llu", call->ident->name,
			(long long)n, (unsigned long long)most);
}

static void check_args(dt_compiler *cc, dt_node *n, const struct proto *proto)
{
	uint32_t i = 0;

	for (dt_node **link = &n->args; *link; link = &(*link)->next)
		*link = dt_check(cc, *link);
	dt_check_args_count(cc, n, proto->min, proto->max, D_PROTO_LEN);
	for (dt_node **link = &n->args; *link && i < DT_NELEM(proto->args) && proto->args[i].text;
	     link = &(*link)->next, i++) {
		const struct formal *f = &proto->args[i];
		dt_node *a = *link, *next = a->next, *fit = fit_arg(cc, a, f);

		if (!fit)
			dt_fail(cc, a->pos, D_PROTO_ARG,
				"%s( ) argument #%u is incompatible with prototype: "
				"needed \"%.*s\", got \"%s\"",
				n->ident->name, i + 1, (int)f->len, f->text, dt_what(cc, a));
		fit->next = next;
		*link = fit;
	}
}

static bool is_function(const dt_ident *id)
{
	return id->kind == ID_SUBR || id->kind == ID_ACTION || id->kind == ID_AGGFUNC ||
	       id->kind == ID_FUNC;
}

/* min and max of two numbers are not aggregating functions. */
static bool is_plain(const dt_ident *id, const dt_node *call)
{
	return id->kind == ID_AGGFUNC && (id->id == DT_ACT_MIN || id->id == DT_ACT_MAX) &&
	       dt_list_len(call->args) == 2;
}

dt_ident *dt_call_ident(dt_compiler *cc, const dt_node *n)
{
	dt_ident *id = dt_ident_find(cc, n->name, 0), *soft;

	if (!id)
		dt_function_cycle(cc, n->name, n->pos);
	if (!id && dt_library_for(cc, n->name))
		id = dt_ident_find(cc, n->name, 0);
	if ((!id || !is_function(id) || is_plain(id, n)) && (soft = dt_ident_soft(cc, n->name)))
		return soft;
	if (!id)
		dt_fail(cc, n->pos, D_FUNC_UNDEF, "undefined function name: %s%s", n->name,
			dt_suggest(cc, n->name, ID_SUBR));
	if (!is_function(id))
		dt_fail(cc, n->pos, D_FUNC_IDKIND, "%s is not a function", n->name);
	return id;
}

dt_node *dt_check_call(dt_compiler *cc, dt_node *n)
{
	dt_ident *id = dt_call_ident(cc, n);
	struct proto proto;

	if (id->kind == ID_FUNC)
		return dt_expand_function(cc, id, n);
	if (id->kind == ID_SUBR && id->id == DT_SUBR_SPRINTF)
		return dt_check_sprintf(cc, n);
	n->kind = N_FUNC;
	n->ident = id;
	dt_use_attr(cc, n->pos, id->attr, id->name);
	parse_proto(id->proto, &proto);
	check_args(cc, n, &proto);
	check_written(cc, n);
	check_scratch(cc, n);
	if (proto.retlen == 5 && strncmp(proto.ret, "stack", 5) == 0)
		n->type = dt_intrinsics(cc->types)->stack;
	else
		dt_set_object(n, dt_type_from_text(cc, proto.ret, proto.retlen));
	return n;
}
