/*
 * user_args: args[] at the entry and at the return of a function of a user program.
 *
 * The type data lists the parameters of a function; the ABI of the CPU says where they are
 * (arch/abi.h). arg0 ... are the integer registers, the rest up to arg9 are words on the stack, so
 * a parameter that takes no integer register (a double) shifts those after it: in f(double, int)
 * the int is arg0. A parameter that no single integer register or stack slot holds has no arg, and
 * a sentence says why.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch/abi.h"
#include "arch/arch.h"
#include "type/user_store.h"

/* Parameters being placed. */
struct counter {
	dt_types *ts;
	const dt_arch *arch;
	struct dt_abi_used used;
	bool scalars_only;
	const char *lost; /* why the location of the rest is not known; NULL: it is known */
};

/* ---- a type from the ABI's point of view ---- */

static void add_field(struct dt_abi_value *v, uint64_t offset, uint64_t size, bool is_float)
{
	for (uint32_t i = 0; i < v->nfields; i++) {
		const struct dt_abi_field *f = &v->field[i];

		if (f->offset == offset && f->size == size && f->is_float == is_float)
			return;
	}
	if (v->nfields == DT_NELEM(v->field))
		v->irregular = true;
	else
		v->field[v->nfields++] = (struct dt_abi_field){offset, size, is_float};
}

/* A part of v of this type that begins at `at`. */
static void add_part(dt_types *ts, dt_type *t, uint64_t at, struct dt_abi_value *v, int depth)
{
	uint64_t size = dt_type_size(ts, t);

	t = dt_type_resolve(t);
	if (depth > 32 || at + size > v->size || (size != 0 && at % dt_type_align(ts, t) != 0)) {
		v->irregular = true;
		return;
	}
	switch (t->kind) {
	case DT_K_ARRAY:
		size = dt_type_size(ts, t->ref);
		for (uint64_t i = 0; size != 0 && i < t->nelems; i++)
			add_part(ts, t->ref, at + i * size, v, depth + 1);
		break;
	case DT_K_STRUCT:
	case DT_K_UNION:
		dt_type_complete(ts, t);
		for (uint32_t i = 0; i < t->nmembers; i++) {
			const dt_member *m = &t->members[i];

			if (m->bit_width != 0)
				add_field(v, at + m->bit_offset / 8, 1, false);
			else
				add_part(ts, m->type, at + m->bit_offset / 8, v, depth + 1);
		}
		break;
	default:
		if (size != 0)
			add_field(v, at, size, t->kind == DT_K_FLOAT);
	}
}

static void describe(const struct counter *n, dt_type *t, struct dt_abi_value *v)
{
	t = dt_type_resolve(t);
	v->size = dt_type_size(n->ts, t);
	v->align = dt_type_align(n->ts, t);
	v->nfields = 0;
	v->irregular = false;
	v->kind = t->kind == DT_K_FLOAT		       ? DT_ABI_FLOAT
		  : dt_type_is_byref(t) || v->size > 8 ? DT_ABI_OBJECT
						       : DT_ABI_INTEGER;
	if (v->kind == DT_ABI_OBJECT && v->size <= n->arch->abi->flat)
		add_part(n->ts, t, 0, v, 0);
}

/* ---- where it is ---- */

static const char *because(struct counter *n, dt_type *t, const char *what)
{
	return dt_arena_printf(n->ts->arena, "%s is %s", dt_type_name(n->ts, t), what);
}

/* After a parameter whose passing is not known, the next register is not known either. */
static void lose(struct counter *n, dt_type *t, bool scalars_only)
{
	const char *before = "how Rust passes", *after = "is not specified";

	if (!dt_type_is_complete(n->ts, t)) {
		before = "the type data does not say what";
		after = "is";
	} else if (!scalars_only || dt_type_is_scalar(t)) {
		return;
	}
	if (n->lost == NULL)
		n->lost = dt_arena_printf(
		    n->ts->arena,
		    "%s %s %s, so it is not known which registers are used from there on", before,
		    dt_type_name(n->ts, t), after);
}

