/*
 * The subroutines, each called through DIF: what it returns, where it cuts, how it faults.
 */
#include <arpa/inet.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "vm_asm.h"

/* ---- calling: S("text") is a string, NIL a NULL string, I(n) a number ---- */

struct arg {
	enum { END, STRING, NUMBER } kind;
	const char *s;
	uint64_t n;
};
#define S(text)                                                                                    \
	{                                                                                          \
		STRING, text, 0                                                                    \
	}
#define NIL                                                                                        \
	{                                                                                          \
		STRING, NULL, 0                                                                    \
	}
#define I(num)                                                                                     \
	{                                                                                          \
		NUMBER, NULL, (uint64_t)(num)                                                      \
	}
#define CALL(subr, ...)	 call_subr(subr, (struct arg[]){__VA_ARGS__, {END, NULL, 0}})
#define TEXT(subr, ...)	 text_of(subr, (struct arg[]){__VA_ARGS__, {END, NULL, 0}})
#define FAULT(subr, ...) fault_of(subr, (struct arg[]){__VA_ARGS__, {END, NULL, 0}})

static struct prog prog; /* of the last call: prog.fault, prog.text */
static size_t strsize = 256, scratch = 65536;

static void push_call(struct prog *p, uint32_t subr, const struct arg *a)
{
	emit(p, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	for (; a->kind != END; a++) {
		if (a->kind == STRING)
			sets(p, 1, a->s);
		else
			set(p, 1, a->n);
		emit(p, a->kind == STRING ? DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_STRING, 0, 1)
					  : DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 1));
	}
	emit(p, DT_I_IDX(DT_OP_CALL, subr, 2));
}

static void start(uint32_t subr, const struct arg *a)
{
	prog = new_prog();
	prog.strsize = strsize;
	prog.scratch = scratch;
	push_call(&prog, subr, a);
}

static uint64_t call_subr(uint32_t subr, const struct arg *a)
{
	start(subr, a);
	return result(&prog, 2);
}

static const char *text_of(uint32_t subr, const struct arg *a)
{
	start(subr, a);
	return text(&prog, 2);
}

static uint32_t fault_of(uint32_t subr, const struct arg *a)
{
	start(subr, a);
	run(&prog);
	return faulted(&prog) ? prog.fault.code : 0;
}

/* ---- strings ---- */

static void test_strlen_strjoin(void)
{
	CHECK(CALL(DT_SUBR_STRLEN, S("")) == 0);
	CHECK(CALL(DT_SUBR_STRLEN, S("hello")) == 5);
	CHECK(FAULT(DT_SUBR_STRLEN, NIL) == DT_FLT_BADADDR && prog.fault.value == 0);
	CHECK_STR(TEXT(DT_SUBR_STRJOIN, S("foo"), S("bar")), "foobar");
	CHECK_STR(TEXT(DT_SUBR_STRJOIN, S(""), S("")), "");
	strsize = 8;
	CHECK(CALL(DT_SUBR_STRLEN, S("0123456789")) == 8);
	CHECK_STR(TEXT(DT_SUBR_STRJOIN, S("123"), S("45678")), "12345678");
	CHECK(FAULT(DT_SUBR_STRJOIN, S("1234"), S("56789")) == DT_FLT_NOSCRATCH);
	strsize = 256;
	scratch = 64; /* less than one string */
	CHECK(FAULT(DT_SUBR_STRJOIN, S("1"), S("2")) == DT_FLT_NOSCRATCH);
	CHECK(FAULT(DT_SUBR_TOUPPER, S("x")) == DT_FLT_NOSCRATCH);
	scratch = 65536;
}

