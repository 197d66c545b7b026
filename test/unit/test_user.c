/*
 * user: types of user programs as the store has them: what is read and what is not, identity of
 * types, C++, functions, and hostile files. Programs are built here; without gcc there is nothing
 * to test.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/abi.h"
#include "arch/arch.h"
#include "type/user.h"
#include "unit.h"

static char dir[64];

static char *in_dir(const char *name)
{
	return dt_xasprintf("%s/%s", dir, name);
}

static void write_file(const char *name, const void *data, size_t n)
{
	char *path = in_dir(name);
	FILE *f = fopen(path, "w");

	if (f != NULL) {
		fwrite(data, 1, n, f);
		fclose(f);
	}
	free(path);
}

static char *read_file(const char *name, size_t *n)
{
	char *path = in_dir(name), *data = NULL;
	FILE *f = fopen(path, "r");

	*n = 0;
	if (f != NULL) {
		data = dt_xmalloc(1 << 20);
		*n = fread(data, 1, 1 << 20, f);
		fclose(f);
	}
	free(path);
	return data;
}

/* Run a compiler in our directory. */
static bool build(const char *command)
{
	char *line = dt_xasprintf("cd %s && %s >/dev/null 2>&1", dir, command);
	bool ok = system(line) == 0;

	free(line);
	return ok;
}

/* Process 1 and 2 run the program that `program` names, any other has ended. */
static const char *program;

static dt_jail *jail; /* who reads the files; NULL: we do */

static dt_elf *open_object(void *arg, long pid, const char *object, uint32_t nth, char **name,
			   uint64_t *bias, dt_error *err)
{
	char *path;
	dt_elf *e;

	(void)arg;
	if (object == NULL && nth > 0)
		return NULL;
	if (pid > 2 || (object != NULL && strcmp(object, "a.out") != 0)) {
		dt_err(err, 3, "no such process");
		err->tag = D_PROC_GRAB;
		return NULL;
	}
	path = in_dir(program);
	*name = dt_xstrdup(program);
	*bias = 0x1000000;
	e = dt_elf_open(path,
			&(struct dt_elf_place){.jail = jail ? dt_jail_like(jail) : NULL,
					       .own_jail = jail != NULL},
			err);
	free(path);
	return e;
}

static dt_types *store_for(const char *name)
{
	dt_types *ts = dt_types_new();

	program = name;
	dt_types_set_user(ts, &(struct dt_user_source){.jail = jail, .open = open_object});
	return ts;
}

static dt_type *find(dt_types *ts, enum dt_namespace ns, const char *name)
{
	return dt_type_lookup(ts, "pid1`a.out", ns, name);
}

static uint64_t offset(dt_types *ts, dt_type *t, const char *member)
{
	uint64_t bits = UINT64_MAX;

	return t != NULL && dt_type_member(ts, t, member, &bits) != NULL ? bits / 8 : UINT64_MAX;
}

static int args_of(dt_types *ts, const char *symbol, bool is_return, const dt_user_arg **args)
{
	char *path = in_dir(program);
	dt_elf *e = dt_elf_open(path, NULL, &(dt_error){0});
	const dt_elfsym *s = e != NULL ? dt_elf_function_named(e, symbol) : NULL;
	int n =
	    s != NULL ? dt_user_args(ts, path, NULL, symbol, s->vaddr, is_return, args, NULL) : -2;

	dt_elf_free(e);
	free(path);
	return n;
}

/* ---- names of modules ---- */

