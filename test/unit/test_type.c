/*
 * type: the store, layout against the compiler's own, spellings, conversions, the running kernel's
 * BTF, and hostile BTF. The kernel part is skipped where there is no /sys/kernel/btf.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* ---- BTF made by hand ---- */

struct blob {
	dt_buf types, strings;
	uint32_t next, first_string;
};

static void blob_start(struct blob *b, uint32_t first_id, uint32_t first_string)
{
	*b = (struct blob){.next = first_id, .first_string = first_string};
	if (first_string == 0)
		dt_buf_putc(&b->strings, '\0');
}

static uint32_t name_of(struct blob *b, const char *s)
{
	uint32_t at = b->first_string + (uint32_t)b->strings.n;

	if (s == NULL)
		return 0;
	dt_buf_add(&b->strings, s, strlen(s) + 1);
	return at;
}

/* A record and nx words after it; returns its id. */
static uint32_t rec(struct blob *b, const char *name, uint32_t kind, bool kflag, uint32_t vlen,
		    uint32_t size, const uint32_t *extra, size_t nx)
{
	struct btf_type t = {name_of(b, name), (uint32_t)kflag << 31 | kind << 24 | vlen, {size}};

	dt_buf_add(&b->types, &t, sizeof(t));
	dt_buf_add(&b->types, extra, nx * 4);
	return b->next++;
}

#define WORDS(...)		 (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define INT_INFO(enc, off, bits) ((uint32_t)(enc) << 24 | (off) << 16 | (bits))

static void blob_write(struct blob *b, const char *dir, const char *file)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h)};
	char path[256];
	FILE *f;

	h.type_len = (uint32_t)b->types.n;
	h.str_off = h.type_len;
	h.str_len = (uint32_t)b->strings.n;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "w");
	if (f == NULL)
		return;
	fwrite(&h, sizeof(h), 1, f);
	fwrite(b->types.s, 1, b->types.n, f);
	fwrite(b->strings.s, 1, b->strings.n, f);
	fclose(f);
	dt_buf_free(&b->types);
	dt_buf_free(&b->strings);
}

static void write_file(const char *dir, const char *file, const void *p, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "w");
	if (f != NULL) {
		fwrite(p, 1, n, f);
		fclose(f);
	}
}

static dt_types *open_dir(const char *dir)
{
	dt_types *ts = dt_types_new();

	dt_types_set_btf_path(ts, dir);
	return ts;
}

