/* Probe descriptions: what the text means, and how long each field may be. */
#include "dif/dif.h"
#include "unit.h"

static dt_arena *arena;
static dt_error err;

static const char *upper(void *arg, const char *field)
{
	char *s = dt_arena_strdup(arg, field);

	if (*s == '$')
		*s = 'X';
	return s;
}

static const char *parse(const char *text, int last)
{
	struct dt_pdesc_input in = {
	    .text = text, .last = last, .arena = arena, .expand = upper, .arg = arena};
	dt_probedesc d;

	memset(&err, 0, sizeof(err));
	if (dt_pdesc_parse(&in, &d, &err) < 0)
		return err.text;
	return dt_arena_printf(arena, "%u %s|%s|%s|%s", d.id, d.prov, d.mod, d.func, d.name);
}

/* A description whose given field has n characters. */
static const char *with_length(int field, size_t n)
{
	dt_buf b = {0};
	const char *text;

	for (int i = 0; i < DT_PDESC_NFIELDS; i++) {
		if (i)
			dt_buf_putc(&b, ':');
		for (size_t k = 0; i == field && k < n; k++)
			dt_buf_putc(&b, 'x');
	}
	text = dt_arena_strdup(arena, b.s);
	dt_buf_free(&b);
	return text;
}

static void test_limits(void)
{
	static const size_t limits[] = {63, 63, 191, 63};

	for (int i = 0; i < DT_PDESC_NFIELDS; i++) {
		CHECK(dt_pdesc_fields[i].max == limits[i]);
		parse(with_length(i, limits[i]), DT_PDESC_NAME);
		CHECK(!err.code);
		CHECK_STR(parse(with_length(i, limits[i] + 1), DT_PDESC_NAME),
			  dt_arena_printf(arena, "the %s is longer than %zu characters",
					  dt_pdesc_fields[i].name, limits[i]));
		CHECK(err.code == EDT_BADSPEC && err.tag == D_PDESC_INVAL);
	}
}

/* With a field for machines. */
static const char *far(const char *text, int last)
{
	struct dt_pdesc_input in = {.text = text, .last = last, .arena = arena, .machines = true};
	dt_probedesc d;

	memset(&err, 0, sizeof(err));
	if (dt_pdesc_parse(&in, &d, &err) < 0)
		return err.text;
	return dt_arena_printf(arena, "%s/%s|%s|%s|%s", d.machine ? d.machine : "-", d.prov, d.mod, d.func, d.name);
}

static void test_machines(void)
{
	CHECK_STR(far("web-*:a:b:c:d", DT_PDESC_NAME), "web-*/a|b|c|d");
	CHECK_STR(far("*::::", DT_PDESC_NAME), "*/|||");
	CHECK_STR(far("a:b:c:d", DT_PDESC_NAME), "-/a|b|c|d");
	CHECK_STR(far("web-1:a:b:c", DT_PDESC_FUNC), "web-1/a|b|c|");
	CHECK_STR(far("web-1:a", DT_PDESC_PROV), "web-1/a|||");
	CHECK_STR(far(":a:b:c:d", DT_PDESC_NAME), "the name of the machines is empty or too long");
	CHECK_STR(far("x:a:b:c:d:e", DT_PDESC_NAME), "Overspecified probe description");
}

int main(void)
{
	arena = dt_arena_new();
	test_machines();
	CHECK_STR(parse("a:b:c:d", DT_PDESC_NAME), "0 a|b|c|d");
	CHECK_STR(parse("d", DT_PDESC_NAME), "0 |||d");
	CHECK_STR(parse("c:d", DT_PDESC_NAME), "0 ||c|d");
	CHECK_STR(parse("::c:", DT_PDESC_NAME), "0 ||c|");
	CHECK_STR(parse("", DT_PDESC_NAME), "0 |||");
	CHECK_STR(parse(" a : b :c: d ", DT_PDESC_NAME), "0 a|b|c|d");
	CHECK_STR(parse("a:b:c", DT_PDESC_FUNC), "0 a|b|c|");
	CHECK_STR(parse("b", DT_PDESC_MOD), "0 |b||");
	CHECK_STR(parse("a", DT_PDESC_PROV), "0 a|||");
	CHECK_STR(parse("pid:$1::$2", DT_PDESC_NAME), "0 pid|X1||X2");
	CHECK_STR(parse("a:b:c:d:e", DT_PDESC_NAME), "Overspecified probe description (five parts, the first one machines: use -E)");
	CHECK_STR(parse("a:b:c:d:e:f", DT_PDESC_NAME), "Overspecified probe description");
	CHECK_STR(parse("a:b", DT_PDESC_PROV), "Overspecified probe description");
	CHECK_STR(parse("a b", DT_PDESC_NAME), "it contains blanks or control characters");
	/* a number is an id, where a name may stand */
	CHECK_STR(parse("12", DT_PDESC_NAME), "12 |||");
	CHECK_STR(parse("12", DT_PDESC_FUNC), "0 ||12|");
	CHECK_STR(parse(":12", DT_PDESC_NAME), "0 |||12");
	CHECK_STR(parse("4294967295", DT_PDESC_NAME), "4294967295 |||");
	CHECK_STR(parse("4294967296", DT_PDESC_NAME), "this is not a probe id");
	CHECK_STR(parse("0", DT_PDESC_NAME), "this is not a probe id");
	test_limits();
	dt_arena_free(arena);
	return unit_done();
}
