/* The glance at D text that decides which libraries a program needs. */
#include "session/session.h"
#include "unit.h"

static bool uses(const char *text, const char *name)
{
	dt_map *m = dt_map_new();
	bool found;

	dt_words_used(text, strlen(text), m);
	found = dt_map_get(m, name) != NULL;
	dt_map_free(m);
	return found;
}

static bool defines(const char *text, const char *name)
{
	dt_map *m = dt_map_new();
	bool found;

	dt_words_defined(text, strlen(text), m);
	found = dt_map_get(m, name) != NULL;
	dt_map_free(m);
	return found;
}

static void test_used(void)
{
	CHECK(uses("BEGIN { trace(EPERM); }", "EPERM"));
	CHECK(uses("BEGIN /errno == EPERM/ { }", "EPERM"));
	CHECK(uses(":::BEGIN /EPERM/ { }", "EPERM"));
	CHECK(uses("inline int x = EPERM;", "EPERM"));
	CHECK(uses("foo_t y; BEGIN { }", "foo_t"));
	CHECK(uses("BEGIN { trace(((foo_t *)0)->a); }", "foo_t"));
	CHECK(uses("BEGIN { if (EPERM) { x = 1; } else y = ESRCH; }", "ESRCH"));
	CHECK(uses("translator a_t <b_t *p> { m = p->x; };", "b_t"));
	CHECK(uses("BEGIN { a = 1; } END { trace(b); }", "b"));
	/* not identifiers, or the program's own */
	CHECK(!uses("syscall::open:entry, syscall::close:entry { }", "open"));
	CHECK(!uses("BEGIN", "BEGIN"));
	CHECK(!uses("BEGIN { } END { }", "END"));
	CHECK(!uses("BEGIN { x = 1; trace(x); }", "x"));
	CHECK(!uses("BEGIN { x[1, \"]\"] = 1; trace(x[1]); }", "x"));
	CHECK(!uses("BEGIN { x += 1; y++; trace(y); }", "y"));
	CHECK(!uses("int x; BEGIN { trace(x); }", "x"));
	CHECK(!uses("int x[int, foo_t]; BEGIN { trace(x[0, 1]); }", "x"));
	CHECK(!uses("BEGIN { trace(self->x); trace(this->x); trace(p->x.x); @x = count(); }", "x"));
	CHECK(!uses("BEGIN { trace(`x); trace($x); }", "x"));
	CHECK(!uses("BEGIN { /* EPERM */ } // EPERM\n#pragma D EPERM\nEND { trace(\"EPERM\"); }",
		    "EPERM"));
	/* odd ends must not be read past */
	CHECK(!uses("", "x"));
	CHECK(!uses(">x", "y"));
	CHECK(!uses("BEGIN { trace(\"", "y"));
	CHECK(!uses("/*", "y"));
	CHECK(!uses("]]]]}}}}", "y"));
}

static void test_defined(void)
{
	CHECK(defines("inline int EPERM = 1;", "EPERM"));
	CHECK(defines("inline string f[int a] = g[a];", "f"));
	CHECK(!defines("inline string f[int a] = g[a];", "g"));
	CHECK(defines("typedef struct foo { int bar; } foo_t;", "foo_t"));
	CHECK(defines("typedef struct foo { int bar; } foo_t;", "foo"));
	CHECK(!defines("typedef struct foo { int bar; } foo_t;", "bar"));
	CHECK(defines("enum e { RED, GREEN = 3, BLUE };", "BLUE"));
	CHECK(defines("translator foo_t < struct task_struct *T > { a = T->pid; };", "foo_t"));
	CHECK(
	    !defines("translator foo_t < struct task_struct *T > { a = T->pid; };", "task_struct"));
	CHECK(defines("typedef int (*fn_t)(int);", "fn_t"));
	CHECK(defines("#pragma D depends_on provider io\n", "provider io"));
}

static void test_region(void)
{
	static const char text[] = "a:::b /c == d/ { trace(e); }";

	CHECK(dt_words_region(text, strlen(text), 1, 1) == NULL);
	CHECK_STR(dt_words_region(text, strlen(text), 1, 8), "in predicate: ");
	CHECK_STR(dt_words_region(text, strlen(text), 1, 18), "in action list: ");
	CHECK_STR(dt_words_region("a {", 3, 1, 4), "in action list: ");
	CHECK(dt_words_region("", 0, 1, 1) == NULL);
	CHECK(dt_words_region("a", 1, 9, 99) == NULL);
}

int main(void)
{
	test_used();
	test_defined();
	test_region();
	return unit_done();
}
