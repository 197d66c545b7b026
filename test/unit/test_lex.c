/* The lexer: words, constants, positions, the two modes, macros and control lines. */
#include <unistd.h>

#include "lang/compiler.h"
#include "unit.h"

static dt_types *types;
static dt_options opts;
static dt_error err;
static bool used[8];
static char *args[] = {"script.d", "42", "name", "a b", "\"q\"", "-7", "99999999999999999999",
		       NULL};
static struct dt_macros macros = {.argc = 7, .argv = args, .used = used, .target = 123};
static dt_compiler *cc;
static struct dt_source src;

static void setup(const char *text, enum dt_lexmode mode)
{
	memset(&err, 0, sizeof(err));
	cc->err = &err;
	cc->src = &src;
	if (setjmp(cc->jmp) == 0)
		dt_lex_start(cc, text, strlen(text), mode);
}

/* The next token; false when it is an error (then err tells). */
static bool next(void)
{
	if (setjmp(cc->jmp) != 0)
		return false;
	dt_lex_next(cc);
	return true;
}

/* All tokens as text with a blank between; an error as its tag. */
static const char *tokens(const char *text, enum dt_lexmode mode)
{
	static dt_buf out;
	dt_buf scratch = {0};

	dt_buf_reset(&out);
	setup(text, mode);
	while (!err.tag && next() && cc->lex.tok.kind != T_EOF) {
		dt_buf_printf(&out, "%s%s", out.n ? " " : "", dt_tok_name(&cc->lex.tok, &scratch));
		if (cc->lex.tok.kind == T_PSPEC)
			dt_buf_puts(&out, "!");
	}
	if (err.tag)
		dt_buf_printf(&out, "%s%s", out.n ? " " : "", dt_tag_name(err.tag));
	dt_buf_free(&scratch);
	return out.n ? out.s : "";
}

static const char *tag_of(const char *text)
{
	setup(text, LEX_EXPR);
	while (!err.tag && next() && cc->lex.tok.kind != T_EOF)
		;
	return err.tag ? dt_tag_name(err.tag) : "none";
}

static void one(const char *text)
{
	setup(text, LEX_EXPR);
	next();
}

static void test_words(void)
{
	CHECK_STR(tokens("a+b ->c ... <<= ^^ @x @ `s m`s", LEX_EXPR),
		  "a + b -> c ... <<= ^^ @x @_ `s m`s");
	one("LM1f`libc.so.6`malloc.x");
	CHECK_STR(cc->lex.tok.module, "LM1f`libc.so.6");
	CHECK_STR(cc->lex.tok.text, "malloc");
	one("vmlinux`struct");
	CHECK(cc->lex.tok.kind == T_STRUCT);
	CHECK_STR(cc->lex.tok.module, "vmlinux");
	one("structs");
	CHECK(cc->lex.tok.kind == T_IDENT);
	CHECK_STR(tokens("__extension__ x __attribute__((packed, aligned(8))) y", LEX_EXPR), "x y");
	CHECK(cc->lex.packed && cc->lex.aligned == 8);
	CHECK_STR(tokens("a /* b */ c // d\n e", LEX_EXPR), "a c e");
	CHECK_STR(tokens("a \\\n b", LEX_EXPR), "a b");
	CHECK_STR(tag_of("/* /* */"), "D_SYNTAX");
	CHECK_STR(tag_of("/* x"), "D_SYNTAX");
	CHECK_STR(tag_of("a \x01"), "D_SYNTAX");
	CHECK_STR(err.text, "invalid character '\\x01'");
}

static void check_int(const char *text, uint64_t value, const char *type)
{
	one(text);
	CHECK(cc->lex.tok.kind == T_INT);
	CHECK(cc->lex.tok.ival == value);
	CHECK_STR(dt_type_name(types, cc->lex.tok.type), type);
}

