/*
 * test_rules: which error in a program is reported, and by which tag (compat.md). Each row is a
 * program and its tag, or "compiled". The programs need no kernel; every row starts anew.
 */
#include <stdlib.h>

#include "lang/lang.h"
#include "unit.h"

static int describe(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *err)
{
	(void)arg, (void)cc, (void)d, (void)want_args, (void)err;
	out->nprobes = 1;
	return 0;
}

struct row {
	const char *tag, *text;
};

static const char *compile(dt_compiler *cc, const char *text, bool library, dt_error *err)
{
	struct dt_source src = {.text = text,
				.len = strlen(text),
				.is_cmdline = !library,
				.is_library = library};

	*err = (dt_error){0};
	return dt_compile(cc, &src, err) ? "compiled" : err->tag ? dt_tag_name(err->tag) : "none";
}

/* After another program of the session, or a library, if `before` is not NULL. */
static const char *tag_after(const char *before, bool library, const char *text, dt_error *err)
{
	struct dt_probe_source ps = {.describe = describe};
	dt_types *types = dt_types_new();
	struct dt_macros macros = {0};
	dt_options opts;
	dt_compiler *cc;
	const char *tag = "compiled";

	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	dt_options_set(&opts, "empty", NULL, DT_WHEN_OPEN, err);
	cc = dt_compiler_new(types, &opts, &macros, &ps);
	if (before)
		tag = compile(cc, before, library, err);
	if (strcmp(tag, "compiled") == 0)
		tag = compile(cc, text, false, err);
	else
		tag = "before";
	dt_compiler_free(cc);
	dt_options_free(&opts);
	dt_types_free(types);
	return tag;
}

static const char *tag_of(const char *text, dt_error *err)
{
	return tag_after(NULL, false, text, err);
}

static void run_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		dt_error err;
		const char *tag = tag_of(rows[i].text, &err);

		if (strcmp(tag, rows[i].tag) != 0)
			printf("%s: %s\n", rows[i].text, err.text);
		CHECK_STR(tag, rows[i].tag);
	}
}

#define RUN(rows) run_rows(rows, DT_NELEM(rows))

/* 1.1: names that the predicate defines are known in the body, and the other way round. */
static void test_predicate(void)
{
	static const struct row rows[] = {
	    {"compiled", "BEGIN /n++ < 3/ { trace(n); }"},
	    {"compiled", "BEGIN /(this->t = timestamp) != 0/ { trace(this->t); }"},
	    {"compiled", "BEGIN /(self->t = timestamp) != 0/ { trace(self->t); }"},
	    {"compiled", "BEGIN /c++ ? 0 : (p = alloca(16)) != NULL/ { trace(c); trace(p); }"},
	    {"compiled", "BEGIN /m[1]++/ { trace(m[2]); }"},
	    {"compiled", "BEGIN /x/ { x = 1; }"},
	    {"D_IDENT_UNDEF", "BEGIN /n++ < 3/ { trace(m); }"},
	    {"D_VAR_UNDEF", "BEGIN /n++ < 3/ { trace(self->m); }"},
	    {"D_IDENT_UNDEF", "BEGIN { trace(n); n = 1; }"},
	    {"D_PRED_SCALAR", "BEGIN /execname/ { trace(nosuch); }"},
	    {"D_OP_INCOMPAT", "BEGIN /n++/ { trace(1 + execname + \"a\"); trace(n); }"},
	    {"D_IDENT_UNDEF", "BEGIN /nosuch/ { trace(1); }"},
	};

	RUN(rows);
}

