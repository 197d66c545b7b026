/*
 * Libraries: what a library's text defines, and how the compiler asks for it: for an unknown name,
 * and for the libraries that this library needs, inside the compile that needs it.
 */
#include "lang/lang.h"
#include "unit.h"

static dt_compiler *cc;
static dt_error err;

/* ---- what a text defines ---- */

static bool exports(const char *text, const char *name)
{
	struct dt_exports e;
	bool found;

	dt_exports_read(cc, text, strlen(text), &e);
	found = dt_map_get(e.names, name) != NULL;
	dt_exports_free(&e);
	return found;
}

static void test_exports(void)
{
	static const char lib[] =
	    "/* x */\n#pragma D depends_on library a.d\n# pragma D depends_on module m\n"
	    "  #pragma D depends_on library b.d /* c */\nstruct x;\n#pragma D option quiet\n";
	struct dt_exports e;

	CHECK(exports("inline int EPERM = 1;", "EPERM"));
	CHECK(exports("inline string f[int a, int b] = g[a];", "f"));
	CHECK(!exports("inline string f[int a, int b] = g[a];", "a"));
	CHECK(!exports("inline string f[int a] = g[a];", "g"));
	CHECK(exports("inline int a = x = 2, b; int c;", "c"));
	CHECK(exports("typedef struct foo { int bar; } foo_t;", "foo_t"));
	CHECK(exports("typedef struct foo { int bar; } foo_t;", "foo"));
	CHECK(!exports("typedef struct foo { int bar; } foo_t;", "bar"));
	CHECK(!exports("struct foo; typedef struct foo foo_t;", "foo"));
	CHECK(exports("enum e { RED, GREEN = 3 + X, BLUE };", "BLUE"));
	CHECK(exports("enum e { RED, GREEN = 3 + X, BLUE };", "e"));
	CHECK(!exports("enum e { RED, GREEN = 3 + X, BLUE };", "X"));
	CHECK(exports("translator foo_t < struct in *T > { a = T->pid; };", "foo_t"));
	CHECK(exports("translator struct foo < struct in *T > { a = T->pid; };", "foo"));
	CHECK(!exports("translator foo_t < struct in *T > { a = T->pid; };", "in"));
	CHECK(!exports("translator foo_t < struct in *T > { a = T->pid; };", "a"));
	CHECK(exports("typedef int (*fn_t)(int);", "fn_t"));
	CHECK(exports("int x[int, foo_t], *y;", "y"));
	CHECK(!exports("/* int x; */ // int x;\nstring s;", "x"));
	/* what cannot be read ends it */
	CHECK(exports("int x; int \001 y;", "x"));
	CHECK(!exports("int x; int \001 y;", "y"));
	CHECK(!exports("", "x"));
	CHECK(!exports("]]]]}}}} x", "x"));
	CHECK(!exports("int x[", "y"));
	dt_exports_read(cc, lib, strlen(lib), &e);
	CHECK(dt_map_count(e.depends) == 2 && dt_map_get(e.depends, "a.d") &&
	      dt_map_get(e.depends, "b.d"));
	dt_exports_free(&e);
}

/* ---- asking ---- */

static struct library {
	const char *name, *text, *defines; /* defines: one name, or two */
	int compiled;
	bool busy;
} libs[] = {
    {"base.d", "inline int one = 1;", "one", 0, false},
    {"over.d", "inline int two = one + 1; typedef struct duo { int d; } duo_t;", "two duo_t duo", 0,
     false},
    {"named.d", "#pragma D depends_on library base.d\ninline int three = 3;", "three", 0, false},
    {"enum.d", "enum color { RED = 7 };", "RED color", 0, false},
    {"bad.d", "inline int fine = 1;\n\ninline int broken = nowhere;", "broken", 0, false},
    {"bad_use.d", "inline int quotient[int n] =\n\t9 / n;", "quotient", 0, false},
    {"xlate.d", "translator duo_t < int i > { d = i; };", "duo_t", 0, false},
    {"own.d", "inline int outside = 1; inline int inside = own;", "outside", 0, false},
    {"a.d", "#pragma D depends_on library b.d\ninline int a = 1;", "a", 0, false},
    {"b.d", "#pragma D depends_on library a.d\ninline int b = 1;", "b", 0, false},
    {"lost.d", "#pragma D depends_on library nosuch.d\ninline int lost = 1;", "lost", 0, false},
};
static int asked;

