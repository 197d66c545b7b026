/*
 * test_record_plan: the plan of a clause for both engines: roles, sizes, costs, reserves.
 */
#include "engine/record_plan.h"
#include "unit.h"

static dt_difo number = {.rtype = {.size = 8}};
static dt_difo text = {.rtype = {.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = 256}};
static dt_difo short_text = {
    .rtype = {.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = 256}, .bound = 16};

#define PLAN(p, acts)                                                                              \
	dt_clause p##_c = {.actions = (acts), .nactions = DT_NELEM(acts)};                         \
	dt_record_plan p;                                                                          \
	CHECK(dt_record_plan_make(&p, &p##_c, arena, &err) == 0)

static dt_arena *arena;
static dt_error err;

static void test_data(void)
{
	dt_action acts[] = {
	    {.kind = DT_ACT_DIFEXPR, .difo = &number, .size = 4, .align = 4},
	    {.kind = DT_ACT_PRINTF, .difo = &short_text, .size = 256, .align = 1},
	    {.kind = DT_ACT_DIFEXPR, .difo = &number}, /* for its effect */
	    {.kind = DT_ACT_STACK, .size = 40, .align = 8},
	    {.kind = DT_ACT_EXIT, .difo = &number, .size = 4, .align = 4},
	};
	PLAN(p, acts);

	CHECK(p.actions[0].role == DT_ROLE_DATA && p.actions[0].offset == 0);
	CHECK(p.actions[1].role == DT_ROLE_DATA && p.actions[1].offset == 4);
	CHECK(p.actions[1].is_string && p.actions[1].bound == 16);
	CHECK(p.actions[2].role == DT_ROLE_EFFECT);
	CHECK(p.actions[3].role == DT_ROLE_DATA && p.actions[3].offset == 24);
	CHECK(!p.actions[3].is_string && p.actions[3].bound == 40);
	CHECK(p.actions[3].payload == DT_PAYLOAD_STACK);
	CHECK(p.actions[4].offset == 64 && p.actions[4].effect == DT_EFFECT_EXIT);
	CHECK(p.parts[0].data_size == 68 && p.cost == 320); /* 12, 4, 256, 40, 4 as the user counts; by 8 */
	CHECK(p.exits && !p.speculates);
}

/* What is recorded without data, and what is not. */
static void test_default(void)
{
	dt_action speculate[] = {{.kind = DT_ACT_SPECULATE, .difo = &number},
				 {.kind = DT_ACT_DIFEXPR, .difo = &number}};
	dt_action nothing[] = {{.kind = DT_ACT_CHILL, .difo = &number},
			       {.kind = DT_ACT_DIFEXPR, .difo = &number}};
	dt_action shown[] = {{.kind = DT_ACT_PRINTF}};
	dt_clause empty = {0}, alone = {.actions = speculate, .nactions = 1};
	dt_record_plan p;

	CHECK(dt_record_plan_make(&p, &empty, arena, &err) == 0 && p.cost == 12);
	CHECK(dt_record_plan_make(&p, &alone, arena, &err) == 0 && p.cost == 12 && p.speculates);
	PLAN(two, speculate);
	CHECK(two.cost == 0);
	PLAN(none, nothing);
	CHECK(none.cost == 0 && none.parts[0].data_size == 0);
	PLAN(seen, shown);
	CHECK(seen.cost == 24 && seen.actions[0].role == DT_ROLE_EFFECT);
}

static void test_keys(void)
{
	dt_agg agg = {.id = 1, .func = DT_ACT_COUNT, .nkeys = 2}, *list[] = {&agg};
	dt_action acts[] = {
	    {.kind = DT_ACT_DIFEXPR, .difo = &number, .size = 8, .align = 8},
	    {.kind = DT_ACT_DIFEXPR, .difo = &number, .size = 4, .align = 4}, /* the id */
	    {.kind = DT_ACT_DIFEXPR, .difo = &text, .size = 256, .align = 1},
	    {.kind = DT_ACT_USTACK, .size = 48, .align = 8},
	    {.kind = DT_ACT_COUNT, .ntuple = 3},
	};
	dt_stmt stmt = {.kind = DT_ST_AGG, .first = 1, .nactions = 4, .aggs = list, .naggs = 1};
	dt_clause c = {.actions = acts, .nactions = 5, .stmts = &stmt, .nstmts = 1};
	dt_record_plan p;

	CHECK(dt_record_plan_make(&p, &c, arena, &err) == 0);
	CHECK(p.actions[0].role == DT_ROLE_DATA && p.actions[1].role == DT_ROLE_KEY_ID);
	CHECK(p.actions[2].role == DT_ROLE_KEY && p.actions[2].key == 0);
	CHECK(p.actions[2].is_string && p.actions[2].bound == 257 && p.actions[2].agg == &agg);
	CHECK(p.actions[3].role == DT_ROLE_KEY && p.actions[3].key == 1);
	CHECK(p.actions[4].role == DT_ROLE_AGG && p.actions[4].agg == &agg);
	CHECK(p.parts[0].data_size == 8 && p.cost == 24); /* keys are not in the record */

	acts[4].ntuple = 5;
	CHECK(dt_record_plan_make(&p, &c, arena, &err) == -1 && err.code == EDT_BADAGG);
	acts[4].ntuple = 0;
	CHECK(dt_record_plan_make(&p, &c, arena, &err) == -1 && err.code == EDT_BADAGG);
	acts[4].ntuple = 3, c.nstmts = 0;
	CHECK(dt_record_plan_make(&p, &c, arena, &err) == -1 && err.code == EDT_BADAGG);
}

static void test_limits(void)
{
	dt_action big[] = {{.kind = DT_ACT_TRACEMEM, .difo = &number, .size = 1u << 30, .align = 1},
			   {.kind = DT_ACT_TRACEMEM, .difo = &number, .size = 1u << 30, .align = 1}};
	dt_clause c = {.actions = big, .nactions = 2};
	dt_action bad[] = {{.kind = DT_ACT_STOP}, {.kind = DT_ACT_PANIC}};
	dt_clause refused = {.actions = bad, .nactions = 2};
	dt_record_plan p;

	CHECK(dt_record_plan_make(&p, &c, arena, &err) == -1 && err.code == EDT_BUFTOOSMALL);
	CHECK(!dt_clause_refused(&c));
	CHECK_STR(dt_clause_refused(&refused), "panic");
}

static void test_buffer(void)
{
	dt_record_plan small = {.cost = 24}, large = {.cost = 104}, none = {0};
	dt_options o;
	dt_buffer_plan b;

	dt_options_init(&o);
	dt_buffer_plan_init(&b, &o);
	CHECK(b.size == 4 << 20 && !b.reserves);
	o.value[DT_O_BUFSIZE] = 99;
	dt_buffer_plan_init(&b, &o);
	CHECK(b.size == 96); /* down to a multiple of 8 */
	CHECK(dt_buffer_plan_add(&b, &large, true, &err) == 0 && b.end_reserve == 0);
	CHECK(dt_buffer_plan_check(&b, &err) == 0 && b.size == 96 && b.largest == 104);
	large.aggregates = true;
	CHECK(dt_buffer_plan_add(&b, &large, true, &err) == 0);
	CHECK(dt_buffer_plan_check(&b, &err) == 0 && b.size == 104);
	large.aggregates = false;
	o.value[DT_O_BUFSIZE] = 7;
	dt_buffer_plan_init(&b, &o);
	CHECK(dt_buffer_plan_add(&b, &none, false, &err) == 0);
	CHECK(dt_buffer_plan_add(&b, &small, false, &err) == -1 && err.code == EDT_BUFTOOSMALL);
	o.value[DT_O_BUFSIZE] = 96;
	o.value[DT_O_BUFPOLICY] = DT_BUFPOLICY_FILL;
	dt_buffer_plan_init(&b, &o);
	CHECK(dt_buffer_plan_add(&b, &large, false, &err) == 0);
	CHECK(dt_buffer_plan_add(&b, &none, true, &err) == 0 && b.end_reserve == 0);
	CHECK(dt_buffer_plan_add(&b, &small, false, &err) == 0 && b.end_reserve == 0);
	for (int i = 1; i <= 4; i++)
		CHECK(dt_buffer_plan_add(&b, &small, true, &err) == 0 && b.end_reserve == 24ull * i);
	CHECK(dt_buffer_plan_check(&b, &err) == 0);
	CHECK(dt_buffer_plan_add(&b, &small, true, &err) == 0);
	CHECK(dt_buffer_plan_check(&b, &err) == -1 && err.code == EDT_ENDTOOBIG);
	dt_options_free(&o);
}

int main(void)
{
	arena = dt_arena_new();
	test_data();
	test_default();
	test_keys();
	test_limits();
	test_buffer();
	dt_arena_free(arena);
	return unit_done();
}
