/*
 * tr_agg: aggregating actions.
 *
 * An aggregation with keys is a hash; its key is the slot of the firing and the generation (which of two
 * sets of rows is being filled; snapshot.c empties the other) in one word, and then the parts, each at its
 * offset and with the size it needs. Several aggregations may be in one hash; then the word also says which one it is. So every CPU has its own rows, as in the kernel's per-CPU
 * hash, but a new row costs a tenth of a microsecond instead of ten: no per-CPU memory is allocated
 * for it. Aggregations without keys share one array, whose index is the slot and the generation; very large
 * ones have a hash with one row for each slot that is used. In all of them the first word of a value says that it has been
 * used, since all zeros can be a result. If a key is an integer of several sizes, it also says which sizes
 * the keys of the statement had that made the row.
 *
 * A firing can be interrupted by another on the same CPU, but that has another slot, and so another row: nobody
 * else writes to a row while a firing does, and values change by plain loads and stores. (Nearly all firings
 * get the first slot of their CPU.) All begin as zero: min and max are kept as unsigned numbers that only grow, max as v + 2^63
 * and min as 2^63 - 1 - v. Every loss is counted as a drop.
 *
 * A map that has room may refuse a new row: it is locked by the very firing that this one has interrupted, or it has no memory
 * for the moment (where interrupts are off, not for more than a hundred). Then the update is written down as it is, into a
 * table without locks, and snapshot.c adds it to the rows. An entry is taken by compare-and-exchange of its first word.
 */
#include <errno.h>

#include "bpf/translate/translate.h"
#include "dif/quantize.h"

/* ---- keys ---- */

void dt_tr_agg_key(dt_tr *t, const dt_action *a, const struct dt_plan_action *p, const dt_tr_val *v)
{
	const struct dt_plan_aggkey *key = &p->agg->keys[p->what->key];
	uint32_t off = t->at->key + key->offset;
	dt_code *c = t->c;

	if (key->name >= 0) {
		ld(c, 4, R0, R6, S_PROBE);
		dt_slot_st(c, 4, off, R0);
		return;
	}
	t->loff = UINT32_MAX;
	if (key->mixed) {
		dt_slot_st(c, 8, off, R0);
		return;
	}
	if (p->what->is_string && !(a->difo->rtype.flags & DT_TF_BYUREF)) {
		dt_tr_here(t);
		mov(c, R3, R0);
		dt_tr_put_string(t, v, off, key->size, true);
	} else if (p->what->is_string) {
		dt_tr_here(t);
		st(c, 8, R6, S_FVALUE, R0);
		dt_tr_zero(t, off, key->size);
		dt_slot_lea(c, R1, off);
		movi(c, R2, (int32_t)key->size);
		dt_tr_user_memory(t);
		ld(c, 8, R3, R6, S_FVALUE);
		dt_tr_read(t, BPF_FUNC_probe_read_user_str);
		jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	} else {
		if (a->size < key->size) {
			st(c, 8, R6, S_VALUE, R0);
			dt_tr_zero(t, off, key->size);
			ld(c, 8, R0, R6, S_VALUE);
		}
		dt_tr_datum(t, a, v, off, a->size);
	}
}

/* ---- buckets: r0 = the word of the row for the value in r1 ---- */

/* r0 = floor(log2(r1)), r1 != 0: six halvings */
static void log2_floor(dt_code *c)
{
	movi(c, R0, 0);
	for (int bits = 32; bits; bits /= 2) {
		uint32_t low = dt_code_label(c);

		mov(c, R2, R1);
		alui(c, BPF_RSH, R2, bits);
		jmpi(c, BPF_JEQ, R2, 0, low);
		mov(c, R1, R2);
		alui(c, BPF_ADD, R0, bits);
		dt_code_place(c, low);
	}
}