/* 1.2: an error of an earlier pass wins, wherever in the clause it is. */
static void test_passes(void)
{
	static const struct row rows[] = {
	    {"D_OP_INCOMPAT", "struct s { int a; } s; BEGIN { printf(\"%q\", 1 + s); }"},
	    {"D_SIZEOF_BITFIELD",
	     "struct s { int bits:3; } s; BEGIN { printf(\"%q\", sizeof (s.bits)); }"},
	    {"D_SYNTAX", "BEGIN { printf(\"%d %Q\", execname, 1); }"},
	    {"D_IDENT_UNDEF", "BEGIN { printf(\"%d\"); trace(nosuch); }"},
	    {"D_PROTO_LEN", "BEGIN { speculate(1); speculate(2); exit(); }"},
	    {"D_SPEC_SPEC", "BEGIN { speculate(1); speculate(2); exit(1); }"},
	    {"D_FUNC_UNDEF", "BEGIN { trace(nosuch); f(1); }"},
	    {"D_FUNC_IDKIND", "int x; BEGIN { trace(nosuch); x(1); }"},
	    {"D_FUNC_IDENT", "BEGIN { trace(nosuch); 3(1); }"},
	    {"D_FUNC_IDENT", "BEGIN { trace(nosuch); a.b(1); }"},
	    {"D_DIV_ZERO", "BEGIN { trace(nosuch); trace(1 / 0); }"},
	    {"D_DIV_ZERO", "BEGIN { trace(nosuch); trace(1 % (2 - 1 - 1)); }"},
	    {"D_DIV_ZERO", "BEGIN { trace(nosuch); trace(1 / -(int)0); }"},
	    {"D_DIV_ZERO", "BEGIN { trace(nosuch); x /= 0; }"},
	    {"D_DIV_ZERO", "BEGIN { x %= 0; }"},
	    {"D_IDENT_UNDEF", "BEGIN { trace(nosuch); trace(1 / (2 - 1)); }"},
	    {"D_SYNTAX", "BEGIN { trace(nosuch); trace(1 +); }"},
	    {"D_OFFSETOF_TYPE", "BEGIN { trace(nosuch); trace(offsetof(int, a)); }"},
	    {"D_UNKNOWN", "struct s { int a; }; BEGIN { trace(nosuch); trace(offsetof(struct s, b)); }"},
	    {"D_OFFSETOF_BITFIELD",
	     "struct s { int a:3; }; BEGIN /nosuch + offsetof(struct s, a)/ { trace(1); }"},
	    {"D_UNKNOWN",
	     "struct s { int a; }; BEGIN { strlen(offsetof(struct s, b)); trace(1 +); }"},
	    {"compiled", "struct s { int a; }; BEGIN { trace(offsetof(struct s, b) ?? 7); }"},
	    {"D_IDENT_UNDEF", "BEGIN { strlen(nosuch, 1); }"},
	    {"D_PRED_SCALAR", "BEGIN /execname/ { printf(\"%d\"); }"},
	};

	RUN(rows);
}

/* 1.3 to 1.5: actions and aggregations in expressions. */
static void test_places(void)
{
	static const struct row rows[] = {
	    {"D_CG_EXPR", "BEGIN { (void)stop(); }"},
	    {"D_CG_EXPR", "BEGIN { x = stack(); }"},
	    {"D_CG_EXPR", "BEGIN { count(); }"},
	    {"D_IDENT_UNDEF", "BEGIN { @a; }"},
	    {"D_IDENT_UNDEF", "BEGIN { printa(@a); }"},
	    {"D_IDENT_UNDEF", "BEGIN { trace(@a + 1); }"},
	    {"D_AGG_NULL", "BEGIN { @a[1]; }"},
	    {"D_AGG_NULL", "BEGIN { @a = count(); @a; }"},
	    {"D_PROTO_ARG", "BEGIN { raise(stop()); }"},
	    {"D_PROTO_ARG", "BEGIN { @x = count(); strlen(@x); }"},
	    {"D_PROTO_LEN", "BEGIN { arg0 ? trace(1) : trace(); }"},
	    {"D_OP_ACT", "BEGIN { arg0 ? trace(1) : trace(2); }"},
	    {"D_OP_INCOMPAT", "BEGIN { arg0 ? trace(1) : 1; }"},
	    {"D_OP_SCALAR", "BEGIN { stop() ? trace(1) : 1; }"},
	    {"D_OP_DYN", "BEGIN { @a = count(); arg0 ? @a : trace(1); }"},
	    {"D_OP_DYN", "BEGIN { @a = count(); 1, @a; }"},
	    {"D_OP_ACT", "BEGIN { 1, stop(); }"},
	    {"D_OP_ARITH", "BEGIN { @a = count(); -@a; }"},
	    {"D_OP_ARITH", "BEGIN { +stop(); }"},
	    {"D_OP_INT", "BEGIN { ~stop(); }"},
	    {"D_OP_SCALAR", "BEGIN { !stop(); }"},
	    {"D_OP_SCALAR", "BEGIN { @a = count(); @a++; }"},
	    {"D_OP_SCALAR", "BEGIN { stop()--; }"},
	    {"D_ADDROF_VAR", "BEGIN { @a = count(); &@a; }"},
	    {"D_DEREF_NONPTR", "BEGIN { @a = count(); *@a; }"},
	    {"D_STRINGOF_TYPE", "BEGIN { stringof(stop()); }"},
	    {"D_SIZEOF_TYPE", "BEGIN { @a = count(); sizeof (@a); }"},
	    {"D_CAST_INVAL", "BEGIN { (int)stop(); }"},
	    {"D_OP_INCOMPAT", "BEGIN { 1 + stop(); }"},
	    {"D_OP_INCOMPAT", "BEGIN { stop() == 1; }"},
	    {"D_OP_INCOMPAT", "BEGIN { x = stop(); }"},
	    {"D_OP_VFPTR", "BEGIN { x = 1; x += stop(); }"},
	    {"D_OP_VFPTR", "BEGIN { @a = count(); @a += 1; }"},
	    {"D_OP_ARITH", "BEGIN { stop() * 2; }"},
	    {"D_OP_INT", "BEGIN { stop() % 2; }"},
	    {"D_OP_INT", "BEGIN { stop() << 2; }"},
	    {"D_OP_SCALAR", "BEGIN { @a = count(); @a && 1; }"},
	    {"D_OP_SCALAR", "BEGIN { stop() ^^ 1; }"},
	    {"D_KEY_TYPE", "BEGIN { m[stop()] = 1; }"},
	    {"D_KEY_TYPE", "BEGIN { @a[stop()] = count(); }"},
	    {"D_KEY_TYPE", "BEGIN { @b = count(); @a[@b] = count(); }"},
	    {"D_KEY_TYPE", "BEGIN { m[stack()] = 1; }"},
	    {"compiled", "BEGIN { @a[stack(), sym(arg0)] = count(); }"},
	    {"D_PRED_SCALAR", "BEGIN /stop()/ { }"},
	    {"D_AGG_SCALAR", "BEGIN { @a = sum(stop()); }"},
	    {"D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%d\", stop()); }"},
	    {"D_PRINTF_ARG_TYPE", "BEGIN { @a = count(); printf(\"%d\", @a); }"},
	    {"D_TRACE_VOID", "BEGIN { trace(stop()); }"},
	    {"D_TRACE_AGG", "BEGIN { @a = count(); trace(@a); }"},
	    {"D_PRINT_VOID", "BEGIN { print(stop()); }"},
	    {"D_PRINT_AGG", "BEGIN { @a = count(); print(@a); }"},
	    {"D_TRUNC_SCALAR", "BEGIN { @a = count(); trunc(@a, stop()); }"},
	    {"D_NORMALIZE_SCALAR", "BEGIN { @a = count(); normalize(@a, @a); }"},
	};

	RUN(rows);
}

