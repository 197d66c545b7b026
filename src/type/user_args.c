/*
 * user_args: what args[] is at the entry and at the return of a function of a user program.
 *
 * The type data says which parameters a function has; the ABI says where they are. arg0..arg5 are
 * the six integer registers, arg6..arg9 what lies above the return address, so a parameter that
 * takes no integer register (a double) moves those after it: in f(double, int) the int is arg0.
 * This file counts as the System V ABI for x86-64 does (section 3.2.3). What no integer register or
 * stack slot holds as a whole has no arg, and the sentence says why.
 */
#include <stdio.h>
#include <stdlib.h>

#include "type/user_store.h"

#ifdef __x86_64__

#define INT_REGS    6
#define VECTOR_REGS 8

/* What one eightbyte of a struct is. */
enum abi_class { CLASS_NONE, CLASS_INTEGER, CLASS_VECTOR, CLASS_MEMORY };

struct counter {
	dt_types *ts;
	uint32_t ints, vectors;
	uint64_t stack; /* bytes taken */
	bool scalars_only;
	const char *lost; /* why it is not known where the rest is; NULL: it is */
};

static void classify(dt_types *ts, dt_type *t, uint64_t at, enum abi_class c[2], int depth);

static void merge(enum abi_class *c, enum abi_class with)
{
	if (*c == CLASS_NONE || with == CLASS_MEMORY ||
	    (*c == CLASS_VECTOR && with == CLASS_INTEGER))
		*c = with;
}

static void classify_members(dt_types *ts, dt_type *t, uint64_t at, enum abi_class c[2], int depth)
{
	dt_type_complete(ts, t);
	for (uint32_t i = 0; i < t->nmembers; i++) {
		const dt_member *m = &t->members[i];

		if (m->bit_width != 0)
			merge(&c[(at + m->bit_offset / 8) / 8 & 1], CLASS_INTEGER);
		else
			classify(ts, m->type, at + m->bit_offset / 8, c, depth + 1);
	}
}

/* A type of at most 16 bytes that begins at `at` of one. */
static void classify(dt_types *ts, dt_type *t, uint64_t at, enum abi_class c[2], int depth)
{
	uint64_t size = dt_type_size(ts, t);

	t = dt_type_resolve(t);
	if (depth > 32 || at + size > 16 || (size != 0 && at % dt_type_align(ts, t) != 0)) {
		c[0] = c[1] = CLASS_MEMORY; /* packed, or no type that can be */
		return;
	}
	switch (t->kind) {
	case DT_K_ARRAY:
		size = dt_type_size(ts, t->ref);
		for (uint64_t i = 0; size != 0 && i < t->nelems; i++)
			classify(ts, t->ref, at + i * size, c, depth + 1);
		break;
	case DT_K_STRUCT:
	case DT_K_UNION: classify_members(ts, t, at, c, depth); break;
	case DT_K_FLOAT: merge(&c[at / 8 & 1], size > 8 ? CLASS_MEMORY : CLASS_VECTOR); break;
	default:
		if (size != 0)
			merge(&c[at / 8 & 1], CLASS_INTEGER);
		if (size > 8)
			merge(&c[1], CLASS_INTEGER);
	}
}

static bool in_memory(dt_types *ts, dt_type *t, enum abi_class c[2])
{
	c[0] = c[1] = CLASS_NONE;
	if (dt_type_size(ts, t) > 16)
		return true;
	classify(ts, t, 0, c, 0);
	return c[0] == CLASS_MEMORY || c[1] == CLASS_MEMORY;
}

static const char *because(struct counter *n, dt_type *t, const char *what)
{
	return dt_arena_printf(n->ts->arena, "%s is %s", dt_type_name(n->ts, t), what);
}

/* The stack slot of something that takes `size` bytes there. */
static void take_stack(struct counter *n, dt_user_arg *a, uint64_t size, uint64_t align)
{
	uint64_t slot;

	n->stack = dt_align_up(n->stack, align > 8 ? 16 : 8);
	slot = n->stack / 8 + INT_REGS;
	n->stack += dt_align_up(size, 8);
	if (size <= 8 && slot < DT_USER_RAW_ARGS)
		a->raw = (int)slot;
	else if (size <= 8)
		a->why = because(n, a->type, "passed on the stack, beyond arg9");
	else
		a->why = because(n, a->type, "passed by value on the stack");
}

static void take_object(struct counter *n, dt_user_arg *a)
{
	uint64_t size = dt_type_size(n->ts, a->type);
	uint32_t ints = 0, vectors = 0;
	enum abi_class c[2];

	if (in_memory(n->ts, a->type, c)) {
		take_stack(n, a, size < 9 ? 9 : size, dt_type_align(n->ts, a->type));
		return;
	}
	for (int i = 0; i < 2; i++) {
		ints += c[i] == CLASS_INTEGER;
		vectors += c[i] == CLASS_VECTOR;
	}
	if (n->ints + ints > INT_REGS || n->vectors + vectors > VECTOR_REGS) {
		take_stack(n, a, size < 9 ? 9 : size, dt_type_align(n->ts, a->type));
		return;
	}
	if (ints + vectors == 0)
		a->why = because(n, a->type, "empty: nothing is passed");
	else if (ints == 0)
		a->why = because(n, a->type, "passed in floating-point registers");
	else if (vectors == 0 && ints == 1)
		a->why = dt_arena_printf(n->ts->arena,
					 "%s is passed by value in a register: its bytes are arg%u",
					 dt_type_name(n->ts, a->type), n->ints);
	else
		a->why = because(n, a->type, "passed by value in several registers");
	n->ints += ints;
	n->vectors += vectors;
}