static void test_search(void)
{
	CHECK_STR(TEXT(DT_SUBR_STRCHR, S("hello"), I('l')), "llo");
	CHECK_STR(TEXT(DT_SUBR_STRCHR, S("hello"), I(0)), "");
	CHECK(CALL(DT_SUBR_STRCHR, S("hello"), I('z')) == 0);
	CHECK_STR(TEXT(DT_SUBR_STRRCHR, S("hello"), I('l')), "lo");
	CHECK(CALL(DT_SUBR_STRRCHR, S("hello"), I('z')) == 0);
	CHECK_STR(TEXT(DT_SUBR_STRSTR, S("hello"), S("ll")), "llo");
	CHECK_STR(TEXT(DT_SUBR_STRSTR, S("hello"), S("")), "hello");
	CHECK(CALL(DT_SUBR_STRSTR, S("hello"), S("lll")) == 0);
	CHECK(CALL(DT_SUBR_INDEX, S("ababab"), S("ab")) == 0);
	CHECK(CALL(DT_SUBR_INDEX, S("ababab"), S("ab"), I(1)) == 2);
	CHECK(CALL(DT_SUBR_INDEX, S("ababab"), S("ab"), I(-9)) == 0);
	CHECK(CALL(DT_SUBR_INDEX, S("ababab"), S("ab"), I(5)) == UINT64_MAX);
	CHECK(CALL(DT_SUBR_INDEX, S("abc"), S(""), I(10)) == 3);
	CHECK(CALL(DT_SUBR_INDEX, S("abc"), S("abcd")) == UINT64_MAX);
	CHECK(CALL(DT_SUBR_RINDEX, S("ababab"), S("ab")) == 4);
	CHECK(CALL(DT_SUBR_RINDEX, S("ababab"), S("ab"), I(3)) == 2);
	CHECK(CALL(DT_SUBR_RINDEX, S("ababab"), S("ab"), I(0)) == 0);
	CHECK(CALL(DT_SUBR_RINDEX, S("ababab"), S("ab"), I(-1)) == UINT64_MAX);
	CHECK(CALL(DT_SUBR_RINDEX, S("abc"), S("")) == 3);
	CHECK(CALL(DT_SUBR_RINDEX, S("abc"), S(""), I(-1)) == 0);
	CHECK(CALL(DT_SUBR_RINDEX, S("abc"), S(""), I(99)) == 3);
	CHECK(CALL(DT_SUBR_RINDEX, S("a"), S("ab")) == UINT64_MAX);
}

static void test_substr(void)
{
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(1)), "RAIG");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(1), I(2)), "RA");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(-2)), "IG");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(-2), I(1)), "I");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(0), I(-1)), "CRAI");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(-3), I(-1)), "AI");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(-10), I(7)), "CR");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(-10), I(5)), "");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(5)), "");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(99), I(3)), "");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(1), I(-99)), "");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("CRAIG"), I(INT32_MIN), I(INT32_MAX)), "CRAI");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S(""), I(0)), "");
}

static void test_strtok(void)
{
	static const char *const want[] = {"one", "two", "three", NULL, NULL};

	for (size_t i = 0; i < DT_NELEM(want); i++) { /* the i-th token of one firing */
		prog = new_prog();
		push_call(&prog, DT_SUBR_STRTOK,
			  (struct arg[]){S(",,one,two;;three,"), S(",;"), {END, NULL, 0}});
		for (size_t k = 0; k < i; k++)
			push_call(&prog, DT_SUBR_STRTOK,
				  (struct arg[]){NIL, S(",;"), {END, NULL, 0}});
		if (want[i])
			CHECK_STR(text(&prog, 2), want[i]);
		else
			CHECK(result(&prog, 2) == 0 && !faulted(&prog));
	}
	CHECK(CALL(DT_SUBR_STRTOK, NIL, S(",")) == 0);
	CHECK(CALL(DT_SUBR_STRTOK, S(""), S(",")) == 0);
	CHECK_STR(TEXT(DT_SUBR_STRTOK, S("a,b"), S("")), "a,b");
}

