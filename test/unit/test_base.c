/* base: containers, text helpers, errors, options and stability. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/options.h"
#include "unit.h"

static jmp_buf oom_jmp;

static void oom(void *arg)
{
	longjmp(*(jmp_buf *)arg, 1);
}

static void test_arena(void)
{
	dt_arena *a = dt_arena_new();
	char *p = dt_arena_alloc(a, 100), *q = dt_arena_alloc(a, 0), *big;
	bool zero = true;

	CHECK(((uintptr_t)p & 15) == 0 && ((uintptr_t)q & 15) == 0 && p != q);
	for (int i = 0; i < 2000; i++) {
		unsigned char *x = dt_arena_alloc(a, (size_t)i);

		for (int j = 0; j < i; j++)
			zero &= x[j] == 0;
		memset(x, 0xff, (size_t)i);
	}
	CHECK(zero);
	big = dt_arena_alloc(a, 1 << 20);
	big[(1 << 20) - 1] = 1;
	CHECK(dt_arena_used(a) > 1 << 20);
	CHECK_STR(dt_arena_strdup(a, "abc"), "abc");
	CHECK_STR(dt_arena_strndup(a, "abcdef", 3), "abc");
	CHECK_STR(dt_arena_strndup(a, "ab", 30), "ab");
	CHECK_STR(dt_arena_printf(a, "%d-%s", 7, "x"), "7-x");
	CHECK(memcmp(dt_arena_dup(a, "xyz", 3), "xyz", 3) == 0);

	dt_arena_set_limit(a, dt_arena_used(a) + 1000, oom, &oom_jmp);
	if (setjmp(oom_jmp) == 0) {
		for (int i = 0; i < 100; i++)
			dt_arena_alloc(a, 100);
		CHECK(!"limit was not noticed");
	} else {
		CHECK(1);
	}
	if (setjmp(oom_jmp) == 0) {
		dt_arena_alloc(a, SIZE_MAX - 3);
		CHECK(!"absurd size was not noticed");
	}
	dt_arena_free(a);
	dt_arena_free(NULL);
}

static void test_vec_buf(void)
{
	DT_VEC(int) v = {0}, w = {0};
	dt_arena *a = dt_arena_new();
	dt_buf b = {0};
	char *s;

	for (int i = 0; i < 1000; i++) {
		*dt_vec_add(&v, NULL) = i;
		*dt_vec_add(&w, a) = -i;
	}
	CHECK(v.n == 1000 && v.v[999] == 999 && w.v[500] == -500);
	v.n--;
	CHECK(*dt_vec_add(&v, NULL) == 0); /* a reused slot is zeroed */
	dt_vec_free(&v);
	CHECK(v.v == NULL && v.n == 0);
	dt_arena_free(a);

	dt_buf_puts(&b, "");
	CHECK_STR(b.s, "");
	for (int i = 0; i < 100; i++)
		dt_buf_printf(&b, "%d,", i);
	dt_buf_putc(&b, '!');
	CHECK(b.n == strlen(b.s) && b.n == 291);
	dt_buf_reset(&b);
	CHECK_STR(b.s, "");
	s = dt_xasprintf("%0500d", 1);
	dt_buf_printf(&b, "%s", s);
	CHECK_STR(b.s, s);
	dt_buf_add(&b, "\0x", 2);
	CHECK(b.n == 502 && b.s[501] == 'x' && b.s[502] == '\0');
	free(s);
	dt_buf_free(&b);
	CHECK(b.s == NULL && b.n == 0);
}

