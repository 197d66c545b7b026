/* The parser: how expressions group, what declarations declare, what descriptions mean. */
#include "lang/compiler.h"
#include "unit.h"

static dt_types *types;
static dt_options opts;
static dt_error err;
static struct dt_macros macros = {.target = 77};
static dt_compiler *cc;
static struct dt_source src;

static const char *failed(void)
{
	return err.tag ? dt_tag_name(err.tag) : "error without a tag";
}

static void print_expr(dt_compiler *c, void *arg)
{
	static dt_buf out;
	const char **text = arg;

	dt_buf_reset(&out);
	dt_lex_start(c, *text, strlen(*text), LEX_EXPR);
	dt_lex_next(c);
	dt_node *n = dt_parse_expr(c);
	if (c->lex.tok.kind != T_EOF)
		dt_syntax(c, NULL);
	dt_node_print(c, dt_node_copy(c, n), &out);
	*text = out.s;
}

/* Parsed and printed again; or the tag of the error. */
static const char *expr(const char *text)
{
	return dt_compile_run(cc, print_expr, &text, &err) ? text : failed();
}

static void parse_program(dt_compiler *c, void *arg)
{
	c->src = &src;
	dt_lex_start(c, arg, strlen(arg), LEX_OUTER);
	dt_parse_program(c);
}

/* A program of declarations: "ok" or the tag of the error. */
static const char *declare(const char *text)
{
	return dt_compile_run(cc, parse_program, (void *)text, &err) ? "ok" : failed();
}

static const char *type(const char *text)
{
	dt_type *t = dt_compile_type(cc, text, &err);

	return t ? dt_type_name(types, t) : failed();
}

static const char *desc(const char *text, int spec)
{
	static char out[256];
	dt_probedesc d;

	memset(&err, 0, sizeof(err));
	cc->err = &err;
	cc->src = &src;
	src.spec = spec;
	if (setjmp(cc->jmp) != 0)
		return failed();
	dt_parse_pdesc(cc, text, (dt_pos){0}, &d);
	snprintf(out, sizeof(out), "%u %s:%s:%s:%s", d.id, d.prov, d.mod, d.func, d.name);
	return out;
}

static void test_precedence(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
	    {"a+b*c", "a + b * c"},
	    {"(a+b)*c", "(a + b) * c"},
	    {"a-(b-c)-d", "a - (b - c) - d"},
	    {"a<<1+b>c==d&e^f|g&&h^^i||j", "a << 1 + b > c == d & e ^ f | g && h ^^ i || j"},
	    {"((a||b)^^c)&&d", "((a || b) ^^ c) && d"},
	    {"a?b:c?d:e", "a ? b : c ? d : e"},
	    {"(a?b:c)?d:e", "(a ? b : c) ? d : e"},
	    {"a=b+=c,d", "a = b += c, d"},
	    {"-(-a)", "- -a"},
	    {"!~*&a", "!~*&a"},
	    {"*p++", "*p++"},
	    {"(*p)++", "(*p)++"},
	    {"++*p", "++*p"},
	    {"(int)a+b", "(int)a + b"},
	    {"(int)(a+b)", "(int)(a + b)"},
	    {"(char *)p->x[3].y", "(char *)p->x[3].y"},
	    {"sizeof(int)*2", "sizeof (int) * 2"},
	    {"sizeof a->b", "sizeof a->b"},
	    {"stringof(p)==\"x\\n\"", "stringof p == \"x\\n\""},
	    {"self->x[1,\"k\"]++", "self->x[1, \"k\"]++"},
	    {"this->self", "this->self"},
	    {"a[1,2][3]", "a[1, 2][3]"},
	    {"strjoin(a,(b,c))", "strjoin(a, (b, c))"},
	    {"@[pid]=count()", "@[pid] = count()"},
	    {"@x", "@x"},
	    {"m`s.x", "m`s.x"},
	    {"`s", "`s"},
	    {"a.string->probe", "a.string->probe"},
	    {"a+++b", "a++ + b"},
	};

	for (size_t i = 0; i < DT_NELEM(cases); i++) {
		CHECK_STR(expr(cases[i].in), cases[i].out);
		CHECK_STR(expr(cases[i].out), cases[i].out);
	}
	CHECK_STR(expr("a +"), "D_SYNTAX");
	CHECK_STR(err.text, "syntax error near end of input");
	CHECK_STR(expr("a b"), "D_SYNTAX");
	CHECK_STR(err.text, "syntax error near \"b\"");
	CHECK_STR(expr("@a[1][2]"), "D_AGG_MDIM");
	CHECK_STR(expr("a->f(1)"), "D_FUNC_IDENT");
	CHECK_STR(expr("a[1][2,3]"), "D_ARR_BADREF");
}

static void test_depth(void)
{
	static char text[20000];

	memset(text, '(', 1000);
	CHECK_STR(expr(text), "D_SYNTAX");
	memset(text, '!', 1000);
	CHECK_STR(expr(text), "D_SYNTAX");
	for (size_t i = 0; i < 19998; i += 2)
		memcpy(text + i, "1+", 2);
	text[19998] = '1';
	CHECK_STR(expr(text), "D_SYNTAX");
}