static void test_convert(void)
{
	CHECK_STR(TEXT(DT_SUBR_TOUPPER, S("aZ{`@[1\xe4")), "AZ{`@[1\xe4");
	CHECK_STR(TEXT(DT_SUBR_TOLOWER, S("aZ{`@[1\xc4")), "az{`@[1\xc4");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(0)), "0");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(0), I(16)), "0x0");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(INT64_MIN)), "-9223372036854775808");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(255), I(16)), "0xff");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(8), I(8)), "010");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(5), I(2)), "101");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(35), I(36)), "z");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(-1), I(16)), "0xffffffffffffffff");
	CHECK(strlen(TEXT(DT_SUBR_LLTOSTR, I(-1), I(2))) == 64);
	CHECK(FAULT(DT_SUBR_LLTOSTR, I(1), I(1)) == DT_FLT_ILLOP);
	CHECK(FAULT(DT_SUBR_LLTOSTR, I(1), I(37)) == DT_FLT_ILLOP);
	CHECK(CALL(DT_SUBR_STRTOLL, S("42")) == 42);
	CHECK(CALL(DT_SUBR_STRTOLL, S("  -17xyz")) == (uint64_t)-17);
	CHECK(CALL(DT_SUBR_STRTOLL, S("+9")) == 9);
	CHECK(CALL(DT_SUBR_STRTOLL, S("0x1F"), I(16)) == 31);
	CHECK(CALL(DT_SUBR_STRTOLL, S("0x"), I(16)) == 0);
	CHECK(CALL(DT_SUBR_STRTOLL, S("ff"), I(16)) == 255);
	CHECK(CALL(DT_SUBR_STRTOLL, S("778"), I(8)) == 077);
	CHECK(CALL(DT_SUBR_STRTOLL, S("")) == 0);
	CHECK(FAULT(DT_SUBR_STRTOLL, S("1"), I(0)) == DT_FLT_ILLOP);
	CHECK(FAULT(DT_SUBR_STRTOLL, S("1"), I(37)) == DT_FLT_ILLOP);
}

static void test_truncation(void)
{
	strsize = 4;
	CHECK_STR(TEXT(DT_SUBR_TOUPPER, S("abcdef")), "ABCD");
	CHECK_STR(TEXT(DT_SUBR_LLTOSTR, I(123456)), "1234");
	CHECK_STR(TEXT(DT_SUBR_SUBSTR, S("abcdef"), I(1)), "bcd");
	strsize = 0;
	CHECK_STR(TEXT(DT_SUBR_TOUPPER, S("abcdef")), "");
	CHECK_STR(TEXT(DT_SUBR_CLEANPATH, S("/a/b")), "");
	CHECK_STR(TEXT(DT_SUBR_BASENAME, S("/a/b")), "");
	CHECK(CALL(DT_SUBR_STRTOK, S("abc"), S(",")) == 0);
	strsize = 256;
}

/* ---- paths ---- */

static void test_paths(void)
{
	static const char *const t[][3] = {
	    /* path, basename, dirname */
	    {"/usr/lib", "lib", "/usr"},
	    {"/usr/", "usr", "/"},
	    {"usr", "usr", "."},
	    {"/", "/", "/"},
	    {"//", "/", "/"},
	    {"", ".", "."},
	    {".", ".", "."},
	    {"..", "..", "."},
	    {"a//b//", "b", "a"},
	    {"a/b/c", "c", "a/b"},
	    {"/a", "a", "/"},
	    {"///a", "a", "/"},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		CHECK_STR(TEXT(DT_SUBR_BASENAME, S(t[i][0])), t[i][1]);
		CHECK_STR(TEXT(DT_SUBR_DIRNAME, S(t[i][0])), t[i][2]);
	}
}

static void test_cleanpath(void)
{
	static const char *const t[][2] = {
	    {"/foo/bar/baz", "/foo/bar/baz"},
	    {"/foo/bar///baz/", "/foo/bar/baz/"},
	    {"/foo/bar/baz/.", "/foo/bar/baz/."},
	    {"/foo/bar/baz/./", "/foo/bar/baz/"},
	    {"/foo/bar/../../baz/.//", "/baz/"},
	    {"foo/bar/./././././baz/", "foo/bar/baz/"},
	    {"/foo/bar/baz/../../../../../../", "/"},
	    {"/../../foo", "/foo"},
	    {"/./", "/"},
	    {"./", "./"},
	    {"//", "/"},
	    {"/./.", "/."},
	    {".", "."},
	    {"", ""},
	    {"/a/..b/c", "/a/..b/c"},
	    {"/a/...//b", "/a/.../b"},
	    {"/a/.b/./c", "/a/.b/c"},
	    {"../x/../y", "../y"},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++)
		CHECK_STR(TEXT(DT_SUBR_CLEANPATH, S(t[i][0])), t[i][1]);
}

/* ---- json ---- */