static void test_all_kinds(const char *dir)
{
	struct blob b;
	uint32_t i, s, tag, p, cst, proto, fwd, en;
	dt_types *ts;
	dt_type *t, *e;
	const dt_member *m;
	uint64_t at;
	int64_t v;

	blob_start(&b, 1, 0);
	i = rec(&b, "int", BTF_KIND_INT, false, 0, 4, WORDS(INT_INFO(BTF_INT_SIGNED, 0, 32)));
	fwd = rec(&b, "full", BTF_KIND_FWD, false, 0, 0, NULL, 0);
	p = rec(&b, NULL, BTF_KIND_PTR, false, 0, fwd, NULL, 0);
	tag = rec(&b, "user", BTF_KIND_TYPE_TAG, false, 0, i, NULL, 0);
	cst = rec(&b, NULL, BTF_KIND_CONST, false, 0, tag, NULL, 0);
	tag = rec(&b, "rcu", BTF_KIND_TYPE_TAG, false, 0, i, NULL, 0);
	s = rec(&b, NULL, BTF_KIND_PTR, false, 0, cst, NULL, 0);
	tag = rec(&b, NULL, BTF_KIND_PTR, false, 0, tag, NULL, 0);
	/* an old-style bit-field: 3 bits at bit 2 of its int */
	en = rec(&b, "unsigned int", BTF_KIND_INT, false, 0, 4, WORDS(INT_INFO(0, 2, 3)));
	rec(&b, "full", BTF_KIND_STRUCT, false, 5, 24,
	    WORDS(name_of(&b, "f"), p, 0, name_of(&b, "u"), s, 64, name_of(&b, "k"), tag, 64,
		  name_of(&b, "old"), en, 128, name_of(&b, "plain"), i, 160));
	rec(&b, "kflag", BTF_KIND_UNION, true, 2, 4,
	    WORDS(name_of(&b, "a"), i, 5u << 24 | 7, name_of(&b, "b"), i, 0));
	en = rec(&b, "en", BTF_KIND_ENUM, true, 2, 4,
		 WORDS(name_of(&b, "NEG"), (uint32_t)-5, name_of(&b, "POS"), 6));
	rec(&b, "en64", BTF_KIND_ENUM64, false, 1, 8, WORDS(name_of(&b, "HUGE"), 1, 2));
	proto = rec(&b, NULL, BTF_KIND_FUNC_PROTO, false, 2, i, WORDS(name_of(&b, "x"), i, 0, 0));
	rec(&b, "fn", BTF_KIND_FUNC, false, 1, proto, NULL, 0);
	rec(&b, "var", BTF_KIND_VAR, false, 0, en, WORDS(1));
	rec(&b, ".data", BTF_KIND_DATASEC, false, 1, 4, WORDS(16, 0, 4));
	rec(&b, "flt", BTF_KIND_FLOAT, false, 0, 8, NULL, 0);
	rec(&b, "mytag", BTF_KIND_DECL_TAG, false, 0, i, WORDS((uint32_t)-1));
	rec(&b, "gone", BTF_KIND_FWD, true, 0, 0, NULL, 0);
	rec(&b, "gone_t", BTF_KIND_TYPEDEF, false, 0, b.next - 1, NULL, 0);
	rec(&b, "__int128", BTF_KIND_INT, false, 0, 16, WORDS(INT_INFO(BTF_INT_SIGNED, 0, 128)));
	blob_write(&b, dir, "vmlinux");

	ts = open_dir(dir);
	CHECK(dt_types_kernel_problem(ts) == NULL);
	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "full");
	m = dt_type_member(ts, t, "f", &at);
	CHECK(m != NULL && m->type->ref == t); /* the forward became the struct */
	m = dt_type_member(ts, t, "u", &at);
	CHECK(m != NULL && m->type->userland);
	if (m != NULL)
		CHECK_STR(dt_type_name(ts, m->type), "userland const int *");
	m = dt_type_member(ts, t, "k", &at);
	CHECK(m != NULL && !m->type->userland && m->type->ref == dt_intrinsics(ts)->int_);
	m = dt_type_member(ts, t, "old", &at);
	CHECK(m != NULL && m->bit_width == 3 && at == 130);
	t = dt_type_lookup(ts, NULL, DT_NS_UNION, "kflag");
	m = dt_type_member(ts, t, "a", &at);
	CHECK(m != NULL && m->bit_width == 5 && at == 7);
	m = dt_type_member(ts, t, "b", &at);
	CHECK(m != NULL && m->bit_width == 0 && at == 0);
	CHECK(dt_enumerator_lookup(ts, "NEG", true, &e, &v) && v == -5 && e->is_signed);
	CHECK(dt_enumerator_lookup(ts, "HUGE", true, &e, &v) && v == (2ll << 32 | 1) &&
	      e->size == 8);
	t = dt_type_of_symbol(ts, NULL, "fn");
	CHECK(t != NULL && t->kind == DT_K_FUNCTION && t->nparams == 1 && t->varargs);
	t = dt_type_of_symbol(ts, "vmlinux", "var");
	CHECK(t != NULL && t->kind == DT_K_ENUM);
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "flt");
	CHECK(t != NULL && dt_type_is_float(t) && t->size == 8);
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "gone_t");
	CHECK(t != NULL && t->ref->kind == DT_K_FORWARD && !dt_type_is_complete(ts, t));
	if (t != NULL)
		CHECK_STR(dt_type_name(ts, t->ref), "union gone");
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "__int128");
	CHECK(t != NULL && t->size == 16);
	dt_types_free(ts);
}