static void check_printed(const char *tag, const char *format, const char *a, const char *b)
{
	char text[200];

	snprintf(text, sizeof(text), format, a, b);
	run_rows(&(struct row){tag, text}, 1);
}

/* 1.5: the whole table, for an aggregation and an action, on either side; 1.8: every compound assignment of every scope. */
static void test_every_operator(void)
{
	static const struct row unary[] = {{"D_OP_ARITH", "-"}, {"D_OP_ARITH", "+"}, {"D_OP_INT", "~"},
					   {"D_OP_SCALAR", "!"}, {"D_OP_SCALAR", "++"}, {"D_OP_SCALAR", "--"},
					   {"D_STRINGOF_TYPE", "stringof "}, {"D_SIZEOF_TYPE", "sizeof "},
					   {"D_CAST_INVAL", "(int)"}, {"D_CAST_INVAL", "(char *)"}};
	static const struct row binary[] = {
	    {"D_OP_INCOMPAT", "+"}, {"D_OP_INCOMPAT", "-"}, {"D_OP_INCOMPAT", "<"}, {"D_OP_INCOMPAT", "=="},
	    {"D_OP_ARITH", "*"}, {"D_OP_ARITH", "/"}, {"D_OP_INT", "%"}, {"D_OP_INT", "&"}, {"D_OP_INT", "|"},
	    {"D_OP_INT", "^"}, {"D_OP_INT", "<<"}, {"D_OP_INT", ">>"}, {"D_OP_SCALAR", "&&"},
	    {"D_OP_SCALAR", "||"}, {"D_OP_SCALAR", "^^"}};
	static const char *const operands[] = {"@a", "stop()"}, *const scopes[] = {"x", "self->x", "this->x", "x[1]"};
	static const char *const aggs[] = {"sum", "avg", "min", "max", "stddev", "quantize"};
	static const char *const compound[] = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

	for (size_t o = 0; o < DT_NELEM(operands); o++) {
		for (size_t i = 0; i < DT_NELEM(unary); i++)
			check_printed(unary[i].tag, "BEGIN { @a = count(); %s(%s); }", unary[i].text, operands[o]);
		for (size_t i = 0; i < DT_NELEM(binary); i++) {
			check_printed(binary[i].tag, "BEGIN { @a = count(); x = 1; %s %s x; }", operands[o], binary[i].text);
			check_printed(binary[i].tag, "BEGIN { @a = count(); x = 1; x %2$s %1$s; }", operands[o], binary[i].text);
		}
		for (size_t i = 0; i < DT_NELEM(aggs); i++)
			check_printed("D_AGG_SCALAR", "BEGIN { @a = count(); @m = %s(%s); }", aggs[i], operands[o]);
	}
	for (size_t i = 0; i < DT_NELEM(compound); i++)
		for (size_t s = 0; s < DT_NELEM(scopes); s++)
			check_printed("D_VAR_UNDEF", "BEGIN { %s %s nosuch; }", scopes[s], compound[i]);
}

