/*
 * type: the store, layout against the compiler's own, spellings, conversions, and the running kernel's
 * BTF, where there is a /sys/kernel/btf. test_btf.c has BTF made by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "type/type.h"
#include "unit.h"

static dt_type *find(dt_types *ts, const char *name)
{
	return dt_type_lookup_local(ts, DT_NS_ORDINARY, name);
}

/* ---- intrinsics and derived types ---- */

static void test_intrinsics(void)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);

	CHECK(find(ts, "int") == in->int_ && find(ts, "unsigned") == in->uint);
	CHECK(find(ts, "long unsigned int") == in->ulong && find(ts, "long int") == in->long_);
	CHECK(find(ts, "long long unsigned int") == in->ullong);
	CHECK(find(ts, "short unsigned int") == find(ts, "unsigned short"));
	CHECK(find(ts, "signed char") != in->char_ && find(ts, "signed char")->is_char);
	CHECK(find(ts, "long long long") == NULL && find(ts, "unsigned double") == NULL);
	CHECK(find(ts, "long double")->size == 16 && find(ts, "short long") == NULL);
	CHECK(find(ts, "") == NULL && find(ts, "stack") == NULL && find(ts, "nothing") == NULL);
	CHECK(find(ts, "string") == in->string && in->string->size == 256);
	CHECK(find(ts, "uint64_t") == in->uint64 && dt_type_resolve(in->uint64) == in->ulong);
	CHECK(find(ts, "pid_t") == in->pid && dt_type_size(ts, in->pid) == 4);
	CHECK(dt_type_is_string_compat(find(ts, "caddr_t")));
	CHECK(in->usymaddr->size == 16 && in->symaddr->size == 8);
	CHECK(dt_type_is_void(in->void_) && !dt_type_is_integer(in->void_));
	CHECK(!dt_type_is_complete(ts, in->void_) && dt_type_is_complete(ts, in->void_ptr));
	CHECK(dt_type_is_byref(in->string) && !dt_type_is_scalar(in->string));
	dt_types_set_strsize(ts, 64);
	CHECK(dt_type_size(ts, in->string) == 64);
	dt_types_free(ts);
	dt_types_free(NULL);
}

/* A struct with two members of these names and types, and a third of another struct. */
static uint64_t layout_of(const char *first, const char *second, enum dt_kind kind, uint32_t width, int64_t red)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);
	dt_type *s = dt_type_sou(ts, "D", DT_K_STRUCT, "s"), *inner = dt_type_sou(ts, "D", kind, NULL), *colour = dt_type_enum(ts, "D", "colour");
	uint64_t layout;

	dt_type_add_enumerator(ts, colour, "RED", red);
	dt_type_add_member(ts, inner, "x", in->int_, width);
	dt_type_add_member(ts, inner, "y", in->int_, width);
	dt_type_finish_sou(ts, inner);
	dt_type_add_member(ts, s, first, in->int_, 0);
	dt_type_add_member(ts, s, second, in->int_, 0);
	dt_type_add_member(ts, s, "next", dt_type_pointer(ts, s), 0);
	dt_type_add_member(ts, s, "c", colour, 0);
	dt_type_add_member(ts, s, "in", dt_type_array(ts, inner, 2), 0);
	dt_type_finish_sou(ts, s);
	layout = dt_type_layout(dt_type_qualify(ts, s, DT_K_CONST));
	CHECK(layout == dt_type_layout(s) && layout != dt_type_layout(inner));
	CHECK(dt_type_layout(in->int_) == 0 && dt_type_layout(in->string) == 0 && dt_type_layout(dt_type_pointer(ts, s)) == 0);
	dt_types_free(ts);
	return layout;
}

static void test_same_bytes(void)
{
	uint64_t one = layout_of("a", "b", DT_K_STRUCT, 0, 1);

	CHECK(one != 0 && one == layout_of("a", "b", DT_K_STRUCT, 0, 1));
	CHECK(one != layout_of("b", "a", DT_K_STRUCT, 0, 1)); /* the same size */
	CHECK(one != layout_of("a", "b", DT_K_UNION, 0, 1));
	CHECK(one != layout_of("a", "b", DT_K_STRUCT, 16, 1));
	CHECK(one != layout_of("a", "b", DT_K_STRUCT, 0, 2));
}

