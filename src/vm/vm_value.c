/*
 * vm_value: the value of a row of an aggregation. Sums wrap. Bucket numbers and layouts are those of dif/quantize.h.
 */
#include "dif/quantize.h"
#include "vm/machine.h"

void dt_vm_value_start(const dt_agg *agg, uint64_t *w)
{
	switch (dt_aggfunc(agg->func)) {
	case DT_AGG_MIN: w[0] = INT64_MAX; break;
	case DT_AGG_MAX: w[0] = (uint64_t)INT64_MIN; break;
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE: w[0] = agg->param; break;
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_AVG:
	case DT_AGG_STDDEV:
	case DT_AGG_QUANTIZE: break;
	}
}

static void add_stddev(uint64_t *w, int64_t value)
{
	uint64_t x = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	unsigned __int128 square = (unsigned __int128)x * x;
	unsigned __int128 sum = (unsigned __int128)w[3] << 64 | w[2];

	sum += square;
	w[0]++;
	w[1] += (uint64_t)value;
	w[2] = (uint64_t)sum;
	w[3] = (uint64_t)(sum >> 64);
}

static void add_bucket(const dt_agg *agg, uint64_t *w, uint32_t nwords, uint64_t bucket, int64_t incr)
{
	bucket += dt_agg_first_bucket(agg->func);
	if (bucket < nwords)
		w[bucket] += (uint64_t)incr;
}

void dt_vm_value_add(const dt_agg *agg, uint64_t *w, uint32_t nwords, int64_t value, int64_t incr)
{
	uint64_t param = agg->param;

	switch (dt_aggfunc(agg->func)) {
	case DT_AGG_COUNT: w[0]++; break;
	case DT_AGG_SUM: w[0] += (uint64_t)value; break;
	case DT_AGG_MIN:
		if (value < (int64_t)w[0])
			w[0] = (uint64_t)value;
		break;
	case DT_AGG_MAX:
		if (value > (int64_t)w[0])
			w[0] = (uint64_t)value;
		break;
	case DT_AGG_AVG:
		w[0]++;
		w[1] += (uint64_t)value;
		break;
	case DT_AGG_STDDEV: add_stddev(w, value); break;
	case DT_AGG_QUANTIZE: add_bucket(agg, w, nwords, (uint64_t)dt_quantize_bucket(value), incr); break;
	case DT_AGG_LQUANTIZE: add_bucket(agg, w, nwords, dt_lquantize_bucket(param, value), incr); break;
	case DT_AGG_LLQUANTIZE: add_bucket(agg, w, nwords, dt_llquantize_bucket(param, value), incr); break;
	}
}