static void test_modules(void)
{
	dt_types *ts = store_for("none");
	dt_error e = {0};

	CHECK(dt_module_is_user("pid1") && dt_module_is_user("pid12`a.out") &&
	      dt_module_is_user("pid1`LM1`libc.so.6"));
	CHECK(!dt_module_is_user(NULL) && !dt_module_is_user("") && !dt_module_is_user("pid") &&
	      !dt_module_is_user("pidx") && !dt_module_is_user("pid1x") &&
	      !dt_module_is_user("pid`a") && !dt_module_is_user("kernel") &&
	      !dt_module_is_user("pid1x`a"));
	CHECK(dt_user_type(ts, "pid0`a.out", DT_NS_STRUCT, "x", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_PROC_BADPID");
	CHECK(dt_user_type(ts, "pid99999999999999999999", DT_NS_STRUCT, "x", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_PROC_BADPID");
	CHECK(dt_user_type(ts, "pid3`a.out", DT_NS_STRUCT, "x", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_PROC_GRAB");
	CHECK(dt_user_type(ts, "pid1`a.out", DT_NS_STRUCT, "x", &e) == NULL &&
	      e.code != 0); /* no file */
	CHECK(dt_user_type(ts, "pid1", DT_NS_STRUCT, "x", NULL) == NULL);
	dt_types_free(ts);
	ts = dt_types_new(); /* no source */
	CHECK(dt_user_type(ts, "pid1", DT_NS_STRUCT, "x", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_PROC_GRAB");
	dt_types_free(ts);
}

/* ---- two units that share a header ---- */

static const char header[] = "struct shared { int a; struct secret *s; };\n"
			     "typedef struct { char c[5]; } anonymous_t;\n"
			     "enum level { low, high = 9 };\n";
static const char one_c[] = "#include \"h.h\"\n"
			    "struct local { long x; };\n"
			    "struct local l1; anonymous_t a1; enum level e1;\n"
			    "int one(struct shared *s, struct local *l, anonymous_t *a) { return "
			    "s->a + (int)l->x + a->c[0]; }\n";
static const char two_c[] = "#include \"h.h\"\n"
			    "struct secret { double d; int inside; };\n"
			    "struct local { char c[3]; };\n"
			    "struct local l2; int global;\n"
			    "int two(struct shared *s, struct local *l, anonymous_t *a) { return "
			    "s->s->inside + l->c[0] + a->c[1]; }\n"
			    "int one(struct shared *, void *, anonymous_t *);\n"
			    "int main(void) { return 0; }\n";

static void test_units(const char *name)
{
	dt_types *ts = store_for(name);
	dt_type *shared = find(ts, DT_NS_STRUCT, "shared"), *again, *secret;
	const dt_user_arg *a1 = NULL, *a2 = NULL;
	const dt_member *s;
	bool dwarf = strcmp(name, "dwarf") == 0;
	uint64_t address = 0;
	dt_error e = {0};

	CHECK(shared != NULL && shared->lazy && shared->size == 16 &&
	      shared->members == NULL); /* not read yet */
	CHECK(dt_type_lookup(ts, "pid2`a.out", DT_NS_STRUCT, "shared") ==
	      shared); /* one file, two processes */
	CHECK(dt_type_lookup(ts, "pid2", DT_NS_STRUCT, "shared") == shared);
	s = shared != NULL ? dt_type_member(ts, shared, "s", NULL) : NULL;
	CHECK(s != NULL && dt_type_is_pointer(s->type) && s->type->userland);
	secret = s != NULL ? dt_type_resolve(dt_type_resolve(s->type)->ref)
			   : NULL; /* declared here, defined there */
	CHECK(secret != NULL && secret->kind == DT_K_STRUCT && offset(ts, secret, "inside") == 8);
	CHECK(find(ts, DT_NS_STRUCT, "nothing") == NULL &&
	      find(ts, DT_NS_ORDINARY, "shared") == NULL);
	CHECK(find(ts, DT_NS_ORDINARY, "int") == dt_intrinsics(ts)->int_);
	again = find(ts, DT_NS_ENUM, "level");
	CHECK(again != NULL && again->nenumerators == 2 && again->enumerators[1].value == 9);
	CHECK(dt_user_type(ts, "pid1`a.out", DT_NS_STRUCT, "sharde", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_DECL_IDENT");
	CHECK(strstr(e.text, "did you mean \"struct shared\"?") != NULL);
	/* the same declaration is one type, two that share a name are two */
	CHECK(args_of(ts, "one", false, &a1) == 3 && args_of(ts, "two", false, &a2) == 3);
	if (a1 != NULL && a2 != NULL) {
		CHECK(a1[0].type == a2[0].type && a1[2].type == a2[2].type && a1[0].raw == 0 &&
		      a1[2].raw == 2);
		CHECK(dwarf != dt_type_equal(ts, a1[1].type, a2[1].type));
		CHECK(dt_type_size(ts, dt_type_resolve(a1[1].type)->ref) ==
		      (dwarf ? 8 : 0)); /* CTF cannot say which */
		CHECK(dt_type_size(ts, dt_type_resolve(a2[1].type)->ref) == (dwarf ? 3 : 0));
		CHECK(args_of(ts, "one", false, &a2) == 3 && a1 == a2);
	}
	CHECK(dt_user_symbol(ts, "pid1`a.out", "global", &address, &e) == dt_intrinsics(ts)->int_);
	CHECK(address > 0x1000000);
	CHECK(dt_user_symbol(ts, "pid1`a.out", "glob", &address, &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_IDENT_UNDEF");
	again = dt_user_symbol(ts, "pid1", "one", &address, &e);
	CHECK(again != NULL && again->kind == DT_K_FUNCTION && again->nparams == 3);
	dt_types_free(ts);
}

/* ---- C++ ---- */

static const char classes[] =
    "struct Base { int b; int (*f)(); virtual int v() { return b; } virtual ~Base() {} };\n"
    "struct Plain { long p; static int count; };\n"
    "struct Virtual : virtual Plain { int own; };\n"
    "namespace ns { struct Point { int x, y; }; namespace deep { struct Point { char c; }; } enum "
    "class E : short { a = -1 }; }\n"
    "class Derived : public Base, public Plain { public: struct Inner { short s; }; ns::Point at; "
    "Inner in; int &ref; ns::E e;\n"
    "	Derived(int &r) : ref(r) {} int method(ns::Point by, ns::Point &r, int last) const; };\n"
    "struct Copied { int i; Copied(const Copied &o) : i(o.i) {} Copied() : i(1) {} };\n"
    "struct HoldsCopied { Copied c; };\n"
    "struct Defaulted { int i; Defaulted(const Defaulted &) = default; ~Defaulted() = default; "
    "Defaulted() {} };\n"
    "int Derived::method(ns::Point by, ns::Point &r, int last) const { return by.x + r.y + last; "
    "}\n"
    "extern \"C\" int takes(Copied a, int i, HoldsCopied b, Defaulted d, int j) { return a.i + i + "
    "b.c.i + d.i + j; }\n"
    "extern \"C\" Copied gives(int i) { Copied c; c.i = i; return c; }\n"
    "Virtual some; ns::deep::Point other; Defaulted used;\n"
    "int main() { int i = 0; Derived d(i); return d.method(d.at, d.at, 1); }\n";

static void test_classes(const char *name)
{
	dt_types *ts = store_for(name);
	dt_type *t = find(ts, DT_NS_STRUCT, "Derived");
	const dt_user_arg *a = NULL;
	const dt_member *m;

	CHECK(t != NULL && find(ts, DT_NS_ORDINARY, "Derived") == t); /* no need for `struct` */
	CHECK(offset(ts, t, "b") == 8 && offset(ts, t, "p") == 24); /* members of bases are found */
	CHECK(offset(ts, t, "count") == UINT64_MAX);
	m = t != NULL ? dt_type_member(ts, t, "ref", NULL) : NULL;
	CHECK(m != NULL && dt_type_is_pointer(m->type));
	m = t != NULL ? dt_type_member(ts, t, "e", NULL) : NULL;
	CHECK(m != NULL && dt_type_size(ts, m->type) == 2 && dt_type_is_signed(m->type));
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "Virtual"), "own") == 8);
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "Virtual"), "p") ==
	      UINT64_MAX); /* its offset is known only at run time */
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "ns::Point"), "y") == 4);
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "deep::Point"), "c") == 0);
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "ns::deep::Point"), "c") == 0);
	CHECK(find(ts, DT_NS_STRUCT, "s::Point") == NULL &&
	      find(ts, DT_NS_STRUCT, "other::Point") == NULL);
	CHECK(offset(ts, find(ts, DT_NS_STRUCT, "Inner"), "s") == 0);
	CHECK(find(ts, DT_NS_STRUCT, "Derived::Inner") == find(ts, DT_NS_STRUCT, "Inner"));
	CHECK(find(ts, DT_NS_STRUCT, "Base::Inner") == NULL);
	CHECK(args_of(ts, "_ZNK7Derived6methodEN2ns5PointERS1_i", false, &a) == 4);
	if (a != NULL) {
		CHECK(a[0].raw == 0 && a[1].raw == -1 && a[2].raw == 2 && a[3].raw == 3);
		CHECK(dt_type_is_pointer(a[0].type) && dt_type_is_pointer(a[2].type));
	}
	/* objects with a copy constructor are passed by reference */
	CHECK(args_of(ts, "takes", false, &a) == 5);
	CHECK(a[0].raw == 0 && dt_type_is_pointer(a[0].type) && a[1].raw == 1 && a[2].raw == 2);
	CHECK(a[3].raw == -1 && a[4].raw == 4);
	CHECK(args_of(ts, "gives", false, &a) == 1 && a[0].raw == dt_arch_host()->abi->hidden_argument);
	CHECK(args_of(ts, "gives", true, &a) == 2 && a[1].raw == 1 &&
	      dt_type_is_pointer(a[1].type));
	dt_types_free(ts);
}