static void quantize_bucket(dt_code *c)
{
	uint32_t zero = dt_code_label(c), negative = dt_code_label(c), done = dt_code_label(c);

	movi(c, R0, DT_QUANTIZE_ZERO);
	jmpi(c, BPF_JEQ, R1, 0, zero);
	jmpi(c, BPF_JSLT, R1, 0, negative);
	log2_floor(c);
	alui(c, BPF_ADD, R0, DT_QUANTIZE_ZERO + 1);
	ja(c, done);
	dt_code_place(c, negative);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R1, 0, 0, 0);
	log2_floor(c);
	mov(c, R1, R0);
	movi(c, R0, DT_QUANTIZE_ZERO - 1);
	alu(c, BPF_SUB, R0, R1);
	jmpi(c, BPF_JSGE, R0, 0, done);
	movi(c, R0, 0); /* INT64_MIN joins the lowest bucket */
	dt_code_place(c, zero);
	dt_code_place(c, done);
}

/* level = (int)value - base / step, between two outer buckets; word 0 is the parameter */
static void lquantize_bucket(dt_code *c, uint64_t param)
{
	uint32_t levels = dt_lquantize_levels(param), step = dt_lquantize_step(param);
	uint32_t low = dt_code_label(c), high = dt_code_label(c), done = dt_code_label(c);

	mov(c, R0, R1);
	alui(c, BPF_LSH, R0, 32);
	alui(c, BPF_ARSH, R0, 32);
	jmpi(c, BPF_JSLT, R0, dt_lquantize_base(param), low);
	alui(c, BPF_SUB, R0, dt_lquantize_base(param));
	if (step)
		alui(c, BPF_DIV, R0, (int32_t)step);
	else
		movi(c, R0, (int32_t)levels);
	jmpi(c, BPF_JGE, R0, (int32_t)levels, high);
	alui(c, BPF_ADD, R0, 2);
	ja(c, done);
	dt_code_place(c, low);
	movi(c, R0, 1);
	ja(c, done);
	dt_code_place(c, high);
	movi(c, R0, (int32_t)levels + 2);
	dt_code_place(c, done);
}

/* One comparison per magnitude; what each covers is computed here, not in the kernel. */
static void llquantize_bucket(dt_code *c, uint64_t param)
{
	uint32_t done = dt_code_label(c), first = 2; /* word 0 the parameter, word 1 below all */
	struct dt_ll_magnitude m;

	if (!dt_llquantize_valid(param)) {
		movi(c, R0, 1);
		return;
	}
	dt_ll_first(param, &m);
	movi(c, R0, 1);
	movq(c, R2, (uint64_t)(m.from > INT64_MAX ? INT64_MAX : m.from));
	jmp(c, BPF_JSLT, R1, R2, done);
	for (uint32_t i = dt_llquantize_low(param); i <= dt_llquantize_high(param); i++) {
		uint32_t next = dt_code_label(c);

		if (m.to <= INT64_MAX) {
			movq(c, R2, (uint64_t)m.to);
			jmp(c, BPF_JSGE, R1, R2, next);
		}
		mov(c, R0, R1);
		movq(c, R2, (uint64_t)m.width);
		alu(c, BPF_DIV, R0, R2);
		alui(c, BPF_ADD, R0, (int32_t)(first - m.below));
		ja(c, done);
		if (m.to > INT64_MAX) { /* nothing is larger */
			dt_code_place(c, done);
			return;
		}
		dt_code_place(c, next);
		first += m.n;
		dt_ll_next(param, &m);
	}
	movi(c, R0, (int32_t)first);
	dt_code_place(c, done);
}

/* ---- values: r8 points to the row's, r9 is the argument of the action, or for the quantizers the word ---- */

static void add(dt_code *c, int word, int reg)
{
	ld(c, 8, R0, R8, word * 8);
	alu(c, BPF_ADD, R0, reg);
	st(c, 8, R8, word * 8, R0);
}

/* *p = max(*p, r2) */
static void raise_to(dt_code *c, uint32_t done)
{
	ld(c, 8, R0, R8, 0);
	jmp(c, BPF_JGE, R0, R2, done);
	st(c, 8, R8, 0, R2);
}