static void test_types(void)
{
	CHECK_STR(type("long unsigned int"), "unsigned long");
	CHECK_STR(type("const char **"), "const char **");
	CHECK_STR(type("int (*)(int, char *)"), "int (*)(int, char *)");
	CHECK_STR(type("int *[3]"), "int *[3]");
	CHECK_STR(type("string"), "string");
	CHECK_STR(type("long char"), "D_DECL_CHARATTR");
	CHECK_STR(type("int x"), "D_SYNTAX");
	CHECK_STR(type("no_such_type_t *"), "D_SYNTAX");
}

static void test_declarations(void)
{
	const struct dt_known_provider *known;

	dt_ident *id;

	CHECK_STR(declare("int u_a; self string u_b; this char u_c[10];"), "ok");
	CHECK(dt_ident_find(cc, "u_a", 0)->kind == ID_SCALAR);
	CHECK_STR(dt_type_name(types, dt_ident_find(cc, "u_c", T_THIS)->type), "char [10]");
	CHECK_STR(declare("uint64_t u_d[string, int];"), "ok");
	id = dt_ident_find(cc, "u_d", 0);
	CHECK(id->kind == ID_ARRAY && id->nkeys == 2 && id->keys_known);
	CHECK_STR(dt_type_name(types, id->keys[0]), "string");
	CHECK_STR(
	    declare(
		"struct u_s { int a : 3, b : 5; union { char c; long d; }; struct u_s *next; };"),
	    "ok");
	CHECK_STR(
	    declare(
		"struct u_s { int a : 3, b : 5; union { char c; long d; }; struct u_s *next; };"),
	    "D_DECL_TYPERED");
	CHECK_STR(declare("struct u_s { int a; };"), "D_DECL_TYPERED");
	CHECK(dt_type_size(types, dt_compile_type(cc, "struct u_s", &err)) == 24);
	CHECK_STR(declare("struct __attribute__((packed)) u_p { char a; long b; };"), "ok");
	CHECK(dt_type_size(types, dt_compile_type(cc, "struct u_p", &err)) == 9);
	CHECK_STR(declare("typedef struct u_s u_t, *u_tp; u_tp u_e; enum { U_X, U_Y = 7, U_Z, };"),
		  "ok");
	CHECK_STR(declare("inline int u_f[int a, u_tp b] = (a) + b->a;"), "ok");
	CHECK_STR(
	    declare("# 1 \"s.d\"\n# 1 \"h.h\" 1\nextern int u_fn(const char *__restrict, ...);\n"
		    "static __inline int u_g(void) { return \"}\"[0]; }\ntypedef int u_h;\n"
		    "# 3 \"s.d\" 2\nu_h u_i;"),
	    "ok");
	CHECK_STR(dt_type_lookup(types, "C", DT_NS_ORDINARY, "u_h") ? "C" : "not C", "C");
	CHECK_STR(declare("extern int u_sym;"), "ok");
	CHECK(dt_ident_find(cc, "u_sym", 0)->kind == ID_SYM);
	CHECK_STR(declare("provider u_p { probe a__b(int x, char *s) : (char *s, int x); };"),
		  "ok");
	known = dt_map_get(cc->shared->providers, "u_p");
	CHECK_STR(known->decl.probes[0].name, "a-b");
	CHECK(known->decl.probes[0].map[0] == 1);
}

static void test_descriptions(void)
{
	CHECK_STR(desc("a:b:c:d", DT_SPEC_NAME), "0 a:b:c:d");
	CHECK_STR(desc("c:d", DT_SPEC_NAME), "0 ::c:d");
	CHECK_STR(desc("b:c", DT_SPEC_FUNC), "0 :b:c:");
	CHECK_STR(desc("b", DT_SPEC_MOD), "0 :b::");
	CHECK_STR(desc("a", DT_SPEC_PROV), "0 a:::");
	CHECK_STR(desc("12", DT_SPEC_NAME), "12 :::");
	CHECK_STR(desc("12", DT_SPEC_FUNC), "0 ::12:");
	CHECK_STR(desc("pid$target:::1f", DT_SPEC_NAME), "0 pid77:::1f");
	CHECK_STR(desc("a:b:c:d:e", DT_SPEC_NAME), "D_PDESC_INVAL");
	CHECK_STR(desc("a:b", DT_SPEC_PROV), "D_PDESC_INVAL");
	CHECK_STR(desc("$nope:::", DT_SPEC_NAME), "D_PDESC_INVAL");
	CHECK_STR(desc("0123456789012345678901234567890123456789012345678901234567890123:::",
		       DT_SPEC_NAME),
		  "D_PDESC_INVAL");
	src.spec = DT_SPEC_NAME;
}

int main(void)
{
	struct dt_probe_source probes = {0};

	types = dt_types_new();
	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	cc = dt_compiler_new(types, &opts, &macros, &probes);
	test_precedence();
	test_depth();
	test_types();
	test_declarations();
	test_descriptions();
	dt_compiler_free(cc);
	dt_types_free(types);
	dt_options_free(&opts);
	return unit_done();
}