/* 1.6: number, then types, then the action's own rules. */
static void test_prototypes(void)
{
	static const struct row rows[] = {
	    {"D_PROTO_LEN", "BEGIN { tracemem(arg0); }"},
	    {"D_PROTO_ARG", "BEGIN { tracemem(arg0, \"a\"); }"},
	    {"D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, arg1); }"},
	    {"D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, 0); }"},
	    {"D_TRACEMEM_ARGS", "BEGIN { tracemem(arg0, 1, 1, 1); }"},
	    {"D_PROTO_LEN", "BEGIN { printa(); }"},
	    {"D_PROTO_LEN", "BEGIN { printf(); }"},
	    {"D_PROTO_LEN", "BEGIN { trace(1, 2); }"},
	    {"D_PROTO_LEN", "BEGIN { @a = min(1, 2); }"},
	    {"D_PROTO_LEN", "BEGIN { @a = max(pid, 2); }"},
	    {"compiled", "BEGIN { @a = min(max(pid, 2)); }"},
	    {"D_PROTO_LEN", "BEGIN { @a = lquantize(1, 2); }"},
	    {"D_PROTO_ARG", "BEGIN { inet_ntoa((char *)0); }"},
	    {"compiled", "BEGIN { inet_ntoa(0); inet_ntoa((void *)0); }"},
	    {"D_PROTO_ARG", "BEGIN { @a = lquantize(1, \"a\", 2); }"},
	    {"D_PROTO_ARG", "BEGIN { @a = lquantize(1, 2, \"a\"); }"},
	    {"D_LQUANT_BASETYPE", "BEGIN { @a = lquantize(1, arg0, 2); }"},
	    {"D_LQUANT_LIMTYPE", "BEGIN { @a = lquantize(1, 2, arg0); }"},
	    {"D_LQUANT_STEPTYPE", "BEGIN { @a = lquantize(1, 0, 9, 0); }"},
	    {"D_LQUANT_STEPTYPE", "BEGIN { @a = lquantize(1, 0, 9, -1); }"},
	    {"D_LQUANT_STEPTYPE", "BEGIN { @a = lquantize(1, 0, 9, arg0); }"},
	    {"D_LQUANT_STEPTYPE", "BEGIN { @a = lquantize(1, 0, 9, \"a\"); }"},
	    {"D_LQUANT_STEPVAL", "BEGIN { @a = lquantize(1, 0, 9, 65536); }"},
	    {"D_PROTO_ARG", "BEGIN { @a = llquantize(1, \"a\", 0, 1, 1); }"},
	    {"D_PROTO_ARG", "BEGIN { exit(\"a\"); }"},
	    {"D_PROTO_ARG", "BEGIN { chill(execname); }"},
	    {"D_PROTO_ARG", "BEGIN { setopt(1); }"},
	    {"D_PROTO_ARG", "BEGIN { sym(\"a\"); }"},
	    {"compiled", "BEGIN { sym((int *)arg0); }"},
	    {"D_PROTO_ARG", "BEGIN { copyin(\"a\", 1); }"},
	    {"D_PROTO_ARG", "BEGIN { copyinstr(execname); }"},
	    {"D_PROTO_ARG", "struct s { int a; } s; BEGIN { copyinstr(s); }"},
	    {"compiled", "BEGIN { copyinstr((char *)arg0); }"},
	    {"D_PROTO_ARG", "BEGIN { s = \"0123456789\"; bcopy(probename, s, 5); }"},
	    {"D_PROTO_ARG", "char b[8]; BEGIN { copyinto(arg0, 5, b); }"},
	    {"compiled", "BEGIN { bcopy(probename, alloca(8), 5); }"},
	    {"D_PROTO_LEN", "BEGIN { stop(1); }"},
	    {"D_STACK_PROTO", "BEGIN { stack(1, 2); }"},
	    {"D_CLEAR_PROTO", "BEGIN { clear(); }"},
	    {"D_PROTO_ARG", "struct s { char a[8]; } s; BEGIN { bcopy(probename, s.a, 5); }"},
	    {"D_PROTO_ARG", "struct s { char a[8]; } s; BEGIN { bcopy(probename, &s.a[2], 5); }"},
	    {"D_PROTO_ARG", "struct s { char a[8]; } s[int]; BEGIN { bcopy(probename, s[1].a, 5); }"},
	    {"D_PROTO_ARG",
	     "struct s { int n; } s; BEGIN { bcopy(probename, (char *)&s.n, 4); }"},
	    {"compiled",
	     "struct s { char a[8]; }; BEGIN { this->p = (struct s *)alloca(8); bcopy(probename, this->p->a, 5); }"},
	};

	RUN(rows);
}