/*
 * 128-bit square of |v|, added to two words. With x = a * 2^32 + b: x^2 = a^2 * 2^64 + 2ab * 2^32 +
 * b^2.
 */
static void add_square(dt_code *c)
{
	uint32_t positive = dt_code_label(c), no_carry = dt_code_label(c),
		 no_carry2 = dt_code_label(c);

	mov(c, R1, R9);
	jmpi(c, BPF_JSGE, R1, 0, positive);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R1, 0, 0, 0);
	dt_code_place(c, positive);
	mov(c, R2, R1);
	alui(c, BPF_RSH, R2, 32); /* a */
	mov32(c, R1, R1);	  /* b */
	mov(c, R3, R2);
	alu(c, BPF_MUL, R3, R1); /* ab */
	alu(c, BPF_MUL, R1, R1); /* low = b^2 */
	alu(c, BPF_MUL, R2, R2); /* high = a^2 */
	mov(c, R4, R3);
	alui(c, BPF_RSH, R4, 31);
	alu(c, BPF_ADD, R2, R4); /* high += 2ab >> 32 */
	alui(c, BPF_LSH, R3, 33);
	alu(c, BPF_ADD, R1, R3); /* low += 2ab << 32 */
	jmp(c, BPF_JGE, R1, R3, no_carry);
	alui(c, BPF_ADD, R2, 1);
	dt_code_place(c, no_carry);
	add(c, 2, R1);
	jmp(c, BPF_JGE, R0, R1, no_carry2); /* the sum */
	alui(c, BPF_ADD, R2, 1);
	dt_code_place(c, no_carry2);
	add(c, 3, R2);
}

/*
 * With option overhead this firing may count for others (tr_shedding.c): S_INCR is how often, for the quantizers
 * multiplied by the increment. min() and max() are not affected, nor is stddev(), in which each counts once.
 */
static void scale(dt_tr *t, enum dt_act func, bool incr)
{
	dt_code *c = t->c;

	if (!t->plan->budget)
		return;
	ld(c, 4, R1, R6, S_SCALE);
	if (incr) {
		ld(c, 8, R2, R6, S_INCR);
		alu(c, BPF_MUL, R1, R2);
	}
	st(c, 8, R6, S_INCR, R1);
	if (func == DT_ACT_SUM || func == DT_ACT_AVG)
		alu(c, BPF_MUL, R9, R1);
}

/* r1 = how often this firing counts, or the increment */
static void times(dt_tr *t, const dt_action *a, enum dt_act func)
{
	if (a->incr || (t->plan->budget && func != DT_ACT_STDDEV))
		ld(t->c, 8, R1, R6, S_INCR);
	else
		movi(t->c, R1, 1);
}

/* Ends with a jump to done. */
static void update(dt_tr *t, const dt_action *a, const struct dt_plan_agg *b, uint32_t done)
{
	dt_code *c = t->c;

	switch (dt_aggfunc(b->agg->func)) {
	case DT_AGG_COUNT:
		times(t, a, b->agg->func);
		add(c, 0, R1);
		break;
	case DT_AGG_SUM: add(c, 0, R9); break;
	case DT_AGG_MAX:
	case DT_AGG_MIN:
		mov(c, R2, R9);
		movq(c, R1, b->agg->func == DT_ACT_MAX ? 1ull << 63 : INT64_MAX);
		alu(c, BPF_XOR, R2, R1);
		raise_to(c, done);
		break;
	case DT_AGG_AVG:
	case DT_AGG_STDDEV:
		times(t, a, b->agg->func);
		add(c, 0, R1);
		add(c, 1, R9);
		if (b->agg->func == DT_ACT_STDDEV)
			add_square(c);
		break;
	case DT_AGG_QUANTIZE:
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE:
		jmpi(c, BPF_JGE, R9, (int32_t)b->nwords, done);
		alui(c, BPF_LSH, R9, 3);
		alu(c, BPF_ADD, R8, R9);
		times(t, a, b->agg->func);
		add(c, 0, R1);
	}
	ja(c, done);
}