static void test_constants(void)
{
	check_int("2147483647", 2147483647, "int");
	check_int("2147483648", 2147483648, "long");
	check_int("0x80000000", 0x80000000, "unsigned int");
	check_int("017", 15, "int");
	check_int("1u", 1, "unsigned int");
	check_int("1L", 1, "long");
	check_int("1ull", 1, "unsigned long long");
	check_int("1LLU", 1, "unsigned long long");
	check_int("0xffffffffffffffff", UINT64_MAX, "unsigned long");
	check_int("'a'", 'a', "int");
	check_int("'\\377'", UINT64_MAX, "int");
	check_int("'\\''", 0x5c27, "int"); /* not an escape: the backslash stays */
	check_int("'ab'", 'a' << 8 | 'b', "int");
	check_int("'12345678'", 0x3132333435363738, "long");
	CHECK_STR(tag_of("08"), "D_INT_DIGIT");
	CHECK_STR(tag_of("0x"), "D_INT_DIGIT");
	CHECK_STR(tag_of("18446744073709551616"), "D_INT_OFLOW");
	CHECK_STR(tag_of("1lul"), "D_SYNTAX");
	CHECK_STR(tag_of("1x"), "D_SYNTAX");
	CHECK_STR(tag_of("1.5"), "D_SYNTAX");
	CHECK_STR(tag_of(".5"), "D_SYNTAX");
	CHECK_STR(tag_of("1e5"), "D_SYNTAX");
	CHECK_STR(tag_of("''"), "D_CHR_NULL");
	CHECK_STR(tag_of("'123456789'"), "D_CHR_OFLOW");
	CHECK_STR(tag_of("'a\n'"), "D_CHR_NL");
	CHECK_STR(tag_of("\"a\n\""), "D_STR_NL");
	CHECK_STR(tag_of("\"a"), "D_SYNTAX");
	one("\"a\\n\\x41\" /* joined */ \"\\q\\101\"");
	CHECK(cc->lex.tok.kind == T_STRING);
	CHECK_STR(cc->lex.tok.text, "a\nA\\qA");
}

static void test_outer(void)
{
	CHECK_STR(tokens("BEGIN, tick-1s { x }", LEX_OUTER), "BEGIN! , tick-1s! { x }");
	CHECK_STR(tokens("syscall::open*:entry / x / y / { }", LEX_OUTER),
		  "syscall::open*:entry! / x / y / { }");
	CHECK_STR(tokens("pid$target:libc.so.6:malloc:1f{}", LEX_OUTER),
		  "pid$target:libc.so.6:malloc:1f! { }");
	CHECK_STR(tokens("::: // c\n{}", LEX_OUTER), ":::! { }");
	CHECK_STR(tokens("a:::/x//* c */{}", LEX_OUTER), "a:::! / x / { }");
	CHECK_STR(tokens("a:::/x/\n# 3 \"f\"\n{}", LEX_OUTER), "a:::! / x / { }");
	CHECK_STR(tokens("a:::/(x/{}", LEX_OUTER), "a:::! / ( x D_SYNTAX");
	CHECK_STR(tokens("int x;", LEX_OUTER), "int x ;");
	CHECK_STR(tokens("int* x;", LEX_OUTER), "int * x ;");
	CHECK_STR(tokens("int*", LEX_OUTER), "int *");
	CHECK_STR(tokens("uint64_t x;", LEX_OUTER), "uint64_t x ;");
	CHECK_STR(tokens("int*:", LEX_OUTER), "int*:!");
	CHECK_STR(tokens("return", LEX_OUTER), "return!");
	CHECK_STR(tokens("1", LEX_OUTER), "1!");
	src.is_cmdline = true;
	CHECK_STR(tokens("int*", LEX_OUTER), "int*!");
	CHECK_STR(tokens("int x", LEX_OUTER), "int x");
	src.is_cmdline = false;
}