/* ---- errors ---- */

static void test_refusals(void)
{
	static const char clone[] =
	    "__attribute__((noinline)) static int f(int a, int *b, int c) { return a + *b; }\n"
	    "int main(int n, char **v) { int x = n; return f(1, &x, 2) + f(1, &x, 3) + (v == 0); "
	    "}\n";
	static const dt_user_arg *a;
	dt_error e = {0};
	dt_types *ts;

	write_file("clone.c", clone, strlen(clone));
	if (build("gcc -O2 -g -w -o clone clone.c")) {
		ts = store_for("clone");
		CHECK(args_of(ts, "f.constprop.0", false, &a) < 0 ||
		      args_of(ts, "f.isra.0", false, &a) < 0);
		CHECK(args_of(ts, "main", false, &a) == 2);
		CHECK(args_of(ts, "_start", false, &a) == -1);
		dt_types_free(ts);
	}
	CHECK(build("gcc -o plain clone.c -w && strip plain"));
	ts = store_for("plain");
	CHECK(dt_user_type(ts, "pid1`a.out", DT_NS_STRUCT, "x", &e) == NULL);
	CHECK_STR(dt_tag_name(e.tag), "D_TYPE_ERR");
	CHECK(strstr(e.text, "plain has no type data") != NULL);
	dt_types_free(ts);
	ts = store_for("clone.c");
	CHECK(dt_user_type(ts, "pid1`a.out", DT_NS_STRUCT, "x", &e) == NULL && e.code != 0);
	dt_types_free(ts);
}

