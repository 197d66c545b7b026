/*
 * args[]: what the compiler makes of the argument types that providers give, in cases that no
 * provider of this system shows: unknown types, translators that are missing, native arguments in
 * another order. And which definitions of a program remain in the session for the next.
 */
#include "lang/lang.h"
#include "unit.h"

static dt_error err;

/* A probe with four arguments; the last two are made from native arguments 1 and 0. */
static int describe(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *e)
{
	dt_error ignored;

	(void)arg, (void)d, (void)e;
	out->nprobes = 1;
	if (!want_args)
		return 0;
	out->typed = true;
	out->nargs = 4;
	out->args = dt_arena_alloc(dt_compiler_arena(cc), 4 * sizeof(*out->args));
	out->args[0] = (dt_probe_arg){.native = dt_compile_type(cc, "int", &ignored)};
	out->args[1] = (dt_probe_arg){.native = dt_compile_type(cc, "no_such_t *", &ignored)};
	out->args[2] = (dt_probe_arg){.native = dt_compile_type(cc, "char", &ignored),
				      .xlated = dt_compile_type(cc, "struct out *", &ignored),
				      .mapping = 1};
	out->args[3] = (dt_probe_arg){.native = dt_compile_type(cc, "int", &ignored),
				      .xlated = dt_compile_type(cc, "unsigned char", &ignored),
				      .mapping = 0};
	return 0;
}

/* The programs of one session, up to a NULL; the tag of the last. */
static const char *tag_of_last(const char *const *texts)
{
	struct dt_probe_source ps = {.describe = describe};
	struct dt_macros macros = {0};
	dt_options opts;
	dt_types *types = dt_types_new();
	dt_compiler *cc;
	const char *tag = NULL;

	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	cc = dt_compiler_new(types, &opts, &macros, &ps);
	for (; *texts; texts++) {
		struct dt_source src = {.text = *texts, .len = strlen(*texts)};
		tag = dt_compile(cc, &src, &err) ? "compiled" : err.tag ? dt_tag_name(err.tag) : "none";
	}
	dt_compiler_free(cc);
	dt_options_free(&opts);
	dt_types_free(types);
	return tag;
}

static const char *tag_of(const char *text)
{
	return tag_of_last((const char *[]){text, NULL});
}

/* Definitions of a failing program are removed; those of a valid one are kept. */
static void test_undo(void)
{
	const char *definitions = "struct out { int a; int b; };\n"
				  "translator struct out < char c > { a = c; };\n"
				  "provider foo { probe bar(int); };\n"
				  "inline int one = 1;\n";
	char bad[512], good[512], other[512];

	snprintf(bad, sizeof(bad), "%s p:::x { trace(nosuch); }", definitions);
	snprintf(good, sizeof(good), "%s p:::x { trace(xlate < struct out > ('c').a); }",
		 definitions);
	snprintf(other, sizeof(other), "provider foo { probe bar(string); }; %s",
		 "p:::x { trace(1); }");
	CHECK_STR(tag_of_last((const char *[]){bad, NULL}), "D_IDENT_UNDEF");
	CHECK_STR(tag_of_last((const char *[]){bad, good, NULL}), "compiled");
	CHECK_STR(tag_of_last((const char *[]){bad, other, NULL}), "compiled");
	CHECK_STR(tag_of_last((const char *[]){bad, "p:::x { trace(one); }", NULL}),
		  "D_IDENT_UNDEF");
	CHECK_STR(tag_of_last((const char *[]){
		      bad, "p:::x { trace(xlate < struct out > ('c').a); }", NULL}),
		  "D_XLATE_NONE");
	CHECK_STR(tag_of_last((const char *[]){good, good, NULL}), "D_DECL_TYPERED");
	CHECK_STR(
	    tag_of_last((const char *[]){
		good, "translator struct out < char c > { a = c; }; p:::x { trace(1); }", NULL}),
	    "D_XLATE_REDECL");
	CHECK_STR(tag_of_last((const char *[]){good, other, NULL}), "D_PROV_INCOMPAT");
	CHECK_STR(tag_of_last((const char *[]){good, "p:::x { trace(one); }", NULL}), "compiled");
	/* an error in the middle of an inline does not damage it */
	CHECK_STR(tag_of_last((const char *[]){"inline int f[int n] = 9 / n; p:::x { trace(1); }",
					       "p:::x { trace(f[0]); }", NULL}),
		  "D_DIV_ZERO");
	CHECK_STR(
	    tag_of_last((const char *[]){"inline int f[int n] = 9 / n; p:::x { trace(1); }",
					 "p:::x { trace(f[0]); }", "p:::x { trace(f[1]); }", NULL}),
	    "compiled");
}

#define OUT    "struct out { int a; int b; };\n"
#define XLATOR "translator struct out < char c > { a = c; };\n"

int main(void)
{
	CHECK_STR(tag_of("p:::x { trace(args[0]); }"), "compiled");
	/* only the argument of unknown type cannot be used */
	CHECK_STR(tag_of("p:::x { trace(args[0]);\ntrace(args[1]); }"), "D_ARGS_TYPE");
	CHECK(err.pos.line == 2);
	CHECK_STR(tag_of("p:::x { trace(arg1); }"), "compiled");
	CHECK_STR(tag_of(OUT "p:::x {\ntrace(args[2]->a); }"), "D_ARGS_XLATOR");
	CHECK(err.pos.line == 3);
	CHECK_STR(tag_of(OUT XLATOR "p:::x { trace(args[2]->a); }"), "compiled");
	CHECK_STR(tag_of(OUT XLATOR "p:::x { trace(args[2]->b); }"), "D_XLATE_NOCONV");
	CHECK_STR(tag_of(OUT XLATOR "p:::x { trace(args[2]->c); }"), "D_XLATE_NOCONV");
	CHECK_STR(tag_of(OUT XLATOR "p:::x { trace(args[2]); }"), "D_TRACE_DYN");
	/* a number is only converted */
	CHECK_STR(tag_of("p:::x { trace(args[3] + 1); }"), "compiled");
	CHECK_STR(tag_of("p:::x { trace(args[4]); }"), "D_ARGS_IDX");
	test_undo();
	return unit_done();
}
