/*
 * test_shedding: option overhead: the order in which work is left out, how far at once, when it comes back, and when
 * tracing ends.
 */
#include "engine/shedding.h"
#include "unit.h"

#define CHECK_EVERY 100000000ull

static uint64_t now = 1000;

/* What one more check leads to: "quiet 1/rate 1/sample ended" */
static const char *check(struct dt_shedder *s, uint64_t cost, uint64_t clocks)
{
	static char text[64];

	now += CHECK_EVERY;
	dt_shedder_check(s, now, cost, clocks);
	snprintf(text, sizeof(text), "%d %u %u %d", s->now.quiet, s->now.rate, s->now.sample, s->now.ended);
	return text;
}

static void test_order(void)
{
	struct dt_shedder s;

	dt_shedder_init(&s, 20000);
	s.has_printing = s.has_clocks = s.has_sampled = true;
	CHECK_STR(check(&s, 20000, 0), "0 1 1 0"); /* the budget itself is allowed */
	CHECK_STR(check(&s, 20001, 20000), "1 1 1 0");
	CHECK_STR(check(&s, 50000, 20000), "1 4 1 0"); /* as far as the cost asks for */
	CHECK(s.now.cost == 50000);
	CHECK_STR(check(&s, 30000, 20000), "1 8 1 0");
	CHECK_STR(check(&s, 30000, 5000), "1 8 2 0"); /* profile is not what costs */
	CHECK_STR(check(&s, 1000000, 1000000), "1 64 2 0");
	CHECK_STR(check(&s, 1000000, 1000000), "1 64 128 0");
	CHECK_STR(check(&s, 1000000, 1000000), "1 64 1024 0");
	for (int i = 0; i < 9; i++)
		CHECK_STR(check(&s, 30000, 0), "1 64 1024 0");
	CHECK_STR(check(&s, 20000, 0), "1 64 1024 0"); /* so it counts from the start again */
	for (int i = 0; i < 9; i++)
		CHECK_STR(check(&s, 30000, 0), "1 64 1024 0");
	CHECK_STR(check(&s, 30000, 0), "1 64 1024 1");
	CHECK_STR(check(&s, 0, 0), "1 64 1024 1");
}

static void test_what_there_is(void)
{
	struct dt_shedder s;

	dt_shedder_init(&s, 1);
	s.has_sampled = true;
	CHECK_STR(check(&s, 1000000, 1000000), "0 1 1024 0");
	dt_shedder_init(&s, 1);
	for (int i = 0; i < 9; i++)
		CHECK_STR(check(&s, 2, 0), "0 1 1 0");
	CHECK_STR(check(&s, 2, 0), "0 1 1 1");
}

static int checks_until(struct dt_shedder *s, uint64_t cost, const char *want)
{
	int n = 1;

	while (strcmp(check(s, cost, 0), want) != 0 && n < 10000)
		n++;
	return n;
}

static void test_restore(void)
{
	struct dt_shedder s;

	dt_shedder_init(&s, 1000);
	s.has_printing = s.has_clocks = s.has_sampled = true;
	check(&s, 1500, 1500);
	check(&s, 1500, 1500);
	check(&s, 3500, 0);
	CHECK_STR(check(&s, 0, 0), "1 2 4 0");
	CHECK(checks_until(&s, 500, "1 2 2 0") == 50);
	CHECK(s.now.cost == 500);
	CHECK(checks_until(&s, 500, "1 2 1 0") == 100);
	CHECK_STR(check(&s, 501, 0), "1 2 1 0"); /* that is too much to take anything back */
	CHECK(checks_until(&s, 500, "1 1 1 0") == 201);
	CHECK(checks_until(&s, 500, "0 1 1 0") == 400);
	CHECK(checks_until(&s, 500, "nothing more") == 10000);
	CHECK_STR(check(&s, 1001, 0), "1 1 1 0");
	CHECK(checks_until(&s, 0, "0 1 1 0") == 801);
}

int main(void)
{
	test_order();
	test_what_there_is();
	test_restore();
	return unit_done();
}