static void test_interning(void)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);
	dt_type *params[2] = {in->int_, in->char_ptr}, *cc, *user, *huge;

	CHECK(dt_type_pointer(ts, in->char_) == in->char_ptr);
	CHECK(dt_type_array(ts, in->int_, 4) == dt_type_array(ts, in->int_, 4));
	CHECK(dt_type_array(ts, in->int_, 4) != dt_type_array(ts, in->int_, 5));
	CHECK(dt_type_function(ts, in->int_, params, 2, false) ==
	      dt_type_function(ts, in->int_, params, 2, false));
	CHECK(dt_type_function(ts, in->int_, params, 2, false) !=
	      dt_type_function(ts, in->int_, params, 2, true));
	cc = dt_type_qualify(ts, in->char_, DT_K_CONST);
	CHECK(dt_type_qualify(ts, cc, DT_K_CONST) == cc);
	CHECK(dt_type_qualify(ts, dt_type_qualify(ts, cc, DT_K_VOLATILE), DT_K_CONST)->ref == cc);
	CHECK(dt_type_resolve(cc) == in->char_);
	user = dt_type_userland(ts, in->char_ptr);
	CHECK(user != in->char_ptr && user->userland && dt_type_userland(ts, user) == user);
	CHECK(dt_type_userland(ts, in->int_) == in->int_);
	/* sizes saturate */
	huge = dt_type_array(ts, in->long_, UINT64_MAX);
	CHECK(dt_type_size(ts, dt_type_array(ts, huge, UINT64_MAX)) == (uint64_t)1 << 60);
	dt_types_free(ts);
}

/* ---- layout: the same structs, laid out by the compiler and by us ---- */

struct mixed {
	char c;
	short s;
	char d;
	long l;
	char tail;
};
struct bits {
	unsigned int a : 3;
	unsigned int b : 30;
	unsigned char c : 5;
	unsigned char d : 4;
	unsigned long e : 40;
	int f : 1;
	char g;
	unsigned short h : 9;
};
struct padded {
	unsigned int a : 7;
	unsigned int : 20;
	unsigned int b : 9;
	char c;
	unsigned long : 3;
	char d;
};
struct small {
	char c;
	long : 4;
};
union any {
	char c[5];
	int i : 3;
	short s;
};
struct nest {
	char c;
	union any u;
	struct mixed m[2];
	char e;
};

struct field {
	const char *name, *type;
	uint32_t width;
};

static dt_type *build(dt_types *ts, enum dt_kind kind, const char *tag, const struct field *f)
{
	dt_type *t = dt_type_sou(ts, "D", kind, tag);

	for (; f->type != NULL; f++)
		dt_type_add_member(ts, t, f->name, find(ts, f->type), f->width);
	dt_type_finish_sou(ts, t);
	return t;
}

static uint64_t offset(dt_types *ts, dt_type *t, const char *name)
{
	uint64_t at = 12345678;

	dt_type_member(ts, t, name, &at);
	return at;
}

static uint64_t first_bit(const void *p, size_t n)
{
	const unsigned char *b = p;

	for (size_t i = 0; i < n * 8; i++)
		if (b[i / 8] >> (i % 8) & 1)
			return i;
	return UINT64_MAX;
}

/* Where the compiler put a bit-field: the first bit that storing -1 sets. */
#define BIT(S, m)                                                                                  \
	({                                                                                         \
		struct S x_;                                                                       \
		memset(&x_, 0, sizeof(x_));                                                        \
		x_.m = -1;                                                                         \
		first_bit(&x_, sizeof(x_));                                                        \
	})