/* The first word of the row at r8: used. For integers of several sizes also what they are here, three bits for each. */
static void mark_used(dt_tr *t, const dt_action *a, const struct dt_plan_agg *b)
{
	const dt_action *keys = a - b->nkeys;
	uint32_t known = dt_code_label(t->c);
	uint64_t word = 0;

	for (uint32_t i = 0; i < b->nkeys && i < DT_AGG_SIZED_KEYS; i++)
		if (b->keys[i].mixed)
			word |= DT_AGG_SIZE_CODE(keys[i].size, i);
	if (word) {
		ld(t->c, 8, R1, R8, 0);
		jmpi(t->c, BPF_JNE, R1, 0, known);
		movq(t->c, R1, word | 1);
		st(t->c, 8, R8, 0, R1);
		dt_code_place(t->c, known);
	} else {
		sti(t->c, 8, R8, 0, 1);
	}
	alui(t->c, BPF_ADD, R8, 8);
}

/* r1 = what the keys of this firing's rows begin with */
static void row_word(dt_code *c)
{
	ld(c, 4, R1, R6, S_INDEX);
	alui(c, BPF_LSH, R1, 1);
	ld(c, 4, R2, R6, S_GEN);
	alu(c, BPF_OR, R1, R2);
}

/* r8 = the value of the row with the key under construction; goto no, with the kernel's answer in S_FVALUE: there is none */
static void find_row(dt_tr *t, const dt_action *a, const struct dt_plan_agg *b, uint32_t no)
{
	uint32_t have = dt_code_label(t->c);
	int fd = t->maps->agg ? t->maps->agg[b->index] : -1;
	dt_code *c = t->c;

	row_word(c);
	if (b->member)
		alui(c, BPF_OR, R1, (int32_t)(b->member << ROW_MEMBER));
	dt_slot_st(c, 4, t->at->key, R1);
	map(c, R1, fd);
	dt_slot_lea(c, R2, t->at->key);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, have);
	map(c, R1, fd);
	dt_slot_lea(c, R2, t->at->key);
	map_value(c, R3, t->maps->rodata, t->at->zeros);
	movi(c, R4, BPF_NOEXIST); /* an interrupting firing may have made it meanwhile */
	helper(c, BPF_FUNC_map_update_elem);
	st(c, 8, R6, S_FVALUE, R0);
	map(c, R1, fd);
	dt_slot_lea(c, R2, t->at->key);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, no);
	dt_code_place(c, have);
	mov(c, R8, R0);
	mark_used(t, a, b);
}

static void find_keyless(dt_tr *t, const struct dt_plan_agg *b, uint32_t drop)
{
	dt_code *c = t->c;

	row_word(c);
	mov(c, R2, R1);
	dt_tr_row(t, t->maps->aggs, R2, 2ull * t->plan->ncpus * t->at->nslots, t->at->agg_size, drop);
	mov(c, R8, R0);
	alui(c, BPF_ADD, R8, (int32_t)t->at->agg[b->index]);
	sti(c, 8, R8, 0, 1); /* used */
	alui(c, BPF_ADD, R8, 8);
}

/* ---- updates that are refused ---- */

#define PLACES 4   /* where one can be, from the next one on */
enum { KEY = -4 }; /* on the stack */

