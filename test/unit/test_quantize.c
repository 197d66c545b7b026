/* Buckets: every value falls into the bucket whose bounds it lies between. */
#include "dif/quantize.h"
#include "unit.h"

static void test_quantize(void)
{
	CHECK(dt_quantize_bucket(0) == 63 && dt_quantize_bucket(1) == 64);
	CHECK(dt_quantize_bucket(-1) == 62 && dt_quantize_bucket(-3) == 61);
	CHECK(dt_quantize_bucket(INT64_MAX) == 126 && dt_quantize_bucket(INT64_MIN) == 0);
	CHECK(dt_quantize_value(63) == 0 && dt_quantize_value(66) == 4);
	CHECK(dt_quantize_value(60) == -4);
	for (int b = 0; b < 127; b++)
		CHECK(dt_quantize_bucket(dt_quantize_value(b)) == b);
	CHECK(dt_agg_words(DT_ACT_QUANTIZE, 0) == 127 && dt_agg_words(DT_ACT_STDDEV, 0) == 4);
}

static void test_lquantize(void)
{
	uint64_t p = dt_lquantize_param(-10, 4, 5);

	CHECK(dt_lquantize_base(p) == -10 && dt_lquantize_levels(p) == 4);
	CHECK(dt_lquantize_step(p) == 5 && dt_agg_words(DT_ACT_LQUANTIZE, p) == 7);
	CHECK(dt_lquantize_bucket(p, -11) == 0 && dt_lquantize_bucket(p, -10) == 1);
	CHECK(dt_lquantize_bucket(p, 9) == 4 && dt_lquantize_bucket(p, 10) == 5);
	CHECK(dt_lquantize_bucket(p, INT64_MAX) == 2); /* cut to 32 bits: -1 */
	CHECK(dt_lquantize_value(p, 1) == -10 && dt_lquantize_value(p, 5) == 10);
	CHECK(dt_lquantize_bucket(0, 7) == 1); /* not a word of ours: no fault */
}

static void test_llquantize(uint16_t factor, uint16_t low, uint16_t high, uint16_t steps)
{
	uint64_t p = dt_llquantize_param(factor, low, high, steps);
	uint32_t n = dt_llquantize_nbuckets(p);

	CHECK(dt_llquantize_valid(p));
	CHECK(dt_agg_words(DT_ACT_LLQUANTIZE, p) == n + 1);
	CHECK(dt_llquantize_bucket(p, -5) == 0);
	CHECK(dt_llquantize_bucket(p, dt_llquantize_value(p, 0) - 1) == 0);
	for (uint32_t b = 1; b < n; b++) {
		int64_t v = dt_llquantize_value(p, b);
		if (v == INT64_MAX)
			break; /* beyond what a value can be */
		CHECK(dt_llquantize_bucket(p, v) == b);
		CHECK(dt_llquantize_bucket(p, v - 1) == b - 1);
	}
}

/* No word of a DOF file makes it loop forever or divide by zero; one that is valid has buckets. */
static void test_any_word(void)
{
	static const uint16_t some[] = {0, 1, 2, 3, 4, 5, 10, 15, 16, 20, 63, 64, 100, 255, 256, 4096, 32768, 65534, 65535};
	uint32_t valid = 0;

	for (uint32_t factor = 0; factor <= UINT16_MAX; factor++)
		for (size_t s = 0; s < DT_NELEM(some); s++) {
			uint16_t high = some[(factor + s) % DT_NELEM(some)];
			uint64_t p = dt_llquantize_param((uint16_t)factor, (uint16_t)(high / 2), high, some[s]),
				 q = dt_llquantize_param(some[s], 0, 4, (uint16_t)factor);

			valid += dt_llquantize_valid(p) + dt_llquantize_valid(q);
			if (dt_llquantize_nbuckets(p) < 2 || dt_llquantize_bucket(q, INT64_MAX) >= dt_llquantize_nbuckets(q))
				CHECK(!"a word has no buckets");
		}
	CHECK(valid > 0);
}

int main(void)
{
	test_any_word();
	test_quantize();
	test_lquantize();
	test_llquantize(10, 0, 6, 20);
	test_llquantize(10, 3, 5, 10);
	test_llquantize(2, 0, 63, 4);
	test_llquantize(2, 3, 10, 2);
	CHECK(dt_llquantize_nbuckets(dt_llquantize_param(10, 0, 1, 20)) == 2 + 9 + 18);
	CHECK(!dt_llquantize_valid(dt_llquantize_param(10, 0, 60, 20)));
	CHECK(dt_llquantize_nbuckets(0) == 2 && dt_llquantize_bucket(0, 5) == 0);
	return unit_done();
}
