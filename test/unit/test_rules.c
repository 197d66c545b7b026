/*
 * test_rules: which mistake in a program is reported, and by which tag (compat.md). Each row is a
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

static const char *tag_of(const char *text, dt_error *err)
{
	struct dt_probe_source ps = {.describe = describe};
	struct dt_source src = {.text = text, .len = strlen(text), .is_cmdline = true};
	dt_types *types = dt_types_new();
	struct dt_macros macros = {0};
	dt_options opts;
	dt_compiler *cc;
	const char *tag;

	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	cc = dt_compiler_new(types, &opts, &macros, &ps);
	*err = (dt_error){0};
	tag = dt_compile(cc, &src, err) ? "compiled" : err->tag ? dt_tag_name(err->tag) : "none";
	dt_compiler_free(cc);
	dt_options_free(&opts);
	dt_types_free(types);
	return tag;
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
	    {"D_IDENT_UNDEF", "BEGIN { printf(\"%d\"); trace(nosuch); }"},
	    {"D_PROTO_LEN", "BEGIN { speculate(1); speculate(2); exit(); }"},
	    {"D_SPEC_SPEC", "BEGIN { speculate(1); speculate(2); exit(1); }"},
	    {"D_FUNC_UNDEF", "BEGIN { trace(nosuch); f(1); }"},
	    {"D_FUNC_IDKIND", "int x; BEGIN { trace(nosuch); x(1); }"},
	    {"D_FUNC_IDENT", "BEGIN { trace(nosuch); 3(1); }"},
	    {"D_FUNC_IDENT", "BEGIN { trace(nosuch); a.b(1); }"},
	    {"D_DIV_ZERO", "BEGIN { trace(nosuch); trace(1 / 0); }"},
	    {"D_SYNTAX", "BEGIN { trace(nosuch); trace(1 +); }"},
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
	    {"D_PROTO_LEN", "BEGIN { @a = lquantize(1, 2); }"},
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
	    {"D_PROTO_LEN", "BEGIN { stop(1); }"},
	    {"D_STACK_PROTO", "BEGIN { stack(1, 2); }"},
	    {"D_CLEAR_PROTO", "BEGIN { clear(); }"},
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

int main(void)
{
	test_predicate();
	test_passes();
	test_places();
	test_prototypes();
	test_subscripts();
	test_compound();
	return unit_done();
}