/* 1.7: one subscript, a constant, in range. */
static void test_subscripts(void)
{
	static const struct row rows[] = {
	    {"D_PROTO_LEN", "BEGIN { trace(uregs[1, 2]); }"},
	    {"D_PROTO_ARG", "BEGIN { trace(uregs[arg0]); }"},
	    {"D_PROTO_ARG", "BEGIN { trace(uregs[\"a\"]); }"},
	    {"D_REGS_IDX", "BEGIN { trace(uregs[-1]); }"},
	    {"D_PROTO_LEN", "BEGIN { trace(args[1, 2]); }"},
	    {"D_PROTO_ARG", "BEGIN { trace(args[arg0]); }"},
	    {"D_ARGS_NONE", "inline int a = args[0];"},
	    {"D_PROTO_ARG", "inline int a = args[pid];"},
	    {"compiled", "BEGIN { trace(uregs[99]); }"},
	    {"compiled", "BEGIN { trace(uregs[0x7fffffff]); }"},
	};

	RUN(rows);
}

/* 1.8: compound assignment reads the variable. */
static void test_compound(void)
{
	static const struct row rows[] = {
	    {"D_VAR_UNDEF", "BEGIN { x += 1; }"},
	    {"D_VAR_UNDEF", "BEGIN { self->x -= nosuch; }"},
	    {"D_VAR_UNDEF", "BEGIN { this->x *= 2; }"},
	    {"D_VAR_UNDEF", "BEGIN { x[1] |= 2; }"},
	    {"compiled", "BEGIN { x = 1; x += 1; }"},
	    {"compiled", "BEGIN { x++; --self->y; this->z++; m[1]--; }"},
	    {"compiled", "BEGIN /x++/ { x += 1; }"},
	};

	RUN(rows);
}