static void test_json(void)
{
	static const char doc[] =
	    "{ \"a\" : 1, \"b\":{\"c\":[10, \"x y\", {\"deep\":true}], \"e\":\"q\\\"r\"},"
	    " \"n\":null, \"f\":-1.5e3, \"u\":\"\\u00e4\\n\" }";
	static const struct {
		const char *doc, *path, *want;
	} t[] = {
	    {doc, "a", "1"},
	    {doc, "b.c[0]", "10"},
	    {doc, "b.c[1]", "x y"},
	    {doc, "b.c.2.deep", "true"},
	    {doc, "b.c[2]", "{\"deep\":true}"},
	    {doc, "b.c", "[10, \"x y\", {\"deep\":true}]"},
	    {doc, "b.e", "q\\\"r"}, /* escapes stay */
	    {doc, "n", "null"},
	    {doc, "f", "-1.5e3"},
	    {doc, "u", "\\u00e4\\n"},
	    {doc, "zzz", NULL},
	    {doc, "b.c[3]", NULL},
	    {doc, "b.c[-1]", NULL},
	    {doc, "b.c[99999999999999999999]", NULL},
	    {doc, "a.b", NULL},
	    {doc, "", NULL},
	    {"[1, [2, 3]]", "[1][0]", "2"},
	    {"[ \t 5\t]", "0", "5"},
	    {"[]", "0", NULL},
	    {"{}", "a", NULL},
	    {"[0x1000]", "0", NULL},
	    {"[\"ok\", \"bad \\u00AZ\", 3]", "0", "ok"},
	    {"[\"ok\", \"bad \\u00AZ\", 3]", "1", NULL},
	    {"[\"ok\", \"bad \\u00AZ\", 3]", "2", NULL},
	    {"not json", "a", NULL},
	    {"{\"a\":\"unfinished", "a", NULL},
	    {"{\"a\":\"x\\", "a", NULL},
	    {"[1", "0", NULL},
	    {"{\"a\"}", "a", NULL},
	    {"[[[[[[[[7]]]]]]]]", "0.0.0.0.0.0.0.0", "7"},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		const char *got = TEXT(DT_SUBR_JSON, S(t[i].doc), S(t[i].path));

		if (t[i].want)
			CHECK_STR(got, t[i].want);
		else
			CHECK(got == NULL && !faulted(&prog));
	}
}

/* ---- network ---- */

static void test_network(void)
{
	static uint8_t v6[16] = {0xfe, 0x80, [15] = 1};

	CHECK(CALL(DT_SUBR_HTONS, I(0x11234)) == 0x3412);
	CHECK(CALL(DT_SUBR_NTOHS, I(0x1234)) == 0x3412);
	CHECK(CALL(DT_SUBR_HTONL, I(0x12345678)) == 0x78563412);
	CHECK(CALL(DT_SUBR_NTOHL, I(0x12345678)) == 0x78563412);
	CHECK(CALL(DT_SUBR_HTONLL, I(0x0102030405060708)) == 0x0807060504030201);
	CHECK(CALL(DT_SUBR_NTOHLL, I(0x0102030405060708)) == 0x0807060504030201);
	/* an address must be in memory the program can read, such as a constant string */
	CHECK_STR(TEXT(DT_SUBR_INET_NTOA, S("\x7f\1\2\3")), "127.1.2.3");
	CHECK_STR(TEXT(DT_SUBR_INET_NTOP, I(AF_INET), S("\x0a\1\1\1")), "10.1.1.1");
	CHECK_STR(TEXT(DT_SUBR_INET_NTOP, I(AF_INET6), S("0123456789abcdef")),
		  "3031:3233:3435:3637:3839:6162:6364:6566");
	CHECK(FAULT(DT_SUBR_INET_NTOP, I(99), S("\x0a\1\1\1")) == DT_FLT_ILLOP);
	CHECK(FAULT(DT_SUBR_INET_NTOA6, I((uintptr_t)v6)) == DT_FLT_BADADDR);
	CHECK(FAULT(DT_SUBR_INET_NTOA, NIL) == DT_FLT_BADADDR);

	prog = new_prog(); /* the bytes by copyin() */
	push_call(&prog, DT_SUBR_COPYIN, (struct arg[]){I((uintptr_t)v6), I(16), {END, NULL, 0}});
	emit(&prog, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 2));
	emit(&prog, DT_I_IDX(DT_OP_CALL, DT_SUBR_INET_NTOA6, 3));
	CHECK_STR(text(&prog, 3), "fe80::1");
}

