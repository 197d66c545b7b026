/*
 * test_actions: the table of actions (dif/actions.def) against DTrace's numbers, which existing
 * files use, and for consistency.
 */
#include "dif/dif.h"
#include "unit.h"

static const struct {
	const char *name; /* of the D function; "" for a kind that no function makes alone */
	uint32_t number;
} contract[] = {
    {"trace", 1},	   {"exit", 2},		{"printf", 3},	       {"printa", 4},
    {"setopt", 5},	   {"tracemem", 6},	{"", 7},	       {"printm", 8},
    {"ustack", 0x101},	   {"jstack", 0x102},	{"usym", 0x103},       {"umod", 0x104},
    {"uaddr", 0x105},	   {"stop", 0x201},	{"raise", 0x202},      {"system", 0x203},
    {"freopen", 0x204},	   {"stack", 0x401},	{"sym", 0x402},	       {"mod", 0x403},
    {"breakpoint", 0x501}, {"panic", 0x502},	{"chill", 0x503},      {"speculate", 0x601},
    {"commit", 0x602},	   {"discard", 0x603},	{"count", 0x701},      {"min", 0x702},
    {"max", 0x703},	   {"avg", 0x704},	{"sum", 0x705},	       {"stddev", 0x706},
    {"quantize", 0x707},   {"lquantize", 0x708}, {"llquantize", 0x709},
};

static const uint32_t kinds[] = {
#define DT_ACT(sym, number, ...) DT_ACT_##sym,
#include "dif/actions.def"
#undef DT_ACT
};

static void test_numbers(void)
{
	size_t of_dtrace = 0;

	for (size_t i = 0; i < DT_NELEM(kinds); i++)
		of_dtrace += kinds[i] < 0x800;
	CHECK(of_dtrace == DT_NELEM(contract));
	for (size_t i = 0; i < DT_NELEM(contract); i++) {
		const struct dt_act_desc *d = dt_act_find(contract[i].number);

		CHECK(d && d->kind == contract[i].number);
		CHECK_STR(dt_act_name((enum dt_act)contract[i].number), contract[i].name);
	}
	for (size_t i = 0; i < DT_NELEM(kinds); i++)
		for (size_t k = i + 1; k < DT_NELEM(kinds); k++)
			CHECK(kinds[i] != kinds[k]);
	CHECK(!dt_act_find(0) && !dt_act_find(9) && !dt_act_find(0x70a) && !dt_act_find(UINT32_MAX));
	CHECK(dt_act(DT_ACT_NONE)->payload == DT_PAYLOAD_NONE);
	CHECK(dt_act(DT_ACT_NONE)->effect == DT_EFFECT_NONE);
}

/* The class of a number determines the columns. */
static void test_classes(void)
{
	for (size_t i = 0; i < DT_NELEM(kinds); i++) {
		const struct dt_act_desc *d = dt_act_find(kinds[i]);
		uint32_t class = kinds[i] & 0xff00;

		CHECK(!!(d->needs & DT_NEEDS_DESTRUCTIVE) == (class == 0x200 || class == 0x500));
		CHECK(dt_act_is_agg(d->kind) == (class == 0x700));
		CHECK(dt_act_is_agg(d->kind) == (d->stmt == DT_ST_AGG));
		CHECK(!!(d->needs & DT_NEEDS_SYMBOLS) == (class == 0x100));
		CHECK(dt_act_is_stack(d->kind) == (d->stmt == DT_ST_STACK));
		CHECK(dt_act_is_symbol(d->kind) == (d->stmt == DT_ST_SYM));
		CHECK(!!(d->needs & DT_NEEDS_KERNEL) == dt_act_is_stack(d->kind));
		if (d->is_key)
			CHECK(d->payload != DT_PAYLOAD_NONE);
		if (dt_stmts[d->stmt].has_format)
			CHECK(d->always_recorded);
	}
}