/* 6 and 16: declarations, types, offsetof, arrays. */
static void test_decl(void)
{
	static const struct row rows[] = {
	    {"D_UNKNOWN",
	     "struct s { int a; int a; };"},
	    {"D_UNKNOWN",
	     "enum e { A, A };"},
	    {"D_UNKNOWN",
	     "short long x;"},
	    {"D_UNKNOWN",
	     "long short x;"},
	    {"D_UNKNOWN",
	     "signed unsigned x;"},
	    {"D_DECL_IDRED",
	     "int A; enum e { A };"},
	    {"D_DECL_IDRED",
	     "enum e { A }; enum f { A };"},
	    {"D_DECL_COMBO",
	     "short short x;"},
	    {"D_DECL_COMBO",
	     "signed signed x;"},
	    {"D_DECL_COMBO",
	     "unsigned unsigned x;"},
	    {"D_DECL_COMBO",
	     "long long long x;"},
	    {"D_DECL_COMBO",
	     "int char x;"},
	    {"D_DECL_IDRED",
	     "typedef int t; typedef int t;"},
	    {"D_DECL_IDRED",
	     "typedef char int8_t;"},
	    {"D_DECL_IDRED",
	     "typedef unsigned long uint64_t;"},
	    {"D_DECL_IDRED",
	     "typedef unsigned char uchar_t;"},
	    {"D_DECL_IDRED",
	     "typedef unsigned long size_t;"},
	    {"D_DECL_IDRED",
	     "typedef long long longlong_t;"},
	    {"compiled",
	     "typedef int pid_t; BEGIN { trace(sizeof (pid_t)); }"},
	    {"D_DECL_IDRED",
	     "int v; typedef int v;"},
	    {"compiled",
	     "struct a { int x; }; union a { int x; }; enum a { Q }; BEGIN { trace(sizeof (struct a)); }"},
	    {"D_DECL_TYPERED",
	     "struct a { int x; }; struct a { int y; };"},
	    {"D_DECL_TYPERED",
	     "struct a { int x; }; struct a { nosuch!!"},
	    {"D_DECL_TYPERED",
	     "union a { int x; }; union a { nosuch y; };"},
	    {"D_DECL_TYPERED",
	     "enum a { Q }; enum a { R };"},
	    {"D_DECL_TYPERED",
	     "struct a { int x; }; translator struct a { int b; };"},
	    {"D_DECL_TYPERED",
	     "struct a { int x; }; BEGIN { trace(sizeof (struct a { int b; })); }"},
	    {"D_DECL_PROTO_TYPE",
	     "int f(int a[string]);"},
	    {"D_DECL_PROTO_VARARGS",
	     "int m[...];"},
	    {"D_DECL_PROTO_TYPE",
	     "int m[int x[string]];"},
	    {"D_DECL_PROTO_TYPE",
	     "int m[int, void];"},
	    {"D_DECL_PROTO_TYPE",
	     "int m[void];"},
	    {"compiled",
	     "int f(...); BEGIN { trace(1); }"},
	    {"compiled",
	     "int f(void); BEGIN { trace(1); }"},
	    {"D_DECL_PROTO_TYPE",
	     "int f(int a[string]);"},
	    {"D_DECL_PROTO_NAME",
	     "int f(void x);"},
	    {"D_DECL_PROTO_VOID",
	     "int f(int, void);"},
	    {"D_DECL_PROTO_VOID",
	     "int f(void, int);"},
	    {"D_OFFSETOF_TYPE",
	     "BEGIN { trace(offsetof(int, x)); }"},
	    {"D_OFFSETOF_TYPE",
	     "struct fwd; BEGIN { trace(offsetof(struct fwd, x)); }"},
	    {"D_UNKNOWN",
	     "struct s { int a; }; BEGIN { trace(offsetof(struct s, x)); }"},
	    {"D_OFFSETOF_BITFIELD",
	     "struct s { int a:3; }; BEGIN { trace(offsetof(struct s, a)); }"},
	    {"D_SYNTAX",
	     "typedef nosuch x;"},
	    {"D_SYNTAX",
	     "extern nosuch x;"},
	    {"D_DECL_IDENT",
	     "typedef int t; int x t;"},
	    {"D_DECL_IDENT",
	     "typedef int t; struct s { int x t; };"},
	    {"D_DECL_IDENT",
	     "int x, y uint8_t;"},
	    {"D_SYNTAX",
	     "int x nosuch;"},
	    {"D_SYNTAX",
	     "int x int;"},
	    {"D_DECL_VOIDOBJ",
	     "struct s { int f(); };"},
	    {"D_DECL_VOIDOBJ",
	     "struct s { int stack(); };"},
	    {"D_DECL_VOIDOBJ",
	     "struct s { void v; };"},
	    {"compiled",
	     "struct s { int (*f)(); int a; }; BEGIN { trace(1); }"},
	    {"D_IDENT_UNDEF",
	     "inline int n = n * 2;"},
	    {"D_IDENT_UNDEF",
	     "BEGIN { trace(`); }"},
	    {"D_IDENT_UNDEF",
	     "BEGIN { trace(a`); }"},
	    {"D_DECL_SCOPE",
	     "int a`;"},
	    {"D_DECL_SCOPE",
	     "struct s { int `; };"},
	    {"D_DECL_SCOPE",
	     "typedef int a`b;"},
	    {"D_DECL_SCOPE",
	     "int a`b;"},
	    {"D_DECL_SCOPE",
	     "struct s { int a`b; };"},
	    {"D_DECL_SCOPE",
	     "enum e { a`b };"},
	    {"compiled",
	     "struct s { int n; int a[]; }; BEGIN { trace(sizeof (struct s)); }"},
	    {"compiled",
	     "typedef struct t { int a; }; struct t v; BEGIN { v.a = 1; }"},
	    {"D_DECL_USELESS",
	     "typedef int;"},
	    {"D_DECL_USELESS",
	     "typedef struct t;"},
	    {"D_ARR_BOUNDS",
	     "int a[5]; BEGIN { trace(a[9]); }"},
	    {"D_ARR_BOUNDS",
	     "int a[5]; BEGIN { a[5] = 1; }"},
	    {"D_ARR_BOUNDS",
	     "struct s { int a[5]; } s; BEGIN { s.a[9] = 1; }"},
	    {"compiled",
	     "int a[5]; BEGIN { trace(a[4]); trace(((int *)a)[9]); }"},
	    {"compiled",
	     "struct s { int a[1]; } s; BEGIN { trace(s.a[9]); }"},
	};

	RUN(rows);
}