/* ---- memory ---- */

static void test_copyin(void)
{
	static char user[] = "user text";
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *edge = two + page - 4;

	CHECK_STR(TEXT(DT_SUBR_COPYINSTR, I((uintptr_t)user)), "user text");
	CHECK_STR(TEXT(DT_SUBR_COPYINSTR, I((uintptr_t)user), I(4)), "user");
	CHECK_STR(TEXT(DT_SUBR_COPYINSTR, I((uintptr_t)user), I(0)), "");
	CHECK_STR(TEXT(DT_SUBR_COPYIN, I((uintptr_t)user), I(sizeof(user))), "user text");
	CHECK(FAULT(DT_SUBR_COPYIN, I(16), I(8)) == DT_FLT_BADADDR && prog.fault.value == 16);
	CHECK(FAULT(DT_SUBR_COPYIN, I((uintptr_t)user), I(1 << 30)) == DT_FLT_NOSCRATCH);
	CHECK(FAULT(DT_SUBR_COPYIN, I((uintptr_t)user), I(-1)) == DT_FLT_NOSCRATCH);
	CHECK(FAULT(DT_SUBR_COPYINSTR, I(16)) == DT_FLT_BADADDR);

	munmap(two + page,
	       (size_t)page); /* a string that ends just before the hole, and one that does not */
	memcpy(edge, "abc", 4);
	CHECK_STR(TEXT(DT_SUBR_COPYINSTR, I((uintptr_t)edge)), "abc");
	edge[3] = 'd';
	CHECK(FAULT(DT_SUBR_COPYINSTR, I((uintptr_t)edge)) == DT_FLT_BADADDR);
	munmap(two, (size_t)page);
}

/* alloca(16), then f(a, that) and the text there */
static const char *into_scratch(uint32_t subr, const struct arg *first, const struct arg *last,
				int place)
{
	prog = new_prog();
	set(&prog, 1, 16);
	emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 1));
	emit(&prog, DT_I_IDX(DT_OP_CALL, DT_SUBR_ALLOCA, 3));
	emit(&prog, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	for (int i = 0; i < 3; i++) {
		const struct arg *a = first->kind != END ? first++ : last;

		if (i == place)
			first--;
		else if (a->kind == STRING)
			sets(&prog, 1, a->s);
		else
			set(&prog, 1, a->n);
		emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, i == place ? 3 : 1));
	}
	emit(&prog, DT_I_IDX(DT_OP_CALL, subr, 4));
	return text(&prog, 3);
}

static void test_copies(void)
{
	static char user[] = "0123456";
	const struct arg none = {END, NULL, 0};

	CHECK_STR(into_scratch(DT_SUBR_BCOPY, (struct arg[]){S("abcdef"), I(4), none}, &none, 1),
		  "abcd");
	CHECK_STR(into_scratch(DT_SUBR_COPYINTO,
			       (struct arg[]){I((uintptr_t)user), I(5), I(0), none}, &none, 2),
		  "01234");
	CHECK_STR(into_scratch(DT_SUBR_COPYOUT, (struct arg[]){S("abcdef"), I(3), none}, &none, 1),
		  "abc");
	CHECK_STR(into_scratch(DT_SUBR_COPYOUTSTR, (struct arg[]){S("abc"), I(16), none}, &none, 1),
		  "abc");
	CHECK(FAULT(DT_SUBR_BCOPY, S("abc"), S("def"), I(3)) == DT_FLT_BADADDR);
	CHECK(FAULT(DT_SUBR_COPYOUT, S("abc"), I((uintptr_t)user), I(3)) == DT_FLT_BADADDR);
	CHECK_STR(user, "0123456"); /* the tracer's own memory is protected */
	CHECK(FAULT(DT_SUBR_ALLOCA, I(-1)) == DT_FLT_NOSCRATCH);
	CHECK(CALL(DT_SUBR_ALLOCA, I(8)) % 8 == 0);
}