static void test_layout(void)
{
	static const struct field mixed[] = {{"c", "char", 0},	  {"s", "short", 0},
					     {"d", "char", 0},	  {"l", "long", 0},
					     {"tail", "char", 0}, {0}};
	static const struct field bits[] = {
	    {"a", "unsigned int", 3},  {"b", "unsigned int", 30},  {"c", "unsigned char", 5},
	    {"d", "unsigned char", 4}, {"e", "unsigned long", 40}, {"f", "int", 1},
	    {"g", "char", 0},	       {"h", "unsigned short", 9}, {0}};
	static const struct field padded[] = {{"a", "unsigned int", 7},
					      {NULL, "unsigned int", 20},
					      {"b", "unsigned int", 9},
					      {"c", "char", 0},
					      {"", "unsigned long", 3},
					      {"d", "char", 0},
					      {0}};
	static const struct field small[] = {{"c", "char", 0}, {NULL, "long", 4}, {0}};
	dt_types *ts = dt_types_new();
	dt_type *m = build(ts, DT_K_STRUCT, "mixed", mixed),
		*b = build(ts, DT_K_STRUCT, "bits", bits);
	dt_type *p = build(ts, DT_K_STRUCT, "padded", padded);
	dt_type *s = build(ts, DT_K_STRUCT, "small", small), *u, *n, *e;

	CHECK(m->size == sizeof(struct mixed) && m->align == _Alignof(struct mixed));
	CHECK(offset(ts, m, "s") == 8 * offsetof(struct mixed, s));
	CHECK(offset(ts, m, "l") == 8 * offsetof(struct mixed, l));
	CHECK(offset(ts, m, "tail") == 8 * offsetof(struct mixed, tail));
	CHECK(b->size == sizeof(struct bits) && b->align == _Alignof(struct bits));
	CHECK(offset(ts, b, "b") == BIT(bits, b) && offset(ts, b, "c") == BIT(bits, c));
	CHECK(offset(ts, b, "d") == BIT(bits, d) && offset(ts, b, "e") == BIT(bits, e));
	CHECK(offset(ts, b, "f") == BIT(bits, f) && offset(ts, b, "g") == BIT(bits, g));
	CHECK(offset(ts, b, "h") == BIT(bits, h));
	CHECK(p->size == sizeof(struct padded) && p->align == _Alignof(struct padded));
	CHECK(offset(ts, p, "b") == BIT(padded, b) && offset(ts, p, "c") == BIT(padded, c));
	CHECK(offset(ts, p, "d") == BIT(padded, d) && p->nmembers == 4);
	CHECK(s->size == sizeof(struct small) && s->align == _Alignof(struct small));

	u = dt_type_sou(ts, "D", DT_K_UNION, "any");
	dt_type_add_member(ts, u, "c", dt_type_array(ts, find(ts, "char"), 5), 0);
	dt_type_add_member(ts, u, "i", find(ts, "int"), 3);
	dt_type_add_member(ts, u, "s", find(ts, "short"), 0);
	CHECK(!dt_type_is_complete(ts, u));
	dt_type_finish_sou(ts, u);
	CHECK(u->size == sizeof(union any) && u->align == _Alignof(union any));
	n = dt_type_sou(ts, "D", DT_K_STRUCT, NULL);
	dt_type_add_member(ts, n, "c", find(ts, "char"), 0);
	dt_type_add_member(ts, n, "", u, 0); /* anonymous here */
	dt_type_add_member(ts, n, "m", dt_type_array(ts, m, 2), 0);
	dt_type_add_member(ts, n, "e", find(ts, "char"), 0);
	dt_type_finish_sou(ts, n);
	CHECK(n->size == sizeof(struct nest) && offset(ts, n, "e") == 8 * offsetof(struct nest, e));
	CHECK(offset(ts, n, "s") == 8 * offsetof(struct nest, u.s));
	CHECK(dt_type_member(ts, n, "nothing", NULL) == NULL);
	CHECK(dt_type_member(ts, n, "", NULL) == NULL);

	/* incomplete, then completed in place, seen through a typedef and an array made before */
	e = dt_type_sou(ts, "D", DT_K_STRUCT, "later");
	CHECK(!dt_type_is_complete(ts, e) && e->size == 0 && e->members == NULL);
	u = dt_type_array(ts, dt_type_typedef(ts, "D", "later_t", e), 3);
	CHECK(dt_type_sou(ts, "D", DT_K_STRUCT, "later") == e);
	dt_type_add_member(ts, e, "next", dt_type_pointer(ts, e), 0);
	dt_type_finish_sou(ts, e);
	CHECK(dt_type_is_complete(ts, u) && dt_type_size(ts, u) == 24 && dt_type_align(ts, u) == 8);
	CHECK(dt_type_lookup(ts, "D", DT_NS_STRUCT, "later") == e);
	CHECK(dt_type_lookup(ts, "C", DT_NS_STRUCT, "later") == NULL);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "later_t")->ref == e);
	e = dt_type_sou(ts, "D", DT_K_STRUCT, "empty");
	dt_type_finish_sou(ts, e);
	CHECK(dt_type_is_complete(ts, e) && dt_type_size(ts, e) == 0 && e->members != NULL);
	dt_types_free(ts);
}

