/*
 * Accounts: what is kept for machines that are not trusted, and the rows of aggregations that are paid from them.
 */
#include "consume/writer.h"
#include "unit.h"

static void test_limits(void)
{
	struct dt_accounts all = {.limit = 1000, .n = 4};
	dt_account greedy = {.all = &all, .number = 1, .limit = 900}, other = {.all = &all, .number = 2, .limit = 900};

	CHECK(dt_account_take(&greedy, 900)); /* all of its own */
	CHECK(!dt_account_take(&greedy, 1)); /* no more than its own */
	CHECK(dt_account_take(&other, 100)); /* what is left */
	CHECK(dt_account_take(&other, 150)); /* its share, though all is used */
	CHECK(!dt_account_take(&other, 1)); /* no more than its share */
	CHECK(all.used == 1150);
	dt_account_give(&greedy, 900);
	CHECK(dt_account_take(&other, 650)); /* what another has given back */
	CHECK(!dt_account_take(&other, 1)); /* its own limit */
	CHECK(!dt_account_take(&other, UINT64_MAX)); /* a number that is too large to be added */
	dt_account_give(&other, 900);
	CHECK(all.used == 0 && greedy.used == 0 && other.used == 0); /* everything was given back */
}

static dt_action key = {.kind = DT_ACT_DIFEXPR, .size = 8};
static const dt_agg agg = {.id = 1, .name = "a", .func = DT_ACT_COUNT, .nkeys = 1, .keys = &key, .nwords = 1};

static void merge(dt_aggs *as, dt_account *payer, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		dt_aggs_merge(as, payer, &agg, &(dt_datum){&i, sizeof(i), 0}, (uint64_t[]){1});
}

static void test_rows(void)
{
	struct dt_accounts all = {.limit = UINT64_MAX, .n = 2};
	dt_account a = {.all = &all, .number = 1, .limit = 10000}, b = {.all = &all, .number = 300, .limit = 10000};
	dt_aggs *as = dt_aggs_new(&(struct dt_consumer_env){0});
	dt_aggset *s = dt_aggs_get(as, &agg);
	uint32_t kept;

	merge(as, &a, 0, 1000);
	kept = s->nrows;
	CHECK(kept > 20 && kept + a.refused_rows == 1000);
	merge(as, &a, 0, kept);
	CHECK(s->nrows == kept && kept + a.refused_rows == 1000); /* keys that are known are counted */
	merge(as, &b, 0, kept);
	CHECK(b.used == 0); /* another machine does not pay for them */
	merge(as, &b, 5000, 10);
	merge(as, NULL, 6000, 1000);
	CHECK(s->nrows == kept + 1010 && b.refused_rows == 0); /* others are not refused */
	dt_aggset_trunc(s, 500); /* 500 of those whose number is smallest go */
	CHECK(a.used + b.used < 10000); /* rows that are removed give back */
	dt_aggset_trunc(s, 0);
	CHECK(a.used == 0 && b.used == 0 && all.used == 0);
	merge(as, &a, 2000, kept);
	CHECK(s->nrows == kept); /* there is room again */
	dt_aggs_free(as);
	CHECK(all.used == 0); /* and at the end */
}

int main(void)
{
	test_limits();
	test_rows();
	return unit_done();
}