/* A module: its ids and strings go on where vmlinux's end. */
static void test_module(const char *dir)
{
	struct blob b, mod;
	uint32_t i, base_strings;
	dt_types *ts;
	dt_type *t;

	blob_start(&b, 1, 0);
	i = rec(&b, "int", BTF_KIND_INT, false, 0, 4, WORDS(INT_INFO(BTF_INT_SIGNED, 0, 32)));
	rec(&b, "only_fwd", BTF_KIND_FWD, false, 0, 0, NULL, 0);
	rec(&b, "fwd_t", BTF_KIND_TYPEDEF, false, 0, 2, NULL, 0);
	base_strings = (uint32_t)b.strings.n;
	blob_write(&b, dir, "vmlinux");
	blob_start(&mod, 4, base_strings);
	rec(&mod, "only_fwd", BTF_KIND_STRUCT, false, 1, 4, WORDS(name_of(&mod, "x"), i, 0));
	rec(&mod, "mod_fn", BTF_KIND_FUNC, false, 0, 0, NULL, 0);
	rec(&mod, NULL, BTF_KIND_ENUM, false, 1, 4, WORDS(name_of(&mod, "MOD_ENUM"), 9));
	blob_write(&mod, dir, "mymod");

	ts = open_dir(dir);
	CHECK(dt_type_lookup(ts, "vmlinux", DT_NS_STRUCT, "only_fwd") == NULL);
	t = dt_type_lookup(ts, "mymod", DT_NS_STRUCT, "only_fwd");
	CHECK(t != NULL && t->size == 4 && strcmp(t->module, "mymod") == 0);
	CHECK(dt_type_member(ts, t, "x", NULL) != NULL);
	CHECK(dt_type_lookup(ts, "mymod", DT_NS_ORDINARY, "fwd_t") != NULL);
	CHECK(dt_type_lookup(ts, "nomod", DT_NS_STRUCT, "only_fwd") == NULL);
	dt_types_free(ts);

	ts = open_dir(dir); /* found without being named; and through vmlinux's forward */
	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "only_fwd");
	CHECK(t != NULL && dt_type_resolve(dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "fwd_t")) == t);
	dt_types_free(ts);
	ts = open_dir(dir);
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "fwd_t");
	CHECK(t != NULL && dt_type_is_sou(t) && dt_type_size(ts, t) == 4);
	CHECK(dt_enumerator_lookup(ts, "MOD_ENUM", true, NULL, NULL));
	CHECK(dt_type_of_symbol(ts, NULL, "mod_fn") != NULL);
	/* another directory: what was made stays usable */
	dt_types_set_btf_path(ts, "/nonexistent");
	CHECK(dt_type_member(ts, t, "x", NULL) != NULL);
	CHECK(dt_types_kernel_problem(ts) != NULL);
	dt_types_free(ts);
}

/* Look at everything a type offers. */
static void poke(dt_types *ts, const char *name)
{
	for (int ns = DT_NS_ORDINARY; ns <= DT_NS_ENUM; ns++) {
		dt_type *t = dt_type_lookup(ts, NULL, (enum dt_namespace)ns, name);

		if (t == NULL)
			continue;
		dt_type_complete(ts, t);
		dt_type_size(ts, t);
		dt_type_align(ts, t);
		dt_type_name(ts, t);
		dt_type_is_complete(ts, t);
		dt_type_is_string_compat(t);
		dt_type_compatible(ts, t, dt_type_pointer(ts, t));
		CHECK(dt_type_member(ts, t, "no_such_member", NULL) == NULL);
	}
	dt_type_of_symbol(ts, NULL, name);
	dt_enumerator_lookup(ts, name, true, NULL, NULL);
}