static void test_enums(void)
{
	dt_types *ts = dt_types_new();
	dt_type *e = dt_type_enum(ts, "D", "color"), *big = dt_type_enum(ts, "C", NULL), *t;
	int64_t v;

	dt_types_set_btf_path(ts, NULL);
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "C%d", i);
		dt_type_add_enumerator(ts, e, name, i - 3);
	}
	CHECK(e->nenumerators == 20 && e->size == 4 && e->is_signed);
	CHECK(dt_enumerator_lookup(ts, "C7", false, &t, &v) && t == e && v == 4);
	CHECK(!dt_enumerator_lookup(ts, "C77", true, &t, &v));
	CHECK(dt_type_lookup(ts, NULL, DT_NS_ENUM, "color") == e);
	dt_type_add_enumerator(ts, big, "BIG", 0x80000000ll);
	CHECK(!big->is_signed && dt_type_promote(ts, big) == dt_intrinsics(ts)->uint);
	dt_type_add_enumerator(ts, big, "MINUS", -1);
	CHECK(big->is_signed && big->size == 8);
	CHECK_STR(dt_types_kernel_problem(ts), "kernel types are turned off");
	dt_types_free(ts);
}

/* ---- spellings ---- */

static void check_print(dt_types *ts, const dt_type *t, const char *name, const char *want)
{
	dt_buf b = {0};

	dt_type_print(ts, t, name, &b);
	CHECK_STR(b.s, want);
	dt_buf_free(&b);
}

static void test_print(void)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);
	dt_type *params[2] = {in->int_, in->char_ptr};
	dt_type *f = dt_type_function(ts, in->char_ptr, params, 2, false);
	dt_type *fp = dt_type_pointer(ts, f), *arr = dt_type_array(ts, in->int_, 4);
	dt_type *cc = dt_type_qualify(ts, in->char_, DT_K_CONST), *s, *handler[1];

	check_print(ts, in->ulong, NULL, "unsigned long");
	check_print(ts, in->char_ptr, NULL, "char *");
	check_print(ts, in->char_ptr, "p", "char *p");
	check_print(ts, arr, NULL, "int [4]");
	check_print(ts, dt_type_array(ts, arr, 3), "m", "int m[3][4]");
	check_print(ts, dt_type_array(ts, in->char_, 16), "buf", "char buf[16]");
	check_print(ts, dt_type_pointer(ts, arr), "p", "int (*p)[4]");
	check_print(ts, dt_type_pointer(ts, cc), NULL, "const char *");
	check_print(ts, dt_type_qualify(ts, in->char_ptr, DT_K_CONST), NULL, "char *const");
	check_print(ts, dt_type_qualify(ts, in->char_ptr, DT_K_CONST), "p", "char *const p");
	check_print(ts, dt_type_qualify(ts, arr, DT_K_CONST), NULL, "const int [4]");
	check_print(ts, dt_type_qualify(ts, cc, DT_K_VOLATILE), NULL, "const volatile char");
	check_print(ts, f, "f", "char *f(int, char *)");
	check_print(ts, fp, NULL, "char *(*)(int, char *)");
	check_print(ts, dt_type_array(ts, fp, 2), "ops", "char *(*ops[2])(int, char *)");
	check_print(ts, dt_type_userland(ts, in->char_ptr), NULL, "userland char *");
	check_print(ts, in->uint64, "x", "uint64_t x");
	check_print(ts, in->string, NULL, "string");
	check_print(ts, in->func_ptr, NULL, "void (*)()");
	check_print(ts, dt_type_function(ts, in->int_, NULL, 0, false), "g", "int g(void)");
	check_print(ts, dt_type_function(ts, in->int_, params, 1, true), "g", "int g(int, ...)");
	/* void (*signal(int, void (*)(int)))(int) */
	handler[0] = in->int_;
	s = dt_type_pointer(ts, dt_type_function(ts, in->void_, handler, 1, false));
	params[1] = s;
	check_print(ts, dt_type_function(ts, s, params, 2, false), "signal",
		    "void (*signal(int, void (*)(int)))(int)");
	s = dt_type_sou(ts, "D", DT_K_STRUCT, "task");
	CHECK_STR(dt_type_name(ts, dt_type_pointer(ts, s)), "struct task *");
	CHECK_STR(dt_type_name(ts, dt_type_sou(ts, "D", DT_K_UNION, NULL)), "union {...}");
	CHECK_STR(dt_type_name(ts, dt_type_enum(ts, "D", "e")), "enum e");
	dt_types_free(ts);
}

