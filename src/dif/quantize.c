/*
 * quantize: bucket arithmetic of the three quantizing functions (see quantize.h).
 *
 * The powers of llquantize are computed in 128 bits: the compiler makes sure that factor^high fits
 * 64 bits, but the upper end of the highest magnitude, factor^(high+1), may not. Parameter words
 * can also come from a DOF file, so no function here loops or divides by zero on a bad one:
 * an invalid word has just the two outer buckets.
 */
#include "dif/quantize.h"

typedef unsigned __int128 u128;

/* ---- quantize ---- */
static int log2_floor(uint64_t v)
{
	return 63 - __builtin_clzll(v);
}

int dt_quantize_bucket(int64_t v)
{
	if (v == 0)
		return DT_QUANTIZE_ZERO;
	if (v > 0)
		return DT_QUANTIZE_ZERO + 1 + log2_floor((uint64_t)v);
	int b = DT_QUANTIZE_ZERO - 1 - log2_floor(-(uint64_t)v);
	return b < 0 ? 0 : b; /* INT64_MIN joins the lowest bucket */
}

int64_t dt_quantize_value(int bucket)
{
	if (bucket == DT_QUANTIZE_ZERO)
		return 0;
	if (bucket > DT_QUANTIZE_ZERO)
		return bucket > 126 ? INT64_MAX : (int64_t)1 << (bucket - 64);
	return bucket < 0 ? INT64_MIN : -((int64_t)1 << (62 - bucket));
}

/* ---- lquantize ---- */
uint32_t dt_lquantize_bucket(uint64_t param, int64_t v)
{
	int64_t value = (int32_t)(uint32_t)(uint64_t)v;
	int64_t base = dt_lquantize_base(param);
	uint32_t levels = dt_lquantize_levels(param), step = dt_lquantize_step(param);

	if (value < base)
		return 0;
	uint64_t level = step != 0 ? (uint64_t)(value - base) / step : levels;
	return level < levels ? (uint32_t)level + 1 : levels + 1;
}

int64_t dt_lquantize_value(uint64_t param, uint32_t bucket)
{
	int64_t base = dt_lquantize_base(param);

	return bucket == 0 ? base : base + (int64_t)(bucket - 1) * dt_lquantize_step(param);
}

/* ---- llquantize ---- */
bool dt_llquantize_valid(uint64_t param)
{
	uint32_t factor = dt_llquantize_factor(param), steps = dt_llquantize_steps(param);
	uint32_t low = dt_llquantize_low(param), high = dt_llquantize_high(param);
	u128 power = 1;

	if (factor < 2 || low >= high || steps == 0 || (steps % factor != 0 && factor % steps != 0))
		return false;
	for (uint32_t i = 0; i < high; i++) {
		power *= factor;
		if (power > UINT64_MAX)
			return false;
	}
	for (power = factor; power < steps;)
		power *= factor;
	return power % steps == 0;
}

static void magnitude_set(struct dt_ll_magnitude *m, uint64_t param, u128 from)
{
	uint32_t factor = dt_llquantize_factor(param), steps = dt_llquantize_steps(param);

	m->from = from;
	m->to = from * factor;
	m->width = m->to > steps ? m->to / steps : 1;
	m->below = (uint32_t)(m->from / m->width);
	m->n = (uint32_t)(m->to / m->width) - m->below;
}

void dt_ll_first(uint64_t param, struct dt_ll_magnitude *m)
{
	u128 from = 1;

	for (uint32_t i = dt_llquantize_low(param); i > 0; i--)
		from *= dt_llquantize_factor(param);
	magnitude_set(m, param, from);
}

void dt_ll_next(uint64_t param, struct dt_ll_magnitude *m)
{
	magnitude_set(m, param, m->to);
}

static uint32_t magnitudes(uint64_t param)
{
	return dt_llquantize_high(param) - dt_llquantize_low(param) + 1;
}

uint32_t dt_llquantize_nbuckets(uint64_t param)
{
	struct dt_ll_magnitude m;
	uint32_t n = 2;

	if (!dt_llquantize_valid(param))
		return n;
	dt_ll_first(param, &m);
	for (uint32_t i = magnitudes(param); i > 0; i--, dt_ll_next(param, &m))
		n += m.n;
	return n;
}

uint32_t dt_llquantize_bucket(uint64_t param, int64_t v)
{
	struct dt_ll_magnitude m;
	uint32_t first = 1;

	if (!dt_llquantize_valid(param))
		return 0;
	dt_ll_first(param, &m);
	if (v < 0 || (u128)v < m.from)
		return 0;
	for (uint32_t i = magnitudes(param); i > 0; i--, dt_ll_next(param, &m)) {
		if ((u128)v < m.to)
			return first + (uint32_t)((u128)v / m.width) - m.below;
		first += m.n;
	}
	return first;
}

static int64_t clamp(u128 v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

int64_t dt_llquantize_value(uint64_t param, uint32_t bucket)
{
	struct dt_ll_magnitude m;
	uint32_t first = 1;

	if (!dt_llquantize_valid(param))
		return 0;
	dt_ll_first(param, &m);
	if (bucket == 0)
		return clamp(m.from);
	for (uint32_t i = magnitudes(param); i > 0; i--, dt_ll_next(param, &m)) {
		if (bucket == first)
			return clamp(m.from);
		if (bucket < first + m.n)
			return clamp(m.width * (m.below + bucket - first));
		first += m.n;
	}
	return clamp(m.from); /* now the end of the highest */
}

/* ---- all ---- */
uint32_t dt_agg_words(enum dt_act func, uint64_t param)
{
	switch (dt_aggfunc(func)) {
	case DT_AGG_AVG: return 2;
	case DT_AGG_STDDEV: return 4;
	case DT_AGG_QUANTIZE: return DT_QUANTIZE_NBUCKETS;
	case DT_AGG_LQUANTIZE: return 1 + dt_lquantize_nbuckets(param);
	case DT_AGG_LLQUANTIZE: return 1 + dt_llquantize_nbuckets(param);
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_MIN:
	case DT_AGG_MAX: break;
	}
	return 1;
}