/* 4.1, 5.2, 9.1: operands of sums, strings, destructive subroutines. */
static void test_ops(void)
{
	static const struct row rows[] = {
	    {"D_OP_INCOMPAT",
	     "struct s { int a; } s; BEGIN { s = 0; }"},
	    {"D_OP_INCOMPAT",
	     "struct s { int a; }; this struct s s; BEGIN { this->s = 0; }"},
	    {"compiled",
	     "struct s { int a; }; self struct s s; struct s m[int]; BEGIN { self->s = 0; m[1] = 0; }"},
	    {"D_ACT_SPEC",
	     "BEGIN { speculate(1); copyout((void *)arg0, arg1, 4); }"},
	    {"D_ACT_SPEC",
	     "BEGIN { speculate(1); copyoutstr(\"a\", arg1, 4); }"},
	    {"D_OP_INCOMPAT",
	     "BEGIN { trace((void *)arg0 + 1); }"},
	    {"D_OP_VFPTR",
	     "BEGIN { x = (void *)arg0; x += 1; }"},
	    {"D_OP_INCOMPAT",
	     "BEGIN { x = \"a\"; x += 1; }"},
	    {"D_OP_VFPTR",
	     "BEGIN { x = 1; x -= (int *)arg0; }"},
	    {"D_OP_VFPTR",
	     "BEGIN { x = (void *)arg0; x++; }"},
	    {"D_OP_ARRFUN",
	     "int a[2]; int b[2]; BEGIN { a = b; }"},
	    {"D_OP_INT",
	     "BEGIN { x = 1; x %= \"a\"; }"},
	    {"D_OP_ARITH",
	     "BEGIN { x = 1; x *= \"a\"; }"},
	    {"compiled",
	     "BEGIN { printf(\"%s\", execname + 2); trace(\"abcd\" + 1); x = execname + 1; y = \"a\"; y = x; }"},
	    {"compiled",
	     "BEGIN { trace(execname - execname); }"},
	    {"compiled", "int *p, *q; BEGIN { p += q; p -= q; }"},
	    {"compiled", "int *p; struct s { int a[4]; } s; BEGIN { p += s.a; }"},
	    {"D_OP_INCOMPAT", "int *p; long *q; BEGIN { p += q; }"},
	    {"D_OP_VFPTR", "void *p; int *q; BEGIN { p += q; }"},
	    {"D_OP_INCOMPAT", "int *p; struct s { int a; } s; BEGIN { p += s; }"},
	    {"D_OP_INCOMPAT", "int *p, *q; BEGIN { p + q; }"},
	};

	RUN(rows);
}