static void test_positions(void)
{
	char line[64];

	setup("#!/usr/sbin/dtrace -s\na\n  b \\\n c\n# 10 \"x.h\" 1\n d\n", LEX_EXPR);
	next();
	CHECK(cc->lex.tok.pos.line == 2 && cc->lex.tok.pos.column == 1 && !cc->lex.tok.pos.file);
	next();
	CHECK(cc->lex.tok.pos.line == 3 && cc->lex.tok.pos.column == 3);
	next();
	CHECK(cc->lex.tok.pos.line == 4 && cc->lex.tok.pos.column == 2);
	CHECK(!dt_lex_included(cc));
	next();
	CHECK(cc->lex.tok.pos.line == 10 && cc->lex.tok.pos.column == 2);
	CHECK_STR(cc->lex.tok.pos.file, "x.h");
	CHECK(dt_lex_included(cc));
	dt_lex_source_line(cc, cc->lex.tok.pos, line, sizeof(line));
	CHECK_STR(line, " d");
	dt_lex_source_line(cc, (dt_pos){NULL, 3, 1}, line, sizeof(line));
	CHECK_STR(line, "  b \\");
	setup("a\nb\0c", LEX_EXPR);
	memset(&err, 0, sizeof(err));
	if (setjmp(cc->jmp) == 0)
		dt_lex_start(cc, "a\nb\0c", 5, LEX_EXPR);
	CHECK_STR(dt_tag_name(err.tag), "D_SYNTAX");
	CHECK(err.pos.line == 2 && err.pos.column == 2);
}

static void test_macros(void)
{
	char uid[32];

	check_int("$1", 42, "int");
	check_int("$5", (uint64_t)-7, "int");
	check_int("$target", 123, "int");
	CHECK(used[1] && used[5] && !used[2]);
	one("$2");
	CHECK(cc->lex.tok.kind == T_IDENT);
	one("$3");
	CHECK(cc->lex.tok.kind == T_STRING);
	CHECK_STR(cc->lex.tok.text, "a b");
	one("$4");
	CHECK_STR(cc->lex.tok.text, "q");
	one("$$1");
	CHECK(cc->lex.tok.kind == T_STRING);
	CHECK_STR(cc->lex.tok.text, "42");
	one("$$uid");
	snprintf(uid, sizeof(uid), "%u", (unsigned)getuid());
	CHECK_STR(cc->lex.tok.text, uid);
	CHECK_STR(tag_of("$9"), "D_MACRO_UNDEF");
	CHECK_STR(tag_of("$nope"), "D_MACRO_UNDEF");
	CHECK_STR(tag_of("$6"), "D_MACRO_OFLOW");
	opts.value[DT_O_DEFAULTARGS] = 1;
	check_int("$9", 0, "int");
	one("$$9");
	CHECK_STR(cc->lex.tok.text, "");
	opts.value[DT_O_DEFAULTARGS] = 0;
}

static void test_control_lines(void)
{
	CHECK_STR(tokens("#pragma D option quiet\n#ident \"x\"\n#pragma weird\na", LEX_EXPR), "a");
	CHECK(dt_opt(&opts, DT_O_QUIET) == 1);
	CHECK_STR(tag_of("#pragma D option bogus_option\n"), "D_PRAGMA_OPTSET");
	CHECK_STR(tag_of("#pragma D option a b\n"), "D_PRAGMA_MALFORM");
	CHECK_STR(tag_of("#pragma D what\n"), "D_PRAGMA_INVAL");
	CHECK_STR(tag_of("#include <x.h>\n"), "D_PRAGCTL_INVAL");
	CHECK_STR(tag_of("#error no\n"), "D_PRAGERR");
	CHECK_STR(tag_of("#pragma D attributes Stable/Stable pid\n"), "D_PRAGMA_INVAL");
	CHECK_STR(tag_of("#pragma D depends_on module no_such_module\n"), "D_PRAGMA_DEPEND");
	src.is_library = true;
	setup("#pragma D depends_on module no_such_module\n", LEX_EXPR);
	CHECK(!next() && err.code == EDT_LIBSKIP);
	src.is_library = false;
}

int main(void)
{
	struct dt_probe_source probes = {0};

	types = dt_types_new();
	dt_types_set_btf_path(types, NULL);
	dt_options_init(&opts);
	cc = dt_compiler_new(types, &opts, &macros, &probes);
	test_words();
	test_constants();
	test_outer();
	test_positions();
	test_macros();
	test_control_lines();
	dt_compiler_free(cc);
	dt_types_free(types);
	dt_options_free(&opts);
	return unit_done();
}