/* ---- conversions ---- */

static void test_conversions(void)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);
	dt_type *e = dt_type_enum(ts, "D", "e"), *a, *b, *c;

	CHECK(dt_type_promote(ts, in->char_) == in->int_ && dt_type_promote(ts, e) == in->int_);
	CHECK(dt_type_promote(ts, in->uint16) == in->int_ &&
	      dt_type_promote(ts, in->uint64) == in->ulong);
	CHECK(dt_type_usual(ts, in->char_, in->uint8) == in->int_);
	CHECK(dt_type_usual(ts, in->int_, in->uint) == in->uint);
	CHECK(dt_type_usual(ts, in->uint, in->long_) == in->long_);
	CHECK(dt_type_usual(ts, in->ulong, in->llong) == in->ullong);
	CHECK(dt_type_usual(ts, in->ulong, in->long_) == in->ulong);
	CHECK(dt_type_usual(ts, in->long_, in->llong) == in->llong);
	CHECK(dt_type_usual(ts, find(ts, "float"), in->ulong) == find(ts, "float"));
	CHECK(dt_type_usual(ts, find(ts, "float"), find(ts, "double")) == find(ts, "double"));

	CHECK(dt_type_compatible(ts, in->uint64, in->ulong));
	CHECK(dt_type_compatible(ts, in->ulong, in->ullong) &&
	      !dt_type_equal(ts, in->ulong, in->ullong));
	CHECK(!dt_type_compatible(ts, in->int_, in->uint) &&
	      !dt_type_compatible(ts, in->int_, in->long_));
	CHECK(dt_type_compatible(ts, e, in->int_) && dt_type_compatible(ts, in->long_, e));
	CHECK(dt_type_compatible(ts, in->void_ptr, in->char_ptr));
	CHECK(!dt_type_equal(ts, in->void_ptr, in->char_ptr));
	CHECK(!dt_type_compatible(ts, in->char_ptr, dt_type_pointer(ts, in->int_)));
	CHECK(!dt_type_compatible(ts, in->char_ptr, in->ulong));
	CHECK(dt_type_compatible(
	    ts, in->func_ptr, dt_type_pointer(ts, dt_type_function(ts, in->int_, NULL, 0, false))));
	CHECK(dt_type_compatible(
	    ts, dt_type_pointer(ts, dt_type_qualify(ts, in->char_, DT_K_CONST)), in->char_ptr));
	CHECK(
	    dt_type_compatible(ts, dt_type_array(ts, in->int_, 2), dt_type_array(ts, in->int_, 2)));
	CHECK(!dt_type_compatible(ts, dt_type_array(ts, in->int_, 2),
				  dt_type_array(ts, in->int_, 3)));
	a = build(ts, DT_K_STRUCT, "s", (struct field[]){{"x", "int", 0}, {0}});
	b = dt_type_sou(ts, "C", DT_K_STRUCT, "s");
	dt_type_add_member(ts, b, "y", in->int_, 0);
	dt_type_finish_sou(ts, b);
	c = build(ts, DT_K_STRUCT, "t", (struct field[]){{"x", "int", 0}, {0}});
	CHECK(a != b && dt_type_compatible(ts, a, b) && !dt_type_compatible(ts, a, c));
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "s") == b); /* C before D */
	CHECK(dt_type_is_char_array_or_ptr(dt_type_array(ts, in->uint8, 4)));
	CHECK(!dt_type_is_char_array_or_ptr(dt_type_array(ts, in->int_, 4)));
	dt_types_free(ts);
}

/* ---- the kernel we run on ---- */