static void test_memref_memstr(void)
{
	prog = new_prog();
	push_call(&prog, DT_SUBR_MEMREF, (struct arg[]){I(0x1234), I(77), {END, NULL, 0}});
	emit(&prog, DT_I_FMT(DT_OP_LDX, 2, 0, 3));
	set(&prog, 4, 8);
	emit(&prog, DT_I_FMT(DT_OP_ADD, 2, 4, 2));
	emit(&prog, DT_I_FMT(DT_OP_LDX, 2, 0, 4));
	emit(&prog, DT_I_FMT(DT_OP_ADD, 3, 4, 3));
	CHECK(result(&prog, 3) == 0x1234 + 77);

	prog = new_prog(); /* the string table holds "a" NUL "bc" NUL one after the other */
	sets(&prog, 1, "a");
	sets(&prog, 3, "bc");
	emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 1));
	set(&prog, 4, '-');
	emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 4));
	set(&prog, 4, 5);
	emit(&prog, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 4));
	emit(&prog, DT_I_IDX(DT_OP_CALL, DT_SUBR_MEMSTR, 5));
	CHECK_STR(text(&prog, 5), "a-bc");
	CHECK(FAULT(DT_SUBR_MEMSTR, S("x"), I('-'), I(5000)) == DT_FLT_ILLOP);
	CHECK(FAULT(DT_SUBR_MEMSTR, I(8), I('-'), I(5)) == DT_FLT_BADADDR);
	CHECK_STR(TEXT(DT_SUBR_MEMSTR, I(8), I('-'), I(0)), "");
}

/* ---- the rest ---- */

static void test_misc(void)
{
	static const uint32_t kernel[] = {
	    DT_SUBR_MUTEX_OWNED,     DT_SUBR_MUTEX_OWNER,    DT_SUBR_MUTEX_TYPE_ADAPTIVE,
	    DT_SUBR_MUTEX_TYPE_SPIN, DT_SUBR_RW_READ_HELD,   DT_SUBR_RW_WRITE_HELD,
	    DT_SUBR_RW_ISWRITER,     DT_SUBR_MSGDSIZE,	     DT_SUBR_MSGSIZE,
	    DT_SUBR_DDI_PATHNAME,    DT_SUBR_SX_SHARED_HELD, DT_SUBR_SX_EXCLUSIVE_HELD,
	    DT_SUBR_SX_ISEXCLUSIVE,
	};

	for (size_t i = 0; i < DT_NELEM(kernel); i++)
		CHECK(FAULT(kernel[i], I(0xffff888000001000)) == DT_FLT_BADADDR &&
		      prog.fault.value == 0xffff888000001000);
	CHECK(CALL(DT_SUBR_GETF, I(0)) == 0 && !faulted(&prog));
	CHECK(CALL(DT_SUBR_RAND, I(0)) <= INT32_MAX);
	CHECK(CALL(DT_SUBR_SPECULATION, I(0)) == 0); /* no session */
	CHECK(CALL(DT_SUBR_GETMAJOR, I(0x800001)) == 8);
	CHECK(CALL(DT_SUBR_GETMINOR, I(0x800001)) == 1);
	CHECK(CALL(DT_SUBR_PROGENYOF, I(getpid())) == 1);
	CHECK(CALL(DT_SUBR_PROGENYOF, I(getppid())) == (getppid() > 0));
	CHECK(CALL(DT_SUBR_PROGENYOF, I(-1)) == 0);
}

/* Every subroutine with no arguments at all: a fault or a value, never more. */
static void test_no_arguments(void)
{
	for (size_t i = 0; i < dt_nsubrs; i++) {
		prog = new_prog();
		emit(&prog, DT_I_IDX(DT_OP_CALL, dt_subrs[i].id, 1));
		run(&prog);
		CHECK(!faulted(&prog) || prog.fault.offset == 0);
	}
}

int main(void)
{
	test_strlen_strjoin();
	test_search();
	test_substr();
	test_strtok();
	test_convert();
	test_truncation();
	test_paths();
	test_cleanpath();
	test_json();
	test_network();
	test_copyin();
	test_copies();
	test_memref_memstr();
	test_misc();
	test_no_arguments();
	return unit_done();
}