/* refused(slot, aggregation): claims an entry and completes what will be written there; its number, plus 1; 0: there is none */
static void refused_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c);

	dt_code_func_begin_global(c, t->func.refused, 2);
	mov(c, R6, R1);
	dt_slot_st(c, 8, t->at->key - REFUSED_KEY + REFUSED_AGG, R2);
	ld(c, 8, R1, R6, S_VALUE);
	dt_slot_st(c, 8, t->at->key - REFUSED_KEY + REFUSED_VALUE, R1);
	ld(c, 8, R1, R6, S_INCR);
	dt_slot_st(c, 8, t->at->key - REFUSED_KEY + REFUSED_INCR, R1);
	ld(c, 4, R8, R6, S_GEN);
	alui(c, BPF_OR, R8, REFUSED_TAKEN);
	dt_slot_st(c, 8, t->at->key - REFUSED_KEY + REFUSED_STATE, R8);
	map_value(c, R1, t->maps->control, CTL_REFUSED);
	movi(c, R9, 1);
	atomic(c, BPF_ADD | BPF_FETCH, R1, 0, R9);
	for (int i = 0; i < PLACES; i++) {
		uint32_t next = dt_code_label(c);

		alui(c, BPF_AND, R9, (1 << t->at->refused_bits) - 1);
		dt_tr_entry(t, t->maps->refused, R9, KEY, next);
		mov(c, R2, R0);
		movi(c, R0, 0);
		atomic(c, BPF_CMPXCHG, R2, REFUSED_STATE, R8);
		jmpi(c, BPF_JEQ, R0, 0, have);
		dt_code_place(c, next);
		alui(c, BPF_ADD, R9, 1);
	}
	movi(c, R0, 0);
	leave(c);
	dt_code_place(c, have);
	mov(c, R0, R9);
	alui(c, BPF_ADD, R0, 1);
	leave(c);
}

void dt_tr_agg_functions(dt_tr *t)
{
	if (t->func.refused)
		refused_function(t);
}

/* Written down: goto done. A map that is full is a drop. */
static void refused(dt_tr *t, const dt_action *a, const struct dt_plan_agg *b, uint32_t drop, uint32_t done)
{
	dt_code *c = t->c;

	if (b->agg->func != DT_ACT_COUNT)
		st(c, 8, R6, S_VALUE, R9);
	times(t, a, b->agg->func);
	st(c, 8, R6, S_INCR, R1);

	if (!t->func.refused)
		t->func.refused = dt_code_func_new(c, "refused");
	ld(c, 8, R0, R6, S_FVALUE);
	dt_tr_map_result(t);
	jmpi(c, BPF_JEQ, R0, -E2BIG, drop);
	mov(c, R1, R6);
	movi(c, R2, (int32_t)b->index);
	dt_code_call(c, t->func.refused);
	jmpi(c, BPF_JEQ, R0, 0, drop);
	alui(c, BPF_SUB, R0, 1);
	st(c, 4, R10, KEY, R0);
	map(c, R1, t->maps->refused);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, KEY);
	dt_slot_lea(c, R3, t->at->key - REFUSED_KEY);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_map_update_elem);
	ja(c, done);
}

void dt_tr_aggregate(dt_tr *t, const dt_action *a, const struct dt_plan_action *p)
{
	const struct dt_plan_agg *b = p->agg;
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c), drop = dt_code_label(c), done = dt_code_label(c);
	enum dt_act func = b->agg->func;
	dt_tr_val v;

	if (func >= DT_ACT_QUANTIZE) {
		mov(c, R1, R0);
		if (func == DT_ACT_QUANTIZE)
			quantize_bucket(c);
		else if (func == DT_ACT_LQUANTIZE)
			lquantize_bucket(c, b->agg->param);
		else
			llquantize_bucket(c, b->agg->param);
		st(c, 8, R6, S_BUCKET, R0); /* the verifier forgets by which of many paths it was found */
		if (a->incr) {
			dt_tr_difo(t, a->incr, &v);
			if (!t->reachable)
				return;
			st(c, 8, R6, S_INCR, R0);
		}
		ld(c, 8, R0, R6, S_BUCKET);
	}
	if (func != DT_ACT_COUNT)
		mov(c, R9, R0);
	scale(t, func, a->incr != NULL);
	if (b->key_size)
		find_row(t, a, b, no);
	else
		find_keyless(t, b, drop);
	update(t, a, b, done);
	dt_code_place(c, no);
	if (b->key_size)
		refused(t, a, b, drop, done);
	dt_code_place(c, drop);
	dt_tr_count(t, CPU_AGG_DROPS);
	dt_code_place(c, done);
}
