/*
 * action_quant: the constant parameters of lquantize() and llquantize().
 *
 * They are packed into one word (dif/quantize.h), so each must fit its part of it; and all uses of
 * one aggregation must have the same parameters.
 */
#include "dif/quantize.h"
#include "lang/action.h"

static int64_t constant_arg(dt_compiler *cc, dt_node *call, uint32_t i, const char *what,
			    enum dt_tag not_const, int64_t min, int64_t max, enum dt_tag bad_value)
{
	dt_node *n = dt_arg(call, i);
	int64_t v = 0;

	if (!dt_node_is_const_int(n, &v))
		dt_fail(cc, n->pos, not_const, "%s (%s) must be an integer constant",
			dt_arg_name(cc, call, i), what);
	if (v < min || v > max)
		dt_fail(cc, n->pos, bad_value, "%s (%s) must be from %lld to %lld",
			dt_arg_name(cc, call, i), what, (long long)min, (long long)max);
	return v;
}

static void must_match(dt_compiler *cc, const dt_node *call, const dt_agg *agg, const char *what,
		       int64_t now, int64_t before, enum dt_tag tag)
{
	if (now != before)
		dt_fail(cc, call->pos, tag,
			"%s( ) of @%s: the %s is %lld here, but was %lld before", call->name,
			agg->name, what, (long long)now, (long long)before);
}

/* ---- lquantize(value, base, limit [, step [, increment]]) ---- */
static void match_lquantize(dt_compiler *cc, const dt_node *call, const dt_agg *agg, int64_t base,
			    int64_t levels, int64_t step)
{
	int64_t base0 = dt_lquantize_base(agg->param), step0 = dt_lquantize_step(agg->param);
	int64_t limit0 = base0 + (int64_t)dt_lquantize_levels(agg->param) * step0;

	must_match(cc, call, agg, "base", base, base0, D_LQUANT_MATCHBASE);
	must_match(cc, call, agg, "limit", base + levels * step, limit0, D_LQUANT_MATCHLIM);
	must_match(cc, call, agg, "step", step, step0, D_LQUANT_MATCHSTEP);
}

uint64_t dt_lquantize_args(dt_compiler *cc, dt_node *call, const dt_agg *agg)
{
	int64_t base = constant_arg(cc, call, 1, "base", D_LQUANT_BASETYPE, INT32_MIN, INT32_MAX,
				    D_LQUANT_BASEVAL);
	int64_t limit = constant_arg(cc, call, 2, "limit", D_LQUANT_LIMTYPE, INT32_MIN, INT32_MAX,
				     D_LQUANT_LIMVAL);
	int64_t step = 1, levels;

	if (limit <= base)
		dt_fail(cc, call->pos, D_LQUANT_MISMATCH,
			"lquantize( ): the limit (%lld) must be greater than the base (%lld)",
			(long long)limit, (long long)base);
	if (dt_arg(call, 3))
		step = constant_arg(cc, call, 3, "step", D_LQUANT_STEPTYPE, INT64_MIN, UINT16_MAX,
				    D_LQUANT_STEPVAL);
	if (step <= 0)
		dt_fail(cc, call->pos, D_LQUANT_STEPTYPE,
			"lquantize( ): the step must be positive");
	levels = (limit - base) / step;
	if (levels == 0)
		dt_fail(cc, call->pos, D_LQUANT_STEPLARGE,
			"lquantize( ): a step of %lld is too large: there is no level between %lld "
			"and %lld",
			(long long)step, (long long)base, (long long)limit);
	if (levels > UINT16_MAX)
		dt_fail(
		    cc, call->pos, D_LQUANT_STEPSMALL,
		    "lquantize( ): a step of %lld is too small: it makes %lld levels, and at most "
		    "%d are possible",
		    (long long)step, (long long)levels, UINT16_MAX);
	if (agg->func == DT_ACT_LQUANTIZE)
		match_lquantize(cc, call, agg, base, levels, step);
	return dt_lquantize_param((int32_t)base, (uint16_t)levels, (uint16_t)step);
}

/* ---- llquantize(value, factor, low, high, steps [, increment]) ---- */
static const struct {
	const char *name;
	enum dt_tag type, value, match;
	unsigned shift;
} ll_args[] = {
    {"factor", D_LLQUANT_FACTORTYPE, D_LLQUANT_FACTORVAL, D_LLQUANT_FACTORMATCH, 48},
    {"low magnitude", D_LLQUANT_LOWTYPE, D_LLQUANT_LOWVAL, D_LLQUANT_LOWMATCH, 32},
    {"high magnitude", D_LLQUANT_HIGHTYPE, D_LLQUANT_HIGHVAL, D_LLQUANT_HIGHMATCH, 16},
    {"number of steps", D_LLQUANT_NSTEPTYPE, D_LLQUANT_NSTEPVAL, D_LLQUANT_NSTEPMATCH, 0},
};

static void check_ll_relations(dt_compiler *cc, const dt_node *call, uint64_t param)
{
	uint64_t factor = dt_llquantize_factor(param), steps = dt_llquantize_steps(param);
	uint64_t low = dt_llquantize_low(param), high = dt_llquantize_high(param), power;

	if (factor < 2)
		dt_fail(cc, call->pos, D_LLQUANT_FACTORSMALL,
			"llquantize( ): the factor must be at least 2");
	if (low >= high)
		dt_fail(cc, call->pos, D_LLQUANT_MAGRANGE,
			"llquantize( ): the high magnitude must be greater than the low magnitude");
	if (steps < factor && (steps == 0 || factor % steps != 0))
		dt_fail(cc, call->pos, D_LLQUANT_FACTORNSTEPS,
			"llquantize( ): fewer steps than the factor must divide the factor evenly");
	for (power = factor; power < steps;)
		power *= factor;
	if ((steps > factor && steps % factor != 0) || power % steps != 0)
		dt_fail(cc, call->pos, D_LLQUANT_FACTOREVEN,
			"llquantize( ): %llu steps do not divide the powers of %llu evenly",
			(unsigned long long)steps, (unsigned long long)factor);
	power = 1;
	for (uint64_t i = 0; i < high; i++)
		if (__builtin_mul_overflow(power, factor, &power))
			dt_fail(cc, call->pos, D_LLQUANT_MAGTOOBIG,
				"llquantize( ): %llu to the power of %llu does not fit 64 bits",
				(unsigned long long)factor, (unsigned long long)high);
}

uint64_t dt_llquantize_args(dt_compiler *cc, dt_node *call, const dt_agg *agg)
{
	uint64_t param = 0;

	for (uint32_t i = 0; i < DT_NELEM(ll_args); i++)
		param |= (uint64_t)constant_arg(cc, call, i + 1, ll_args[i].name, ll_args[i].type,
						0, UINT16_MAX, ll_args[i].value)
			 << ll_args[i].shift;
	check_ll_relations(cc, call, param);
	for (uint32_t i = 0; agg->func == DT_ACT_LLQUANTIZE && i < DT_NELEM(ll_args); i++)
		must_match(cc, call, agg, ll_args[i].name,
			   (int64_t)(param >> ll_args[i].shift & 0xffff),
			   (int64_t)(agg->param >> ll_args[i].shift & 0xffff), ll_args[i].match);
	return param;
}
