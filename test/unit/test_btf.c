/*
 * BTF made by hand: every kind, modules, and files that are malformed or hostile.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "type/type.h"
#include "unit.h"

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
	char dir[] = "/tmp/test_btf.XXXXXX", path[64];

	if (mkdtemp(dir) == NULL)
		return unit_done();
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
	return unit_done();
}