static void test_kernel(void)
{
	dt_types *ts = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(ts);
	dt_type *task, *t, *e;
	const dt_member *m;
	uint64_t at, at2;
	int64_t v;

	if (dt_types_kernel_problem(ts) != NULL) {
		printf("skipped: %s\n", dt_types_kernel_problem(ts));
		dt_types_free(ts);
		return;
	}
	task = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "task_struct");
	CHECK(task != NULL && task->lazy && task->size > 1000 && task->members == NULL);
	CHECK(dt_type_lookup(ts, "kernel", DT_NS_STRUCT, "task_struct") == task);
	CHECK(dt_type_lookup(ts, "genunix", DT_NS_STRUCT, "task_struct") == task);
	CHECK(dt_type_lookup(ts, "", DT_NS_STRUCT, "task_struct") == task);
	CHECK(dt_type_lookup(ts, "nosuchmodule", DT_NS_STRUCT, "task_struct") == NULL);
	CHECK(dt_type_lookup(ts, "../btf/vmlinux", DT_NS_STRUCT, "task_struct") == NULL);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_UNION, "task_struct") == NULL);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "no_such_struct_at_all") == NULL);
	m = dt_type_member(ts, task, "comm", &at);
	CHECK(m != NULL && dt_type_size(ts, m->type) == 16 && at % 8 == 0 && at / 8 < task->size);
	CHECK(m != NULL && m->type == dt_type_array(ts, in->char_, 16));
	CHECK(dt_type_align(ts, task) >= 8);
	m = dt_type_member(ts, task, "pid", &at);
	CHECK(m != NULL && dt_type_resolve(m->type) == in->int_);
	m = dt_type_member(ts, task, "real_parent", &at);
	CHECK(m != NULL && dt_type_resolve(m->type)->ref == task);
	m = dt_type_member(ts, task, "in_execve", &at); /* a bit-field */
	CHECK(m != NULL && m->bit_width == 1 && dt_type_resolve(m->type) == in->uint);

	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "file");
	m = dt_type_member(ts, t, "f_inode", &at);
	CHECK(m != NULL);
	if (m != NULL)
		CHECK_STR(dt_type_name(ts, m->type), "struct inode *");
	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "page"); /* lru lies in two anonymous members */
	m = dt_type_member(ts, t, "lru", &at);
	CHECK(m != NULL && at == 64 && dt_type_size(ts, m->type) == 16);
	CHECK(dt_type_member(ts, t, "_mapcount", &at2) != NULL && at2 > at);
	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "sk_buff");
	m = dt_type_member(ts, t, "pkt_type", &at);
	CHECK(m != NULL && m->bit_width == 3);

	t = dt_type_of_symbol(ts, NULL, "vfs_read");
	CHECK(t != NULL && t->kind == DT_K_FUNCTION && t->nparams == 4);
	if (t != NULL && t->nparams == 4) {
		CHECK_STR(dt_type_name(ts, t->params[0]), "struct file *");
		CHECK_STR(dt_type_name(ts, t->ref), "ssize_t");
	}
	CHECK(dt_type_of_symbol(ts, "vmlinux", "no_such_function") == NULL);
	t = dt_type_of_symbol(ts, "vmlinux", "runqueues");
	CHECK(t == NULL || dt_type_is_sou(t));
	CHECK(dt_enumerator_lookup(ts, "TCP_ESTABLISHED", true, &e, &v) && v == 1);
	CHECK(!dt_enumerator_lookup(ts, "TCP_ESTABLISHED", false, &e, &v));
	CHECK(!dt_enumerator_lookup(ts, "NO_SUCH_ENUMERATOR", true, &e, &v));
	t = dt_type_lookup(ts, NULL, DT_NS_ENUM, "pid_type");
	CHECK(t != NULL && t->size == 4 && t->lazy);
	dt_type_complete(ts, t);
	CHECK(t->nenumerators > 3 && strcmp(t->enumerators[0].name, "PIDTYPE_PID") == 0);
	/* names of the kernel share the intrinsic nodes */
	CHECK(dt_type_lookup(ts, "vmlinux", DT_NS_ORDINARY, "long unsigned int") == in->ulong);
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "u64");
	CHECK(t != NULL && dt_type_resolve(t) == in->ullong);
	CHECK_STR(dt_type_name(ts, dt_type_resolve(t)), "unsigned long long");
	dt_types_free(ts);
}

int main(void)
{
	test_intrinsics();
	test_interning();
	test_same_bytes();
	test_layout();
	test_enums();
	test_print();
	test_conversions();
	test_kernel();
	return unit_done();
}