/* Our DOF files hold these numbers. */
static void test_statements(void)
{
	CHECK(DT_ST_EXPR == 0 && DT_ST_TRACE == 1 && DT_ST_PRINTF == 7 && DT_ST_PRINTA == 10);
	CHECK(DT_ST_AGG == 11 && DT_ST_SETOPT == 16 && DT_ST_EXIT == 18 && DT_ST_KERNEL == 22);
	CHECK(dt_act_makes(DT_ACT_LIBACT, DT_ST_CLEAR) && dt_act_makes(DT_ACT_LIBACT, DT_ST_SETOPT));
	CHECK(!dt_act_makes(DT_ACT_LIBACT, DT_ST_PRINTF) && !dt_act_makes(DT_ACT_EXIT, DT_ST_CLEAR));
	CHECK(dt_act_makes(DT_ACT_TRACEMEM_DYNSIZE, DT_ST_TRACEMEM));
	CHECK(dt_stmts[DT_ST_PRINTA].aggs == DT_AGGS_SOME && dt_stmts[DT_ST_TRUNC].aggs == DT_AGGS_ONE);
	CHECK(dt_stmts[DT_ST_FREOPEN].has_format && !dt_stmts[DT_ST_TRACE].has_format);
}

static uint64_t size_of(enum dt_act kind, dt_diftype type, uint64_t arg, uint32_t want_align)
{
	dt_difo d = {.rtype = type};
	dt_action a = {.kind = kind, .difo = type.size ? &d : NULL, .arg = arg};
	uint32_t align;
	uint64_t size = dt_datum_size(&a, &align);

	CHECK(align == want_align);
	return size;
}

static void test_sizes(void)
{
	const dt_diftype none = {0}, i4 = {.size = 4};
	const dt_diftype str = {.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = 256};
	const dt_diftype obj = {.flags = DT_TF_BYREF, .size = 40};
	dt_difo d = {.rtype = str};
	dt_action a = {.kind = DT_ACT_PRINTF, .difo = &d};

	CHECK(size_of(DT_ACT_DIFEXPR, i4, 0, 4) == 4 && size_of(DT_ACT_EXIT, i4, 0, 4) == 4);
	CHECK(size_of(DT_ACT_DIFEXPR, str, 0, 1) == 256 && size_of(DT_ACT_PRINTF, obj, 0, 8) == 40);
	CHECK(size_of(DT_ACT_PRINTF, none, 0, 0) == 0 && size_of(DT_ACT_RAISE, i4, 0, 0) == 0);
	CHECK(size_of(DT_ACT_CHILL, i4, 0, 0) == 0 && size_of(DT_ACT_COMMIT, i4, 0, 0) == 0);
	CHECK(size_of(DT_ACT_SUM, i4, 0, 0) == 0 && size_of(DT_ACT_STOP, none, 0, 0) == 0);
	CHECK(size_of(DT_ACT_STACK, none, 5, 8) == 40);
	CHECK(size_of(DT_ACT_USTACK, none, 5, 8) == 48);
	CHECK(size_of(DT_ACT_JSTACK, none, 5 | 512ull << 32, 8) == 48 + 512);
	CHECK(size_of(DT_ACT_SYM, i4, 0, 8) == 8 && size_of(DT_ACT_UADDR, i4, 0, 8) == 16);
	CHECK(size_of(DT_ACT_TRACEMEM, i4, 32, 1) == 32 && size_of(DT_ACT_TRACEMEM, i4, 0, 1) == 4);
	CHECK(size_of(DT_ACT_PRINTM, i4, 32, 8) == 40);
	CHECK(size_of(DT_ACT_PRINTM, i4, UINT32_MAX, 8) == UINT32_MAX + 8ull);

	CHECK(dt_datum_is_string(&a));
	a.kind = DT_ACT_TRACEMEM; /* bytes, whatever the type of the address */
	CHECK(!dt_datum_is_string(&a));
	a.kind = DT_ACT_SYM;
	CHECK(!dt_datum_is_string(&a));
	a = (dt_action){.kind = DT_ACT_PRINTF};
	CHECK(!dt_datum_is_string(&a));
}

int main(void)
{
	test_numbers();
	test_classes();
	test_statements();
	test_sizes();
	return unit_done();
}