static void place_value(struct counter *n, dt_user_arg *a, const struct dt_abi_value *v)
{
	struct dt_abi_place at = {0};

	dt_abi_pass(n->arch->abi, v, &n->used, &at);
	switch (at.how) {
	case DT_ABI_REGISTER: a->raw = (int)at.n; break;
	case DT_ABI_SLOT:
		if (v->kind == DT_ABI_FLOAT)
			a->why = because(n, a->type,
					 "passed on the stack, and D cannot compute with it");
		else if (at.n + n->arch->call.nargs < DT_USER_RAW_ARGS)
			a->raw = (int)(at.n + n->arch->call.nargs);
		else
			a->why = because(n, a->type, "passed on the stack, beyond arg9");
		break;
	case DT_ABI_VECTOR:
		a->why = because(n, a->type,
				 v->kind == DT_ABI_FLOAT ? "passed in a floating-point register"
							 : "passed in floating-point registers");
		break;
	case DT_ABI_ONE:
		a->why = dt_arena_printf(n->ts->arena,
					 "%s is passed by value in a register: its bytes are arg%u",
					 dt_type_name(n->ts, a->type), at.n);
		break;
	case DT_ABI_SEVERAL:
		a->why = because(n, a->type, "passed by value in several registers");
		break;
	case DT_ABI_REFERENCE:
		if (at.n < DT_USER_RAW_ARGS) {
			a->raw = (int)at.n;
			a->type = dt_user_pointer(n->ts, a->type);
		} else {
			a->why = because(n, a->type, "passed on the stack, beyond arg9");
		}
		break;
	case DT_ABI_MEMORY: a->why = because(n, a->type, "passed by value on the stack"); break;
	case DT_ABI_NOTHING: a->why = because(n, a->type, "empty: nothing is passed"); break;
	}
}

static void place_param(struct counter *n, dt_user_arg *a)
{
	struct dt_abi_value v;

	a->raw = -1;
	lose(n, a->type, n->scalars_only);
	if (n->lost != NULL) {
		a->why = n->lost;
		return;
	}
	describe(n, a->type, &v);
	if (v.kind != DT_ABI_INTEGER || dt_type_is_scalar(a->type))
		place_value(n, a, &v);
}

static bool returned_in_memory(struct counter *n, dt_type *t)
{
	struct dt_abi_value v;

	if (!dt_type_is_sou(t))
		return false;
	describe(n, t, &v);
	return n->arch->abi->returns_in_memory(&v);
}

/* args[1]: the value in the result register; for a value returned in memory, its address. */
static void place_return(struct counter *n, dt_user_arg *a, bool by_reference)
{
	dt_type *t = dt_type_resolve(a->type);

	a->raw = 1;
	if (by_reference || (returned_in_memory(n, t) && n->arch->abi->returns_address)) {
		a->type = dt_user_pointer(n->ts, a->type);
	} else if (t->kind == DT_K_FLOAT || dt_type_is_byref(t) || t->size > 8) {
		a->raw = -1;
		a->why = because(n, a->type,
				 t->kind == DT_K_FLOAT ? "returned in a floating-point register"
				 : returned_in_memory(n, t) ? "returned in memory"
							    : "returned in registers");
	} else if (!dt_type_is_complete(n->ts, t)) {
		a->raw = -1;
		a->why = because(n, a->type, "not described by the type data");
	}
}

/* A function that returns an object in memory gets the address of that memory: as its first
 * argument if there is no dedicated register for it. */
static bool has_hidden_argument(struct counter *n, const struct dt_user_function *f)
{
	return n->arch->abi->hidden_argument &&
	       (f->ret_by_reference || returned_in_memory(n, f->ret));
}

static void name_arg(dt_types *ts, dt_user_arg *a)
{
	a->text = dt_type_name(ts, a->type);
}

struct answer {
	int n; /* -1: why */
	dt_user_arg *args;
	const char *why;
};

static void entry_args(dt_types *ts, const dt_arch *arch, const struct dt_user_function *f,
		       struct answer *out)
{
	struct counter n = {.ts = ts, .arch = arch, .scalars_only = f->scalars_only};

	n.used.ints = has_hidden_argument(&n, f);
	if (!dt_type_is_void(f->ret))
		lose(&n, f->ret, f->scalars_only); /* is there a hidden argument? */

