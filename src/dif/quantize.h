/*
 * quantize: how the values of aggregations are laid out, and which bucket a number falls into.
 *
 * The engines (which count) and the consumer (which prints) share these few functions, so that a
 * bucket means the same to both. A value is an array of u64 words:
 *
 *   count sum min max   1 word
 *   avg                 count, sum
 *   stddev              count, sum, sum of squares (low word, high word)
 *   quantize            127 buckets
 *   lquantize           parameter word, then levels + 2 buckets
 *   llquantize          parameter word, then dt_llquantize_nbuckets() buckets
 *
 * Bucket numbers below count from the first bucket; dt_agg_first_bucket() says at which word of
 * the value that is.
 */
#ifndef DT_QUANTIZE_H
#define DT_QUANTIZE_H

#include "dif/dif.h"

uint32_t dt_agg_words(enum dt_act func, uint64_t param);
static inline uint32_t dt_agg_first_bucket(enum dt_act func)
{
	return func == DT_ACT_LQUANTIZE || func == DT_ACT_LLQUANTIZE ? 1 : 0;
}

/* ---- quantize: powers of two on both sides of zero ---- */
#define DT_QUANTIZE_NBUCKETS 127
#define DT_QUANTIZE_ZERO     63
int dt_quantize_bucket(int64_t v);     /* 0 .. 126 */
int64_t dt_quantize_value(int bucket); /* ..., -2, -1, 0, 1, 2, 4, ... */

/* ---- lquantize: step << 48 | levels << 32 | base (32 bits, signed) ----
 * Bucket 0: below base. Bucket i in 1..levels: from base + (i - 1) * step on. Bucket levels + 1: at
 * least base + levels * step. Values are cut to 32 bits first. */
static inline uint64_t dt_lquantize_param(int32_t base, uint16_t levels, uint16_t step)
{
	return (uint64_t)step << 48 | (uint64_t)levels << 32 | (uint32_t)base;
}
static inline int32_t dt_lquantize_base(uint64_t param)
{
	return (int32_t)(uint32_t)param;
}
static inline uint32_t dt_lquantize_levels(uint64_t param)
{
	return param >> 32 & 0xffff;
}
static inline uint32_t dt_lquantize_step(uint64_t param)
{
	return param >> 48;
}
static inline uint32_t dt_lquantize_nbuckets(uint64_t param)
{
	return dt_lquantize_levels(param) + 2;
}
uint32_t dt_lquantize_bucket(uint64_t param, int64_t v);
int64_t dt_lquantize_value(uint64_t param, uint32_t bucket); /* lower bound; bucket 0: base */

/* ---- llquantize: factor << 48 | low << 32 | high << 16 | steps ----
 * Bucket 0: below factor^low. Then each magnitude m in low..high, that is the values from
 * factor^m up to factor^(m+1), is cut at the multiples of factor^(m+1) / steps (at least 1).
 * The last bucket: at least factor^(high+1). */
static inline uint64_t dt_llquantize_param(uint16_t factor, uint16_t low, uint16_t high,
					   uint16_t steps)
{
	return (uint64_t)factor << 48 | (uint64_t)low << 32 | (uint64_t)high << 16 | steps;
}
static inline uint32_t dt_llquantize_factor(uint64_t param)
{
	return param >> 48;
}
static inline uint32_t dt_llquantize_low(uint64_t param)
{
	return param >> 32 & 0xffff;
}
static inline uint32_t dt_llquantize_high(uint64_t param)
{
	return param >> 16 & 0xffff;
}
static inline uint32_t dt_llquantize_steps(uint64_t param)
{
	return param & 0xffff;
}
/*
 * One magnitude: values from `from` up to `to`, cut at the multiples of `width` into `n` buckets. `below` of these
 * multiples (without 0) are at or below `from`: none where there are fewer steps than the factor, and the first
 * bucket is smaller than the others then. A valid parameter word has high - low + 1 of them.
 */
struct dt_ll_magnitude {
	unsigned __int128 from, to, width;
	uint32_t below, n;
};
void dt_ll_first(uint64_t param, struct dt_ll_magnitude *m);
void dt_ll_next(uint64_t param, struct dt_ll_magnitude *m);
/* Could the compiler have made this parameter word? (For DOF from elsewhere.) */
bool dt_llquantize_valid(uint64_t param);
uint32_t dt_llquantize_nbuckets(uint64_t param); /* with the two outer ones */
uint32_t dt_llquantize_bucket(uint64_t param, int64_t v);
int64_t dt_llquantize_value(uint64_t param,
			    uint32_t bucket); /* lower bound; bucket 0: factor^low */

#endif