static void test_hostile_types(const char *dir)
{
	struct blob b;
	uint32_t self[3 * 1000], chain;
	dt_types *ts;
	dt_type *t;
	uint64_t at;

	blob_start(&b, 1, 0);
	rec(&b, "selfdef", BTF_KIND_TYPEDEF, false, 0, 1, NULL, 0); /* 1: of itself */
	rec(&b, "a", BTF_KIND_TYPEDEF, false, 0, 3, NULL, 0);	    /* 2, 3: of each other */
	rec(&b, "b", BTF_KIND_TYPEDEF, false, 0, 2, NULL, 0);
	rec(&b, NULL, BTF_KIND_CONST, false, 0, 4, NULL, 0); /* 4: const itself */
	rec(&b, "c", BTF_KIND_TYPEDEF, false, 0, 4, NULL, 0);
	rec(&b, "far", BTF_KIND_TYPEDEF, false, 0, 0x7fffffff, NULL, 0);
	rec(&b, NULL, BTF_KIND_ARRAY, false, 0, 0, WORDS(7, 1, 0xffffffff)); /* 7: of itself */
	rec(&b, "arr", BTF_KIND_TYPEDEF, false, 0, 7, NULL, 0);
	rec(&b, NULL, BTF_KIND_FUNC_PROTO, false, 1, 10, WORDS(0, 10)); /* 9, 10: mutual */
	rec(&b, NULL, BTF_KIND_PTR, false, 0, 9, NULL, 0);
	rec(&b, "proto", BTF_KIND_TYPEDEF, false, 0, 9, NULL, 0);
	rec(&b, "tiny", BTF_KIND_STRUCT, false, 2, 4, /* members outside the struct */
	    WORDS(name_of(&b, "x"), 13, 0xfffffff0, name_of(&b, "y"), 14, 0));
	rec(&b, "int", BTF_KIND_INT, false, 0, 4, WORDS(INT_INFO(0, 0, 32)));
	rec(&b, NULL, BTF_KIND_ARRAY, false, 0, 0, WORDS(13, 13, 0xffffffff));
	rec(&b, "odd", BTF_KIND_INT, false, 0, 77, WORDS(INT_INFO(15, 255, 255)));
	rec(&b, "bigenum", BTF_KIND_ENUM, false, 1, 12345, WORDS(0xfffffff0, 1));
	rec(&b, "wide", BTF_KIND_STRUCT, true, 1, 4, WORDS(name_of(&b, "w"), 13, 200u << 24));
	rec(&b, "badname", BTF_KIND_STRUCT, false, 1, 4, WORDS(0xffffff00, 13, 0));
	/* 19 contains 1000 anonymous copies of itself; 20 and 21 contain each other */
	for (int i = 0; i < 1000; i++)
		memcpy(self + 3 * i, (uint32_t[]){0, 19, 0}, 12);
	rec(&b, "selfish", BTF_KIND_STRUCT, false, 1000, 8, self, DT_NELEM(self));
	rec(&b, "ping", BTF_KIND_UNION, false, 1, 8, WORDS(0, 21, 0));
	rec(&b, "pong", BTF_KIND_STRUCT, false, 1, 8, WORDS(0, 20, 0));
	rec(&b, "varself", BTF_KIND_VAR, false, 0, 22, WORDS(0));
	rec(&b, "datasec", BTF_KIND_TYPEDEF, false, 0, 24, NULL, 0);
	rec(&b, "sec", BTF_KIND_DATASEC, false, 0, 0, NULL, 0);
	chain = rec(&b, NULL, BTF_KIND_PTR, false, 0, 13, NULL, 0);
	for (int i = 0; i < 100000; i++)
		chain = rec(&b, NULL, BTF_KIND_PTR, false, 0, chain, NULL, 0);
	rec(&b, "deep", BTF_KIND_TYPEDEF, false, 0, chain, NULL, 0);
	/* structs in structs, and wrappers that are all as large as what they wrap */
	chain = 13;
	for (int i = 0; i < 50000; i++)
		chain = rec(&b, "russian", BTF_KIND_STRUCT, false, 1, 4, WORDS(0, chain, 0));
	rec(&b, "doll", BTF_KIND_STRUCT, false, 1, 4, WORDS(0, chain, 0));
	blob_write(&b, dir, "vmlinux");

	ts = open_dir(dir);
	CHECK(dt_types_kernel_problem(ts) == NULL);
	for (const char *const *n =
		 (const char *const[]){"selfdef", "a",	     "b",	"c",	   "far",
				       "arr",	  "proto",   "tiny",	"odd",	   "wide",
				       "deep",	  "bigenum", "badname", "ping",	   "selfish",
				       "pong",	  "doll",    "russian", "varself", "datasec",
				       "sec",	  "nothing", NULL};
	     *n != NULL; n++)
		poke(ts, *n);
	t = dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "selfdef");
	CHECK(t != NULL && !dt_type_is_complete(ts, t) && dt_type_size(ts, t) == 0);
	t = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "tiny");
	CHECK(dt_type_member(ts, t, "x", &at)->type->kind == DT_K_UNKNOWN && at == 0);
	CHECK(dt_type_member(ts, t, "y", &at)->type->kind == DT_K_UNKNOWN);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "odd") == NULL);
	dt_types_free(ts);
}