static void test_map(void)
{
	dt_map *m = dt_map_new();
	const char *key;
	char name[32];
	uint32_t it = 0;
	void *value;
	int n = 0;
	bool ordered = true, right = true;

	CHECK(dt_map_get(m, "none") == NULL && dt_map_count(m) == 0);
	for (intptr_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "key%d", (int)i);
		dt_map_set(m, name, (void *)(i + 1));
	}
	dt_map_set(m, "key7", (void *)70);
	CHECK(dt_map_count(m) == 5000);
	CHECK(dt_map_get(m, "key7") == (void *)70);
	for (intptr_t i = 0; i < 5000; i += 2) {
		snprintf(name, sizeof(name), "key%d", (int)i);
		dt_map_del(m, name);
	}
	dt_map_del(m, "key0"); /* again */
	CHECK(dt_map_count(m) == 2500 && dt_map_get(m, "key0") == NULL);
	while (dt_map_next(m, &it, &key, &value)) {
		ordered &= atoi(key + 3) == 2 * n + 1;
		n++;
	}
	CHECK(n == 2500 && ordered);
	for (intptr_t i = 0; i < 5000; i++) { /* over the holes */
		snprintf(name, sizeof(name), "new%d", (int)i);
		dt_map_set(m, name, (void *)(i + 1));
	}
	for (intptr_t i = 1; i < 5000; i += 2) {
		snprintf(name, sizeof(name), "key%d", (int)i);
		right &= dt_map_get(m, name) == (void *)(i == 7 ? 70 : i + 1);
		snprintf(name, sizeof(name), "new%d", (int)i);
		right &= dt_map_get(m, name) == (void *)(i + 1);
	}
	CHECK(right && dt_map_count(m) == 7500);
	dt_map_free(m);
	CHECK(dt_hash_bytes("abc", 3) == dt_hash_bytes("abcd", 3));
	CHECK(dt_hash_bytes("abc", 3) != dt_hash_bytes("abd", 3));
	CHECK(dt_hash_bytes("", 0) != dt_hash_bytes("\0", 1));
}

static void test_nearest(void)
{
	static const char *const names[] = {"execname", "execargs", "timestamp", "pid",
					    "tid",	"quiet",    "arg0"};
	size_t n = DT_NELEM(names);
	char longer[200];

	CHECK_STR(dt_nearest("execnmae", names, n), "execname");
	CHECK_STR(dt_nearest("Quiet", names, n), "quiet");
	CHECK_STR(dt_nearest("timestmp", names, n), "timestamp");
	CHECK_STR(dt_nearest("pid", names, n), "pid");
	CHECK(dt_nearest("zzzzzz", names, n) == NULL);
	CHECK(dt_nearest("", names, n) == NULL);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(dt_nearest(longer, names, n) == NULL);
}

static void test_glob(void)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} t[] = {
	    {"", "", true},
	    {"", "a", false},
	    {"*", "", true},
	    {"*", "anything", true},
	    {"vfs_*", "vfs_read", true},
	    {"vfs_*", "vfs", false},
	    {"*read", "vfs_read", true},
	    {"*r*d", "vfs_read", true},
	    {"?at", "cat", true},
	    {"?at", "at", false},
	    {"[abc]x", "bx", true},
	    {"[abc]x", "dx", false},
	    {"[a-c]x", "bx", true},
	    {"[!a-c]x", "bx", false},
	    {"[!a-c]x", "zx", true},
	    {"[]]", "]", true},
	    {"[!]]", "]", false},
	    {"[a-]", "-", true},
	    {"[abc", "[abc", true},
	    {"[abc", "a", false},
	    {"\\*", "*", true},
	    {"\\*", "a", false},
	    {"a\\", "a\\", true},
	    {"[\\]]", "]", true},
	    {"a**b", "axxb", true},
	    {"*a*b*c*", "xxaxxbxxcxx", true},
	    {"*ab", "aab", true},
	    {"*.[ch]", "x.c", true},
	    {"*.[ch]", "x.cc", false},
	    {"[z-a]", "m", false},
	};
	char text[4001], pattern[401];

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		CHECK(dt_glob_match(t[i].pattern, t[i].text) == t[i].match);
		if (dt_glob_match(t[i].pattern, t[i].text) != t[i].match)
			printf("\t%s against %s\n", t[i].pattern, t[i].text);
	}
	/* The worst case of matchers that backtrack into every star. */
	memset(text, 'a', 4000);
	text[4000] = '\0';
	for (int i = 0; i < 400; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[399] = 'b';
	pattern[400] = '\0';
	CHECK(!dt_glob_match(pattern, text));
	CHECK(dt_glob_is_pattern("a*") && dt_glob_is_pattern("\\a") && dt_glob_is_pattern("[x]"));
	CHECK(!dt_glob_is_pattern("vfs_read"));
}