/* After a parameter of which it is not known how it is passed, nobody knows which register comes
 * next. */
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

static void place_param(struct counter *n, dt_user_arg *a)
{
	dt_type *t = dt_type_resolve(a->type);
	uint64_t size = dt_type_size(n->ts, t);

	a->raw = -1;
	lose(n, a->type, n->scalars_only);
	if (n->lost != NULL) {
		a->why = n->lost;
	} else if (t->kind == DT_K_FLOAT && size <= 8) {
		if (n->vectors < VECTOR_REGS) {
			n->vectors++;
			a->why = because(n, a->type, "passed in a floating-point register");
		} else {
			take_stack(n, a, size, 8);
			a->raw = -1;
			a->why = because(n, a->type,
					 "passed on the stack, and D cannot compute with it");
		}
	} else if (t->kind == DT_K_FLOAT) {
		take_stack(n, a, size, 16);
	} else if (dt_type_is_byref(t) || size > 8) {
		take_object(n, a);
	} else if (dt_type_is_scalar(t)) {
		if (n->ints < INT_REGS)
			a->raw = (int)n->ints++;
		else
			take_stack(n, a, 8, 8);
	}
}

/* args[1]: the value is in rax; of what was returned in memory, the address. */
static void place_return(struct counter *n, dt_user_arg *a, bool by_reference)
{
	dt_type *t = dt_type_resolve(a->type);
	enum abi_class c[2];

	a->raw = 1;
	if (by_reference || (dt_type_is_sou(t) && in_memory(n->ts, t, c))) {
		a->type = dt_user_pointer(n->ts, a->type);
	} else if (t->kind == DT_K_FLOAT || dt_type_is_byref(t) || t->size > 8) {
		a->raw = -1;
		a->why = because(n, a->type,
				 t->kind == DT_K_FLOAT ? "returned in a floating-point register"
						       : "returned in registers");
	} else if (!dt_type_is_complete(n->ts, t)) {
		a->raw = -1;
		a->why = because(n, a->type, "not described by the type data");
	}
}

/* A function that returns an object in memory gets the address of that memory as its first
 * argument. */
static bool has_hidden_argument(dt_types *ts, const struct dt_user_function *f)
{
	enum abi_class c[2];

	return f->ret_by_reference || (dt_type_is_sou(f->ret) && in_memory(ts, f->ret, c));
}

static const char *unusual_machine(const dt_elf *e)
{
	return dt_elf_machine(e) != 62 ? "it is code for another CPU" : NULL; /* EM_X86_64 */
}

#else
#error "user_args.c: say here where this CPU's ABI passes arguments"
#endif

static void name_arg(dt_types *ts, dt_user_arg *a)
{
	a->text = dt_type_name(ts, a->type);
}

struct answer {
	int n; /* -1: why */
	dt_user_arg *args;
	const char *why;
};

static void entry_args(dt_types *ts, const struct dt_user_function *f, struct answer *out)
{
	struct counter n = {
	    .ts = ts, .ints = has_hidden_argument(ts, f), .scalars_only = f->scalars_only};

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

static void return_args(dt_types *ts, const struct dt_user_function *f, struct answer *out)
{
	struct counter n = {.ts = ts};

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
	struct dt_user_function f = {0};
	bool known = false;

	out->n = -1;
	for (uint32_t i = 0; !known && i < o->nreaders; i++)
		known = o->readers[i]->ops->function(o->readers[i], symbol, address, &f);
	if (o->nreaders == 0)
		out->why = o->problem;
	else if (unusual_machine(o->elf) != NULL)
		out->why = unusual_machine(o->elf);
	else if (!known)
		out->why = "the type data does not describe this function";
	else if (is_clone(symbol))
		out->why =
		    "the compiler made this function from another one and changed its arguments";
	else if (f.unusual != NULL)
		out->why = f.unusual;
	else if (is_return)
		return_args(o->ts, &f, out);
	else
		entry_args(o->ts, &f, out);
}

/* The object of a path, opened once: later questions cost a look into a table. */
static struct dt_user_object *object_of(dt_types *ts, const char *path,
					const struct dt_elf_place *place, dt_error *err)
{
	struct dt_user_object *o = dt_map_get(ts->user_paths, path);
	const char *base = strrchr(place != NULL && place->path != NULL ? place->path : path, '/');
	const struct dt_user_source *src = ts->user_source;
	struct dt_elf_place here = {.path = path};
	dt_elf *e;

	if (o != NULL)
		return o;
	if (src != NULL && src->debug_dir != NULL)
		here.debug_dir = src->debug_dir(src->arg);
	e = dt_elf_open(path, place != NULL ? place : &here, err);
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