static int load(struct library *l, dt_error *e)
{
	struct dt_source src = {
	    .text = l->text, .len = strlen(l->text), .name = l->name, .is_library = true};
	dt_program *p;

	if (l->compiled)
		return 1;
	if (l->busy)
		return dt_err(e, EDT_COMPILER, "a circle");
	l->busy = true;
	p = dt_compile(cc, &src, e);
	l->busy = false;
	l->compiled += p != NULL;
	return p ? 1 : e->code == EDT_LIBSKIP ? 0 : -1;
}

static bool defines(const struct library *l, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = l->defines; (s = strstr(s, name)); s += n)
		if ((s == l->defines || s[-1] == ' ') && (s[n] == 0 || s[n] == ' '))
			return true;
	return false;
}

static int define(void *arg, const char *name, dt_error *e)
{
	int found = 0, rc;

	(void)arg;
	asked++;
	for (size_t i = 0; i < DT_NELEM(libs); i++) {
		if (libs[i].compiled || libs[i].busy || !defines(&libs[i], name))
			continue;
		rc = load(&libs[i], e);
		if (rc < 0)
			return -1;
		found |= rc;
	}
	return found;
}

static int require(void *arg, const char *library, dt_error *e)
{
	(void)arg;
	for (size_t i = 0; i < DT_NELEM(libs); i++)
		if (strcmp(libs[i].name, library) == 0)
			return load(&libs[i], e);
	return 0;
}

static int describe(void *arg, dt_compiler *c, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *e)
{
	dt_error ignored;

	(void)arg, (void)d, (void)e;
	out->nprobes = 1;
	if (!want_args)
		return 0;
	out->typed = true;
	out->nargs = 1;
	out->args = dt_arena_alloc(dt_compiler_arena(c), sizeof(*out->args));
	out->args[0] = (dt_probe_arg){.native = dt_compile_type(c, "int", &ignored),
				      .xlated = dt_compile_type(c, "duo_t *", &ignored),
				      .unknown = "duo_t *"};
	if (!out->args[0].xlated)
		out->args[0].native = NULL;
	return 0;
}

static const char *compile(const char *text)
{
	struct dt_source src = {.text = text, .len = strlen(text)};

	if (dt_compile(cc, &src, &err))
		return "compiled";
	return err.tag ? dt_tag_name(err.tag) : err.text;
}

static int compiled(const char *name)
{
	for (size_t i = 0; i < DT_NELEM(libs); i++)
		if (strcmp(libs[i].name, name) == 0)
			return libs[i].compiled;
	return -1;
}

static void test_asking(void)
{
	asked = 0;
	CHECK_STR(compile("p:::x { mine = 1; trace(mine); trace((mine * 2)); exit(0); }"),
		  "compiled");
	CHECK(asked == 0);
	/* one library needs another, in the middle of an expression; each is compiled once */
	CHECK_STR(compile("p:::x { trace(two * (two + 1) + one); }"), "compiled");
	CHECK(compiled("over.d") == 1 && compiled("base.d") == 1 && compiled("enum.d") == 0);
	CHECK_STR(compile("p:::x { trace(two); }"), "compiled");
	CHECK(compiled("over.d") == 1);
	CHECK_STR(compile("p:::x { trace(three); }"), "compiled");
	/* an enumerator where a type could stand, a type, a tag */
	CHECK_STR(compile("p:::x { trace((RED * 2)); }"), "compiled");
	CHECK(compiled("enum.d") == 1);
	CHECK_STR(compile("duo_t *u; p:::x { trace(sizeof (struct duo)); }"), "compiled");
	CHECK_STR(compile("p:::x { trace(nosuch); }"), "D_IDENT_UNDEF");
	/* the type is known since over.d was compiled, its translator is not */
	CHECK(compiled("xlate.d") == 0);
	CHECK_STR(compile("p:::x { trace(args[0]->d); }"), "compiled");
	CHECK(compiled("xlate.d") == 1);
}