static void test_escapes(void)
{
	static const struct {
		const char *in, *out;
		size_t n;
	} t[] = {
	    {"plain", "plain", 5},
	    {"a\\nb", "a\nb", 3},
	    {"\\\"\\\\", "\"\\", 2},
	    {"\\101\\60", "A0", 2},
	    {"\\x41\\x041", "AA", 2},
	    {"\\x", "\\x", 2},
	    {"\\q", "\\q", 2},
	    {"end\\", "end\\", 4},
	    {"\\0x", "\0x", 2},
	    {"\\1234", "S4", 2},
	    {"\\a\\b\\f\\r\\t\\v", "\a\b\f\r\t\v", 6},
	};
	dt_buf b = {0};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		char s[64];
		size_t n;

		strcpy(s, t[i].in);
		n = dt_unescape(s, strlen(s));
		CHECK(n == t[i].n && memcmp(s, t[i].out, n) == 0);
	}
	dt_buf_escape(&b, "a\n\"\\\x01\x7f\xff z", 9);
	CHECK_STR(b.s, "a\\n\\\"\\\\\\001\\177\\377 z");
	dt_buf_reset(&b);
	dt_buf_escape(&b, "ab\0cd", 5);
	CHECK_STR(b.s, "ab\\0");
	dt_buf_free(&b);
}

static void test_errors(void)
{
	dt_error e;

	CHECK(EDT_VERSION == 1000 && EDT_CANTLOAD == 1075);
	CHECK(dt_err(&e, EDT_ACTIVE, NULL) == -1 && e.code == EDT_ACTIVE);
	CHECK_STR(e.text, "Operation illegal when tracing is active");
	CHECK_STR(dt_strerror(EDT_BUFTOOSMALL), "Enabling exceeds size of buffer");
	CHECK_STR(dt_strerror(EDT_ENDTOOBIG), "END enablings exceed size of principal buffer");
	CHECK_STR(dt_strerror(EDT_NOANON), "No anonymous tracing state");
	CHECK_STR(dt_strerror(EDT_BRICKED), "Abort due to systemic unresponsiveness");
	CHECK_STR(dt_strerror(EDT_DESTRUCTIVE), "Destructive actions not allowed");
	CHECK_STR(dt_strerror(ENOENT), "No such file or directory");
	CHECK_STR(dt_strerror(99999), "Unknown error");
	CHECK_STR(dt_strerror(-5), "Unknown error");
	CHECK(dt_tag_name(DT_NO_TAG) == NULL);
	CHECK_STR(dt_tag_name(D_UNKNOWN), "D_UNKNOWN");
	CHECK_STR(dt_tag_name(D_PROC_FUNC), "D_PROC_FUNC");
	dt_err(&e, ENOENT, "%s: line\nbreak", e.text);
	CHECK_STR(e.text, "Operation illegal when tracing is active: line break");
	CHECK(e.tag == DT_NO_TAG && e.pos.line == 0 && e.source[0] == '\0');
	CHECK(dt_err(NULL, 1, "x") == -1);
}

/* Set and return the code; 0 when it was accepted. */
static int set(dt_options *o, const char *name, const char *value, enum dt_opt_when when)
{
	dt_error e;

	return dt_options_set(o, name, value, when, &e) == 0 ? 0 : e.code;
}