	out->n = (int)f->nparams;
	out->args = dt_arena_alloc(ts->arena, (f->nparams + 1) * sizeof(*out->args));
	for (uint32_t i = 0; i < f->nparams; i++) {
		dt_user_arg *a = &out->args[i];

		a->type = f->params[i];
		if (f->by_reference != NULL && f->by_reference[i])
			a->type = dt_user_pointer(ts, a->type);
		place_param(&n, a);
		name_arg(ts, a);
	}
}

static void return_args(dt_types *ts, const dt_arch *arch, const struct dt_user_function *f,
			struct answer *out)
{
	struct counter n = {.ts = ts, .arch = arch};

	out->n = dt_type_is_void(f->ret) ? 1 : 2;
	out->args = dt_arena_alloc(ts->arena, 2 * sizeof(*out->args));
	out->args[0] = (dt_user_arg){.type = ts->in.uint64, .raw = 0};
	out->args[1].type = f->ret;
	if (out->n == 2)
		place_return(&n, &out->args[1], f->ret_by_reference);
	for (int i = 0; i < out->n; i++)
		name_arg(ts, &out->args[i]);
}

/* gcc's clones of a function, "f.isra.0", lose or change parameters. */
static bool is_clone(const char *symbol)
{
	return strstr(symbol, ".isra") != NULL || strstr(symbol, ".constprop") != NULL ||
	       strstr(symbol, ".part") != NULL || strstr(symbol, ".cold") != NULL;
}

static void answer_for(struct dt_user_object *o, const char *symbol, uint64_t address,
		       bool is_return, struct answer *out)
{
	const dt_arch *arch = dt_arch_of(dt_elf_machine(o->elf));
	struct dt_user_function f = {0};
	bool known = false;

	out->n = -1;
	for (uint32_t i = 0; !known && i < o->nreaders; i++)
		known = o->readers[i]->ops->function(o->readers[i], symbol, address, &f);
	if (o->nreaders == 0)
		out->why = o->problem;
	else if (arch == NULL)
		out->why = "it is code for another CPU";
	else if (!known)
		out->why = "the type data does not describe this function";
	else if (is_clone(symbol))
		out->why =
		    "the compiler made this function from another one and changed its arguments";
	else if (f.unusual != NULL)
		out->why = f.unusual;
	else if (is_return)
		return_args(o->ts, arch, &f, out);
	else
		entry_args(o->ts, arch, &f, out);
}

/* The object of a path, opened once: later calls cost a table look-up. */
static struct dt_user_object *object_of(dt_types *ts, const char *path,
					const struct dt_elf_place *place, dt_error *err)
{
	struct dt_user_object *o = dt_map_get(ts->user_paths, path);
	const char *base = strrchr(place != NULL && place->path != NULL ? place->path : path, '/');
	const struct dt_user_source *src = ts->user_source;
	struct dt_elf_place here = place != NULL ? *place : (struct dt_elf_place){.path = path};
	dt_elf *e;

	if (o != NULL)
		return o;
	if (place == NULL && src != NULL && src->debug_dir != NULL)
		here.debug_dir = src->debug_dir(src->arg);
	if (src != NULL && src->jail != NULL) {
		here.jail = dt_jail_like(src->jail); /* for itself: it has to remember */
		here.own_jail = true;
	}
	e = dt_elf_open(path, &here, err);
	if (e == NULL)
		return NULL;
	o = dt_user_object(ts, e, base != NULL ? base + 1 : path);
	dt_map_set(ts->user_paths, path, o);
	return o;
}

int dt_user_args(dt_types *ts, const char *path, const struct dt_elf_place *place,
		 const char *symbol, uint64_t address, bool is_return, const dt_user_arg **out,
		 dt_error *err)
{
	dt_error ignored;
	struct dt_user_object *o = object_of(ts, path, place, err != NULL ? err : &ignored);
	struct answer *a;
	char key[32];

	if (o == NULL)
		return -1;
	snprintf(key, sizeof(key), "%llx%c", (unsigned long long)address, is_return ? 'r' : 'e');
	a = dt_map_get(o->functions, key);
	if (a == NULL) {
		a = dt_arena_alloc(ts->arena, sizeof(*a));
		answer_for(o, symbol, address, is_return, a);
		dt_map_set(o->functions, key, a);
	}
	*out = a->args;
	if (a->n < 0 && err != NULL)
		return dt_err(err, EDT_NOTYPE, "%s: %s", symbol, a->why);
	return a->n;
}