/* ---- damage ---- */

/* Look at everything that can be reached from t. */
static void explore(dt_types *ts, dt_type *t, int depth)
{
	if (t == NULL || depth > 4)
		return;
	t = dt_type_resolve(t);
	dt_type_complete(ts, t);
	dt_type_name(ts, t);
	dt_type_align(ts, t);
	for (uint32_t i = 0; i < t->nmembers && i < 40; i++)
		explore(ts, t->members[i].type, depth + 1);
	if (t->ref != NULL)
		explore(ts, t->ref, depth + 1);
}

static void ask_everything(const char *name, const char *const *structs,
			   const char *const *functions)
{
	dt_types *ts = store_for(name);
	const dt_user_arg *a;
	uint64_t address;

	for (; *structs != NULL; structs++)
		for (int ns = DT_NS_ORDINARY; ns <= DT_NS_ENUM; ns++)
			explore(ts, find(ts, (enum dt_namespace)ns, *structs), 0);
	for (; *functions != NULL; functions++) {
		args_of(ts, *functions, false, &a);
		args_of(ts, *functions, true, &a);
		dt_user_symbol(ts, "pid1`a.out", *functions, &address, NULL);
	}
	dt_types_free(ts);
}

/* Where the sections that hold types are in a file of ours. */
static uint32_t type_sections(const char *data, size_t n, uint64_t at[][2], uint32_t max)
{
	uint64_t headers, names, offset_, size;
	uint16_t count, names_index;
	uint32_t found = 0, name;

	memcpy(&headers, data + 40, 8);
	memcpy(&count, data + 60, 2);
	memcpy(&names_index, data + 62, 2);
	memcpy(&names, data + headers + names_index * 64u + 24, 8);
	for (uint32_t i = 0; i < count && found < max && headers + i * 64u + 64 <= n; i++) {
		memcpy(&name, data + headers + i * 64u, 4);
		memcpy(&offset_, data + headers + i * 64u + 24, 8);
		memcpy(&size, data + headers + i * 64u + 32, 8);
		if (size == 0 || (strncmp(data + names + name, ".debug_", 7) != 0 &&
				  strcmp(data + names + name, ".ctf") != 0))
			continue;
		at[found][0] = offset_;
		at[found++][1] = size;
	}
	return found;
}