/* 8: pragmas. */
static void test_pragmas(void)
{
	static const struct row rows[] = {
	    {"D_PRAGERR",
	     "#error bad thing"},
	    {"D_PRAGERR",
	     "#pragma error bad thing"},
	    {"D_PRAGERR",
	     "#pragma D error words \"or strings\""},
	    {"compiled",
	     "#ident \"x\"\n#pragma ident \"x\"\n#pragma D ident \"x\"\nBEGIN { trace(1); }"},
	    {"D_PRAGMA_MALFORM",
	     "#line"},
	    {"D_PRAGCTL_INVAL",
	     "#nosuch"},
	    {"compiled",
	     "#pragma nosuch\nBEGIN { trace(1); }"},
	    {"D_PRAGMA_INVAL",
	     "#pragma D nosuch"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D attributes x"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D attributes \"a\" b"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D attributes 1 2"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D attributes Stable/Stable/Common 2"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D attributes Stable/Stable/Common a b"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D binding \"1.0\" 2"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D depends_on 1 2"},
	    {"D_PRAGMA_INVAL",
	     "#pragma D attributes nonsense x"},
	    {"D_PRAGMA_INVAL",
	     "#pragma D attributes Stable/Stable x"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D binding 1 x"},
	    {"D_PRAGMA_INVAL",
	     "#pragma D binding \"abc\" x"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D depends_on provider"},
	    {"D_PRAGMA_MALFORM",
	     "#pragma D depends_on provider \"x\""},
	    {"D_PRAGMA_INVAL",
	     "#pragma D depends_on nosuch x"},
	    {"D_PRAGMA_OPTSET",
	     "#pragma D option setenv=A=b"},
	    {"D_PRAGMA_OPTSET",
	     "#pragma D option unsetenv=A"},
	    {"D_PRAGERR",
	     "int x\n#error now\nBEGIN {"},
	};

	RUN(rows);
}

/* 7: translators. */
static void test_translators(void)
{
	static const struct row rows[] = {
	    {"D_SYNTAX",
	     "struct o { int a; }; translator struct o (int x) { a = x; };"},
	    {"D_XLATE_REDECL",
	     "struct o { int a; }; translator struct o < int x > { a = x; }; translator struct o < int x > { nosuch = x; };"},
	    {"D_XLATE_SOU",
	     "translator int < int x > { a = x; };"},
	    {"D_XLATE_SOU",
	     "struct o; translator struct o < int x > { a = x; };"},
	    {"D_XLATE_MEMB",
	     "struct o { int a; }; translator struct o < int x > { b = x; };"},
	    {"D_XLATE_INCOMPAT",
	     "struct o { int a; }; translator struct o < int x > { a = \"x\"; };"},
	    {"D_XLATE_INCOMPAT",
	     "struct o { char *a; }; translator struct o < int x > { a = x; };"},
	    {"D_XLATE_INCOMPAT",
	     "struct o { int a; }; translator struct o < char *x > { a = x; };"},
	    {"D_XLATE_INCOMPAT",
	     "struct o { char *a; }; translator struct o < int x > { a = (int *)0; };"},
	    {"D_OP_INCOMPAT",
	     "char *p; BEGIN { p = (int *)0; }"},
	    {"compiled",
	     "struct o { char *a; }; translator struct o < int x > { a = 0; }; BEGIN { trace(1); }"},
	    {"compiled",
	     "struct o { int a; }; translator struct o < int x > { a = x; a = 2; }; BEGIN { trace(1); }"},
	    {"D_XLATE_NOCONV",
	     "struct o { int a; int b; }; translator struct o < int x > { a = x; }; BEGIN { trace(xlate < struct o > (1).b); }"},
	    {"D_XLATE_NOCONV",
	     "struct o { int a; int b; }; translator struct o < int x > { a = x; }; BEGIN { trace(xlate < struct o > (1).nosuch); }"},
	    {"compiled",
	     "struct o { int a; }; translator struct o < int x > { }; BEGIN { trace(1); }"},
	    {"compiled",
	     "struct o { int a; }; translator struct o < struct o x > { a = x.a; }; BEGIN { trace(1); }"},
	    {"D_OP_INCOMPAT",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { x = xlate < struct o * > (1); }"},
	    {"D_OP_INCOMPAT",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; struct o *x; BEGIN { x = xlate < struct o * > (1); }"},
	    {"D_OP_INCOMPAT",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; int x; BEGIN { x = xlate < struct o > (1); }"},
	    {"D_TRACE_DYN",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace(xlate < struct o * > (1)); }"},
	    {"D_PRINT_DYN",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { print(xlate < struct o * > (1)); }"},
	    {"compiled",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace(xlate < struct o > (1)); print(xlate < struct o > (1)); }"},
	    {"compiled",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace(*xlate < struct o * > (1)); x = *xlate < struct o * > (1); }"},
	    {"compiled",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace((*xlate < struct o * > (1)).a); trace(sizeof (*xlate < struct o * > (1))); }"},
	    {"D_DEREF_NONPTR",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace(**xlate < struct o * > (1)); }"},
	    {"D_XLATE_NOCONV",
	     "struct o { int a; string s; }; translator struct o < int x > { a = x; s = \"x\"; }; BEGIN { trace((*xlate < struct o * > (1)).b); }"},
	    {"D_XLATE_INCOMPAT",
	     "struct i { int n; }; struct o { struct i a; }; translator struct o < int x > { a = 0; };"},
	    {"D_XLATE_INCOMPAT",
	     "struct o { int a[2]; }; translator struct o < int x > { a = x; };"},
	    {"compiled",
	     "struct o { char a[4]; char *b; string c; }; translator struct o < string x > { a = x; b = x; c = x; }; BEGIN { trace(xlate < struct o > (\"abc\")); }"},
	    {"compiled",
	     "struct o { int *a; void *b; }; struct i { int n[4]; }; translator struct o < struct i *x > { a = x->n; b = x->n; }; BEGIN { trace(1); }"},
	};

	RUN(rows);
}

/* 6.1, 6.3: names that another program of the session or a library has defined. */
static void test_defined_before(void)
{
	static const struct {
		bool library;
		const char *before, *tag, *text;
	} rows[] = {
	    {true, "struct a { int x; };", "D_DECL_TYPERED", "struct a { int x; };"},
	    {false, "struct a { int x; };", "D_DECL_TYPERED", "struct a { int x; };"},
	    {true, "struct a { int x; };", "D_DECL_TYPERED", "struct a { int + };"},
	    {true, "struct a { int x; };", "compiled", "union a { int x; }; enum a { X };"},
	    {true, "enum a { X };", "D_DECL_TYPERED", "enum a { X };"},
	    {true, "enum a { X };", "D_DECL_IDRED", "enum b { X };"},
	    {true, "enum a { X };", "D_DECL_IDRED", "int X;"},
	    {false, "typedef int t;", "D_DECL_IDRED", "typedef int t;"},
	    {true, "typedef int t;", "D_DECL_IDRED", "typedef int t;"},
	    {true, "int t;", "D_DECL_IDRED", "typedef int t;"},
	    {true, "typedef int t;", "D_DECL_IDRED", "int t;"},
	    {true, "inline int n = 1;", "D_DECL_IDRED", "inline int n = 1;"},
	    {false, "struct a; struct a *p;", "compiled", "struct a { int x; };"},
	    {false, "struct a { int x; }; struct a v;", "compiled", "struct a v;"},
	};

	for (size_t i = 0; i < DT_NELEM(rows); i++) {
		dt_error err;
		const char *tag = tag_after(rows[i].before, rows[i].library, rows[i].text, &err);

		if (strcmp(tag, rows[i].tag) != 0)
			printf("%s, then %s: %s\n", rows[i].before, rows[i].text, err.text);
		CHECK_STR(tag, rows[i].tag);
	}
}

int main(void)
{
	test_predicate();
	test_passes();
	test_places();
	test_every_operator();
	test_prototypes();
	test_subscripts();
	test_compound();
	test_decl();
	test_ops();
	test_pragmas();
	test_translators();
	test_defined_before();
	return unit_done();
}