/* Definitions of a library remain when the program that needed it fails. */
static void test_undo(void)
{
	CHECK_STR(compile("inline int k = 1; p:::x { trace(outside + k + nosuch); }"),
		  "D_IDENT_UNDEF");
	CHECK(err.pos.file && strcmp(err.pos.file, "own.d") == 0);
	CHECK_STR(compile("inline int own = 1; p:::x { trace(outside); trace(nosuch); }"),
		  "D_IDENT_UNDEF");
	CHECK(!err.pos.file && err.pos.line == 1 && compiled("own.d") == 1);
	CHECK_STR(compile("p:::x { trace(own); }"), "D_IDENT_UNDEF");
}

static void test_errors(void)
{
	CHECK_STR(compile("p:::x\n{\n\ttrace(broken);\n}"), "D_IDENT_UNDEF");
	CHECK_STR(err.pos.file, "bad.d");
	CHECK(err.pos.line == 3);
	CHECK_STR(err.source, "inline int broken = nowhere;");
	CHECK_STR(compile("p:::x { trace(fine); }"), "D_IDENT_UNDEF"); /* undone */
	/* ?? is for what the kernel lacks, not for a library with an error */
	CHECK_STR(compile("p:::x { trace(broken ?? 1); }"), "D_IDENT_UNDEF");
	CHECK_STR(compile("p:::x { trace(nowhere ?? 1); }"), "compiled");
	/* an error that appears where an inline is used is still the library's */
	CHECK_STR(compile("p:::x {\n\n\n\ntrace(quotient[0]); }"), "D_DIV_ZERO");
	CHECK_STR(err.pos.file, "bad_use.d");
	CHECK(err.pos.line == 2);
	CHECK_STR(compile("p:::x { trace(a); }"), "a circle");
	CHECK_STR(compile("p:::x { trace(lost); }"), "D_IDENT_UNDEF");
	CHECK(!err.pos.file);
	CHECK_STR(compile("\n#pragma D depends_on library nosuch.d\np:::x { trace(1); }"),
		  "D_PRAGMA_DEPEND");
	CHECK(err.pos.line == 2);
	CHECK_STR(compile("p:::x { trace(1); }"), "compiled");
}

/* One-line programs of the command line: the part instead of the line. */
static void test_region(void)
{
	static const struct {
		const char *text, *region;
	} cases[] = {
	    {"p:::x /nosuch/ { trace(1); }", "in predicate: "},
	    {"p:::x /1/ { trace(nosuch); }", "in action list: "},
	    {"p:::x { trace(1); } p:::y", NULL},
	    {"p:::x { trace(1); } p:::y /nosuch/ { }", "in predicate: "},
	    {"p:::x { trace(1", "in action list: "},
	    {"p:::x { trace(1); } )", ""},
	    {"nosuch_t *x; p:::x { }", ""},
	};

	for (size_t i = 0; i < DT_NELEM(cases); i++) {
		struct dt_source src = {
		    .text = cases[i].text, .len = strlen(cases[i].text), .is_cmdline = true};
		dt_program *p = dt_compile(cc, &src, &err);

		CHECK((p != NULL) == !cases[i].region);
		if (cases[i].region)
			CHECK_STR(err.region, cases[i].region);
	}
	compile("p:::x { trace(nosuch); }");
	CHECK(!err.region);
}

int main(void)
{
	struct dt_probe_source ps = {.describe = describe};
	struct dt_library_source ls = {.define = define, .require = require};
	struct dt_macros macros = {0};
	dt_options opts;
	dt_types *types = dt_types_new();

	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	cc = dt_compiler_new(types, &opts, &macros, &ps);
	test_exports();
	CHECK(dt_opt(&opts, DT_O_QUIET) == 0);
	dt_compiler_set_libraries(cc, &ls);
	test_asking();
	test_undo();
	test_errors();
	test_region();
	dt_compiler_free(cc);
	dt_options_free(&opts);
	dt_types_free(types);
	return unit_done();
}