/* Many types of one name: looking them up and indexing them stays linear. */
static void test_hostile_names(const char *dir)
{
	struct blob b;
	uint32_t at;
	dt_types *ts;

	blob_start(&b, 1, 0);
	rec(&b, "same", BTF_KIND_TYPEDEF, false, 0, 0, NULL, 0);
	at = (uint32_t)(b.strings.n - 5);
	for (int i = 0; i < 300000; i++) {
		struct btf_type t = {at, BTF_KIND_TYPEDEF << 24, {1}};

		dt_buf_add(&b.types, &t, sizeof(t));
	}
	blob_write(&b, dir, "vmlinux");
	ts = open_dir(dir);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_ORDINARY, "same") != NULL);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "same") == NULL);
	dt_types_free(ts);
}

static void check_refused(const char *dir, const void *p, size_t n, const char *why)
{
	dt_types *ts;

	write_file(dir, "vmlinux", p, n);
	ts = open_dir(dir);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "x") == NULL);
	CHECK(dt_types_kernel_problem(ts) != NULL &&
	      strstr(dt_types_kernel_problem(ts), why) != NULL);
	dt_types_free(ts);
}

static void test_hostile_files(const char *dir)
{
	struct {
		struct btf_header h;
		struct btf_type t;
		char strings[8];
	} f = {{BTF_MAGIC, 1, 0, sizeof(struct btf_header), 0, 12, 12, 8},
	       {1, BTF_KIND_STRUCT << 24, {4}},
	       "\0x\0\0\0\0\0"};
	char all[sizeof(f)];
	dt_types *ts;

	write_file(dir, "vmlinux", &f, sizeof(f));
	ts = open_dir(dir);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "x") != NULL); /* unmodified, it is valid */
	dt_types_free(ts);
	for (size_t n = 0; n < sizeof(f); n++) /* cut off anywhere */
		check_refused(dir, &f, n, n < sizeof(f.h) ? "too short" : "outside the file");
#define DAMAGED(field, value, why)                                                                 \
	do {                                                                                       \
		memcpy(all, &f, sizeof(f));                                                        \
		__typeof__(f) *d = (void *)all;                                                    \
		d->field = (value);                                                                \
		check_refused(dir, all, sizeof(all), why);                                         \
	} while (0)
	DAMAGED(h.magic, 0x9feb, "byte order");
	DAMAGED(h.magic, 1, "not a BTF file");
	DAMAGED(h.version, 9, "header");
	DAMAGED(h.hdr_len, 4, "header");
	DAMAGED(h.hdr_len, 0xfffffff0, "header");
	DAMAGED(h.type_len, 0xfffffff0, "outside");
	DAMAGED(h.type_off, 2, "outside");
	DAMAGED(h.str_off, 0xfffffff0, "outside");
	DAMAGED(h.str_len, 0, "empty string");
	DAMAGED(strings[0], 'x', "empty string");
	DAMAGED(strings[7], 'x', "do not end");
	DAMAGED(h.type_len, 8, "cut off");
	DAMAGED(t.info, BTF_KIND_STRUCT << 24 | 0xffff, "cut off");
#undef DAMAGED
	/* a kind from the future ends the list, without an error */
	f.t.info = 31u << 24;
	write_file(dir, "vmlinux", &f, sizeof(f));
	ts = open_dir(dir);
	CHECK(dt_types_kernel_problem(ts) == NULL);
	CHECK(dt_type_lookup(ts, NULL, DT_NS_STRUCT, "x") == NULL);
	dt_types_free(ts);
	ts = open_dir("/nonexistent");
	CHECK(strstr(dt_types_kernel_problem(ts), "/nonexistent/vmlinux") != NULL);
	dt_types_free(ts);
}

int main(void)
{
	char dir[] = "/tmp/test_type.XXXXXX", path[64];

	test_intrinsics();
	test_interning();
	test_layout();
	test_enums();
	test_print();
	test_conversions();
	test_kernel();
	if (mkdtemp(dir) != NULL) {
		test_all_kinds(dir);
		test_module(dir);
		test_hostile_types(dir);
		test_hostile_names(dir);
		snprintf(path, sizeof(path), "%s/mymod", dir);
		unlink(path);
		test_hostile_files(dir);
		snprintf(path, sizeof(path), "%s/vmlinux", dir);
		unlink(path);
		rmdir(dir);
	}
	return unit_done();
}