static void test_option_values(dt_options *o)
{
	static const struct {
		const char *name, *value;
		enum dt_opt_id id;
		int code;
		uint64_t want;
	} t[] = {
	    {"bufsize", "4m", DT_O_BUFSIZE, 0, 4 << 20},
	    {"bufsize", "16K", DT_O_BUFSIZE, 0, 16 << 10},
	    {"bufsize", "1t", DT_O_BUFSIZE, 0, 1ull << 40},
	    {"bufsize", "0x100", DT_O_BUFSIZE, 0, 256},
	    {"bufsize", "4mb", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", "-4", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", " 4k", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", "", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", "8388608t", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", "99999999999999999999", DT_O_BUFSIZE, EDT_BADOPTVAL, 256},
	    {"bufsize", "7", DT_O_BUFSIZE, 0, 7},
	    {"strsize", "0", DT_O_STRSIZE, EDT_BADOPTVAL, 256},
	    {"switchrate", "10hz", DT_O_SWITCHRATE, 0, 100000000},
	    {"switchrate", "5HZ", DT_O_SWITCHRATE, 0, 200000000},
	    {"switchrate", "3sec", DT_O_SWITCHRATE, 0, 3000000000ull},
	    {"switchrate", "250ms", DT_O_SWITCHRATE, 0, 250000000},
	    {"switchrate", "2min", DT_O_SWITCHRATE, 0, 120000000000ull},
	    {"switchrate", "1d", DT_O_SWITCHRATE, 0, 86400000000000ull},
	    {"switchrate", "17", DT_O_SWITCHRATE, 0, 17},
	    {"switchrate", "0hz", DT_O_SWITCHRATE, EDT_BADOPTVAL, 17},
	    {"switchrate", "1fortnight", DT_O_SWITCHRATE, EDT_BADOPTVAL, 17},
	    {"switchrate", "9999999999d", DT_O_SWITCHRATE, EDT_BADOPTVAL, 17},
	    {"cleanrate", "1us", DT_O_CLEANRATE, 0, 1000}, /* until tracing starts */
	    {"cleanrate", "1h", DT_O_CLEANRATE, 0, 3600000000000ull},
	    {"statusrate", "1h", DT_O_STATUSRATE, 0, 3600000000000ull},
	    {"quiet", NULL, DT_O_QUIET, 0, 1},
	    {"quiet", "off", DT_O_QUIET, 0, 0},
	    {"quiet", "Enabled", DT_O_QUIET, 0, 1},
	    {"quiet", "unset", DT_O_QUIET, 0, 0},
	    {"quiet", "maybe", DT_O_QUIET, EDT_BADOPTVAL, 0},
	    {"bufpolicy", "ring", DT_O_BUFPOLICY, 0, 0},
	    {"bufpolicy", "switch", DT_O_BUFPOLICY, 0, 2},
	    {"bufpolicy", "rin", DT_O_BUFPOLICY, EDT_BADOPTVAL, 2},
	    {"bufpolicy", "", DT_O_BUFPOLICY, EDT_BADOPTVAL, 2},
	    {"bufpolicy", "ring|fill", DT_O_BUFPOLICY, EDT_BADOPTVAL, 2},
	    {"bufpolicy", NULL, DT_O_BUFPOLICY, EDT_BADOPTVAL, 2},
	    {"nspec", "3", DT_O_NSPEC, 0, 3},
	    {"nspec", "3k", DT_O_NSPEC, EDT_BADOPTVAL, 3},
	    {"iregs", "0", DT_O_IREGS, EDT_BADOPTVAL, 8},
	    {"amin", "Evolving/Stable/ISA", DT_O_AMIN, 0, 5 << 16 | 6 << 8 | 4},
	    {"amin", "Evolving/Stable", DT_O_AMIN, EDT_BADOPTVAL, 5 << 16 | 6 << 8 | 4},
	    {"version", "1.2", DT_O_VERSION, 0, DT_VERSION(1, 2, 0)},
	    {"version", "1.x", DT_O_VERSION, EDT_VERSINVAL, DT_VERSION(1, 2, 0)},
	    {"version", "9.1", DT_O_VERSION, EDT_VERSUNDEF, DT_VERSION(1, 2, 0)},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		int code = set(o, t[i].name, t[i].value, DT_WHEN_OPEN);

		CHECK(code == t[i].code && dt_opt(o, t[i].id) == t[i].want);
		if (code != t[i].code || dt_opt(o, t[i].id) != t[i].want)
			printf("\t%s=%s: code %d, value %llu\n", t[i].name, t[i].value, code,
			       (unsigned long long)dt_opt(o, t[i].id));
	}
	CHECK(dt_options_settle(o, &(dt_error){0}) == 0);
	CHECK(dt_opt(o, DT_O_CLEANRATE) == 60000000000ull && dt_opt(o, DT_O_STATUSRATE) == 10000000000ull);
	CHECK(set(o, "cleanrate", "1us", DT_WHEN_OPEN) == 0 && dt_options_settle(o, &(dt_error){0}) == 0);
	CHECK(dt_opt(o, DT_O_CLEANRATE) == 200000);
}

static void test_options(void)
{
	dt_options o;
	dt_error e;

	dt_options_init(&o);
	CHECK(dt_opt(&o, DT_O_STRSIZE) == 256 && !o.is_set[DT_O_STRSIZE]);
	CHECK(dt_opt(&o, DT_O_DYNVARSIZE) == 4 << 20 && dt_opt(&o, DT_O_CLEANRATE) == 9900990);
	CHECK(dt_opt(&o, DT_O_EVALTIME) == 1 && dt_opt(&o, DT_O_BUFPOLICY) == 2);
	CHECK_STR(o.text[DT_O_CPPPATH], "cpp");
	test_option_values(&o);
	CHECK(o.is_set[DT_O_QUIET] && !o.is_set[DT_O_IREGS]);

	CHECK(set(&o, "define", "A=1", DT_WHEN_OPEN) == 0);
	CHECK(set(&o, "define", "B", DT_WHEN_OPEN) == 0);
	CHECK(o.list[DT_O_DEFINE].n == 2);
	CHECK_STR(o.list[DT_O_DEFINE].v[1], "B");
	CHECK(set(&o, "cpppath", "/bin/a", DT_WHEN_OPEN) == 0);
	CHECK(set(&o, "cpppath", "/bin/b", DT_WHEN_OPEN) == 0);
	CHECK_STR(o.text[DT_O_CPPPATH], "/bin/b");

	CHECK(dt_options_set(&o, "bufsiz", "1", DT_WHEN_OPEN, &e) == -1);
	CHECK(e.code == EDT_BADOPTNAME);
	CHECK(strstr(e.text, "; did you mean \"bufsize\"?") != NULL);
	CHECK(dt_options_set(&o, "xyzzy", "1", DT_WHEN_OPEN, &e) == -1);
	CHECK(e.code == EDT_BADOPTNAME && strstr(e.text, "did you mean") == NULL);
	CHECK(dt_options_find("nolibs") == DT_O_NOLIBS && dt_options_find("") == -1);

	CHECK(set(&o, "cpp", NULL, DT_WHEN_PRAGMA) == EDT_BADOPTCTX);
	CHECK(set(&o, "zdefs", NULL, DT_WHEN_PRAGMA) == 0);
	CHECK(set(&o, "defaultargs", NULL, DT_WHEN_PRAGMA) == 0);
	CHECK(set(&o, "strsize", "64", DT_WHEN_PRAGMA) == 0);
	CHECK(set(&o, "strsize", "64", DT_WHEN_TRACING) == EDT_ACTIVE);
	CHECK(set(&o, "zdefs", NULL, DT_WHEN_TRACING) == EDT_ACTIVE);
	CHECK(set(&o, "quiet", NULL, DT_WHEN_TRACING) == 0);
	dt_options_free(&o);
}

static void test_attr(void)
{
	dt_attr a, b = {DT_STAB_PRIVATE, DT_STAB_STANDARD, DT_CLASS_UNKNOWN}, c;
	dt_buf s = {0};
	uint64_t v;

	CHECK(dt_attr_parse("Evolving/stable/Common", &a) == 0);
	CHECK(a.name == DT_STAB_EVOLVING && a.data == DT_STAB_STABLE &&
	      a.class_ == DT_CLASS_COMMON);
	CHECK(dt_attr_parse("Evolving/Evolving", &c) == -1);
	CHECK(dt_attr_parse("Evolving/Evolving/Common/x", &c) == -1);
	CHECK(dt_attr_parse("Common/Evolving/Evolving", &c) == -1);
	CHECK(dt_attr_parse("", &c) == -1);
	c = dt_attr_min(a, b);
	dt_attr_format(c, &s);
	CHECK_STR(s.s, "Private/Stable/Unknown");
	CHECK(dt_attr_below(c, a) && !dt_attr_below(a, c) && !dt_attr_below(a, a));
	dt_buf_free(&s);
	CHECK(dt_version_parse("1.14", &v) == 0 && v == DT_VERSION_CURRENT);
	CHECK(dt_version_parse("1.2.3", &v) == 0 && v == DT_VERSION(1, 2, 3));
	CHECK(dt_version_parse("1", &v) == -1 && dt_version_parse("1.2.3.4", &v) == -1);
	CHECK(dt_version_parse("1.", &v) == -1 && dt_version_parse("256.1", &v) == -1);
}

/* ---- names for a terminal ---- */

static void safe(const char *from, bool lines, const char *want)
{
	char text[128];

	strcpy(text, from);
	dt_make_safe(text, strlen(text), lines);
	CHECK_STR(text, want);
}

static void test_safe(void)
{
	dt_error err;

	safe("plain_name.so.6", false, "plain_name.so.6");
	safe("gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80", false, "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80");
	safe("a\033[2J\n\t\r\x7f", false, "a?[2J????");
	safe("a\033[2J\n\t\r\x7f", true, "a?[2J\n\t??");
	safe("\xc2\x9b" "1m\x9b" "1m\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xe2\x82\xac", false, "??1m?1m?????????\xe2\x82\xac");
	safe("cut \xe2\x80", false, "cut \xe2?");
	safe("wrong \xc3\x28 \xff \xc0\x80", false, "wrong \xc3( \xff \xc0?");
	dt_err(&err, ENOENT, "/tmp/%s: no such file", "a\033[2J\nb\xc2\x9b");
	CHECK_STR(err.text, "/tmp/a?[2J b??: no such file");
}

/* ---- limits of control groups ---- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The limit of the groups in `self`, in MB; -1: none. */
static long group_mb(const char *dir, const char *self)
{
	char path[512];
	uint64_t limit;

	put(dir, "self", self);
	snprintf(path, sizeof(path), "%s/self", dir);
	limit = dt_memory_group_limit(path, dir);
	return limit == UINT64_MAX ? -1 : (long)(limit >> 20);
}

static void test_memory(void)
{
	char dir[] = "/tmp/dt-groups-XXXXXX", command[64];
	uint64_t mb = 1 << 20;

	CHECK(mkdtemp(dir));
	put(dir, "a/memory.max", "67108864\n");
	put(dir, "a/b/memory.max", "max\n");
	put(dir, "a/b/memory.high", "max\n");
	put(dir, "a/c/memory.max", "33554432\n");
	put(dir, "a/c/memory.high", "12582912\n");
	put(dir, "memory/d/memory.limit_in_bytes", "16777216\n");
	put(dir, "memory/d/e/memory.limit_in_bytes", "9223372036854771712\n");
	CHECK(group_mb(dir, "0::/\n") == -1);
	CHECK(group_mb(dir, "0::/a\n") == 64 && group_mb(dir, "0::/a/b\n") == 64);
	CHECK(group_mb(dir, "0::/a/c\n") == 12);
	CHECK(group_mb(dir, "0::/a/b/none/at:all\n") == 64);
	CHECK(group_mb(dir, "3:cpu,memory:/d/e\n1:name=systemd:/a\n0::/\n") == 16);
	CHECK(group_mb(dir, "3:cpu:/d/e\n") == -1);
	CHECK(group_mb(dir, "") == -1 && group_mb(dir, "x\n:\n") == -1 && group_mb(dir, "0::/../a\n") == -1);
	put(dir, "memory.max", "25165824\n"); /* a container's own group as the root of what is mounted */
	CHECK(group_mb(dir, "0::/outside/of/it\n") == 24);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(system(command) == 0);
	CHECK(dt_memory_share(1024 * mb, UINT64_MAX) == 256 * mb);
	CHECK(dt_memory_share(1024 * mb, 12 * mb) == mb);
	CHECK(dt_memory_share(1024 * mb, 64 * mb) == 10 * mb);
	CHECK(dt_memory_for_buffers() > 0);
}

int main(void)
{
	test_safe();
	test_memory();
	test_arena();
	test_vec_buf();
	test_map();
	test_nearest();
	test_glob();
	test_escapes();
	test_errors();
	test_options();
	test_attr();
	return unit_done();
}