static void test_damage(const char *name, uint32_t rounds, const char *const *structs,
			const char *const *functions)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	uint64_t sections[16][2];
	size_t size;
	char *data = read_file(name, &size), *damaged = dt_xmalloc(1 << 20);
	uint32_t n = data != NULL && size > 64 ? type_sections(data, size, sections, 16) : 0;

	CHECK(n > 0);
	srandom(4711);
	for (uint32_t round = 0; round < rounds && n > 0; round++) {
		memcpy(damaged, data, size);
		for (int i = 1 << random() % 7; i > 0; i--) {
			const uint64_t *s = sections[random() % n];

			damaged[s[0] + (uint64_t)random() % s[1]] =
			    (char)(random() % 2 ? values[random() % (int)sizeof(values)]
						: (uint8_t)random());
		}
		write_file("damaged", damaged, size);
		ask_everything("damaged", structs, functions);
	}
	CHECK(true); /* it is still there */
	free(data);
	free(damaged);
}

static void test_all_damage(void)
{
	static const char *const names[] = {"shared", "local",	"secret", "anonymous_t",
					    "level",  "global", NULL};
	static const char *const functions[] = {"one", "two", "main", NULL};
	static const char *const classes_[] = {"Derived", "ns::Point", "Virtual",
					       "Inner",	  "E",	       NULL};
	static const char *const methods[] = {"_ZNK7Derived6methodEN2ns5PointERS1_i", "takes",
					      "gives", NULL};
	uint32_t rounds = getenv("ROUNDS") != NULL ? (uint32_t)atoi(getenv("ROUNDS")) : 100;

	rounds = jail != NULL ? rounds / 10 : rounds; /* a process for each */

	test_damage("dwarf", rounds, names, functions);
	if (build("test -f ctf"))
		test_damage("ctf", rounds * 4, names, functions);
	if (build("test -f cxx"))
		test_damage("cxx", rounds, classes_, methods);
}

static void test_readers(void)
{
	test_units("dwarf");
	if (build("gcc -gctf -rdynamic -o ctf one.c two.c"))
		test_units("ctf");
	if (build("g++ -g -o cxx classes.cpp"))
		test_classes("cxx");
	if (build("clang++ -g -o cxx2 classes.cpp"))
		test_classes("cxx2");
	test_refusals();
	test_all_damage();
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/test_user.XXXXXX", "/tmp");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_modules();
	write_file("h.h", header, strlen(header));
	write_file("one.c", one_c, strlen(one_c));
	write_file("two.c", two_c, strlen(two_c));
	write_file("classes.cpp", classes, strlen(classes));
	if (build("gcc -g -o dwarf one.c two.c")) {
		test_readers();
		jail = dt_jail_new(NULL, NULL);
		test_readers();
		dt_jail_free(jail);
	}
	build("rm -f *");
	rmdir(dir);
	return unit_done();
}
