/*
 * The interpreter: every opcode, every fault, variables and their limits, hand-assembled. Strings
 * and the engine (buffers, speculations, aggregations, ERROR) are in test_vm_subr.c and
 * test_vm_engine.c.
 */
#include <stdint.h>
#include <unistd.h>

#include "unit.h"
#include "vm_asm.h"

/* ---- arithmetic ---- */

static uint64_t op3(uint32_t op, uint64_t a, uint64_t b)
{
	struct prog p = new_prog();

	set(&p, 1, a);
	set(&p, 2, b);
	emit(&p, DT_I_FMT(op, 1, op == DT_OP_NOT || op == DT_OP_MOV ? 0 : 2, 3));
	return result(&p, 3);
}

static void test_arithmetic(void)
{
	const uint64_t min = (uint64_t)INT64_MIN, m1 = UINT64_MAX;

	CHECK(op3(DT_OP_OR, 0xf0, 0x0f) == 0xff);
	CHECK(op3(DT_OP_XOR, 0xff, 0x0f) == 0xf0);
	CHECK(op3(DT_OP_AND, 0xff, 0x0f) == 0x0f);
	CHECK(op3(DT_OP_SLL, 1, 63) == min);
	CHECK(op3(DT_OP_SLL, 1, 64) == 1); /* the count is taken modulo 64 */
	CHECK(op3(DT_OP_SRL, min, 63) == 1);
	CHECK(op3(DT_OP_SRL, min, 65) == min >> 1);
	CHECK(op3(DT_OP_SRA, min, 63) == m1);
	CHECK(op3(DT_OP_SRA, min, 64) == min);
	CHECK(op3(DT_OP_SRA, 4, 1) == 2);
	CHECK(op3(DT_OP_SUB, 1, 2) == m1);
	CHECK(op3(DT_OP_ADD, m1, 2) == 1);
	CHECK(op3(DT_OP_MUL, m1, 3) == (uint64_t)-3);
	CHECK(op3(DT_OP_SDIV, (uint64_t)-7, 2) == (uint64_t)-3);
	CHECK(op3(DT_OP_UDIV, m1, 2) == INT64_MAX);
	CHECK(op3(DT_OP_SREM, (uint64_t)-7, 2) == m1);
	CHECK(op3(DT_OP_UREM, 7, 4) == 3);
	CHECK(op3(DT_OP_SDIV, min, m1) == min);
	CHECK(op3(DT_OP_SREM, min, m1) == 0);
	CHECK(op3(DT_OP_NOT, 0, 0) == m1);
	CHECK(op3(DT_OP_MOV, 5, 0) == 5);
}

static void test_division_by_zero(void)
{
	static const uint32_t ops[] = {DT_OP_SDIV, DT_OP_UDIV, DT_OP_SREM, DT_OP_UREM};

	for (size_t i = 0; i < DT_NELEM(ops); i++) {
		struct prog p = new_prog();

		set(&p, 1, 1);
		emit(&p, DT_I_FMT(ops[i], 1, 0, 2));
		CHECK(faults(&p, DT_FLT_DIVZERO, 0));
		CHECK(p.fault.offset == 4);
	}
}

/* ---- branches: each is asked about four pairs ---- */

static bool branches(uint32_t op, uint64_t a, uint64_t b)
{
	struct prog p = new_prog();

	set(&p, 1, a);
	set(&p, 2, b);
	set(&p, 3, 1);
	emit(&p, DT_I_FMT(DT_OP_CMP, 1, 2, 0));
	emit(&p, DT_I_BR(op, p.n + 2));
	emit(&p, DT_I_FMT(DT_OP_MOV, 0, 0, 3));
	return result(&p, 3);
}

static void test_branches(void)
{
	static const struct {
		uint32_t op;
		bool equal, less, greater, wrap; /* 1:1, -1:1, 1:-1, INT64_MIN:1 */
	} t[] = {
	    {DT_OP_BA, 1, 1, 1, 1},  {DT_OP_BE, 1, 0, 0, 0},   {DT_OP_BNE, 0, 1, 1, 1},
	    {DT_OP_BG, 0, 0, 1, 0},  {DT_OP_BGE, 1, 0, 1, 0},  {DT_OP_BL, 0, 1, 0, 1},
	    {DT_OP_BLE, 1, 1, 0, 1}, {DT_OP_BGU, 0, 1, 0, 1},  {DT_OP_BGEU, 1, 1, 0, 1},
	    {DT_OP_BLU, 0, 0, 1, 0}, {DT_OP_BLEU, 1, 0, 1, 0},
	};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		CHECK(branches(t[i].op, 1, 1) == t[i].equal);
		CHECK(branches(t[i].op, UINT64_MAX, 1) == t[i].less);
		CHECK(branches(t[i].op, 1, UINT64_MAX) == t[i].greater);
		CHECK(branches(t[i].op, (uint64_t)INT64_MIN, 1) == t[i].wrap);
	}
}

static bool tst_is_zero(uint64_t v)
{
	struct prog p = new_prog();

	set(&p, 1, v);
	set(&p, 2, 1);
	emit(&p, DT_I_FMT(DT_OP_TST, 1, 0, 0));
	emit(&p, DT_I_BR(DT_OP_BE, p.n + 2));
	emit(&p, DT_I_FMT(DT_OP_MOV, 0, 0, 2));
	return result(&p, 2);
}

static int scmp(const char *a, const char *b, size_t strsize)
{
	struct prog p = new_prog();

	p.strsize = strsize;
	sets(&p, 1, a);
	sets(&p, 2, b);
	emit(&p, DT_I_FMT(DT_OP_SCMP, 1, 2, 0));
	set(&p, 3, 0);
	emit(&p, DT_I_BR(DT_OP_BE, p.n + 5));
	set(&p, 3, 1);
	emit(&p, DT_I_BR(DT_OP_BG, p.n + 3));
	set(&p, 3, 2);
	emit(&p, DT_I_FMT(DT_OP_NOP, 0, 0, 0));
	return (int)result(&p, 3);
}

static void test_tst_and_scmp(void)
{
	CHECK(tst_is_zero(0));
	CHECK(!tst_is_zero(1) && !tst_is_zero((uint64_t)INT64_MIN));
	CHECK(scmp("abc", "abc", 256) == 0);
	CHECK(scmp("abd", "abc", 256) == 1);
	CHECK(scmp("abc", "abd", 256) == 2);
	CHECK(scmp("ab", "abc", 256) == 2);
	CHECK(scmp("\xff", "a", 256) == 1);  /* bytes are unsigned */
	CHECK(scmp("abcdX", "abcdY", 4) == 0); /* only strsize characters count */
	CHECK(scmp(NULL, "", 256) == 0);     /* NULL is empty */
	CHECK(scmp("a", NULL, 256) == 1);
}

/* ---- memory ---- */

static uint64_t load_back(uint32_t store, uint32_t load, uint64_t v)
{
	struct prog p = new_prog();

	set(&p, 1, 16);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 1, 0, 2));
	set(&p, 3, v);
	emit(&p, DT_I_FMT(store, 3, 0, 2));
	emit(&p, DT_I_FMT(load, 2, 0, 4));
	return result(&p, 4);
}

static void test_loads_and_stores(void)
{
	static const uint32_t first[] = {DT_OP_LDSB, DT_OP_ULDSB, DT_OP_RLDSB};
	const uint64_t v = 0xfedcba98f7f6f5f4;

	for (size_t i = 0; i < DT_NELEM(first); i++) {
		CHECK(load_back(DT_OP_STX, first[i], v) == (uint64_t)(int8_t)0xf4);
		CHECK(load_back(DT_OP_STX, first[i] + 1, v) == (uint64_t)(int16_t)0xf5f4);
		CHECK(load_back(DT_OP_STX, first[i] + 2, v) == (uint64_t)(int32_t)0xf7f6f5f4);
		CHECK(load_back(DT_OP_STX, first[i] + 3, v) == 0xf4);
		CHECK(load_back(DT_OP_STX, first[i] + 4, v) == 0xf5f4);
		CHECK(load_back(DT_OP_STX, first[i] + 5, v) == 0xf7f6f5f4);
		CHECK(load_back(DT_OP_STX, first[i] + 6, v) == v);
	}
	CHECK(load_back(DT_OP_STB, DT_OP_LDX, v) == 0xf4); /* the rest is still zero */
	CHECK(load_back(DT_OP_STH, DT_OP_LDX, v) == 0xf5f4);
	CHECK(load_back(DT_OP_STW, DT_OP_LDX, v) == 0xf7f6f5f4);
}

static void test_bad_addresses(void)
{
	static char outside[8];
	struct prog p;

	for (uint32_t op = DT_OP_LDSB; op <= DT_OP_LDX; op++) {
		p = new_prog();
		set(&p, 1, (uintptr_t)outside);
		emit(&p, DT_I_FMT(op, 1, 0, 2));
		CHECK(faults(&p, DT_FLT_BADADDR, (uintptr_t)outside));
	}
	for (uint32_t op = DT_OP_STB; op <= DT_OP_STX; op++) {
		p = new_prog();
		set(&p, 1, (uintptr_t)outside);
		emit(&p, DT_I_FMT(op, 1, 0, 1));
		CHECK(faults(&p, DT_FLT_BADADDR, (uintptr_t)outside));
	}
	p = new_prog(); /* constants are read-only */
	sets(&p, 1, "text");
	emit(&p, DT_I_FMT(DT_OP_STB, 0, 0, 1));
	CHECK(faults(&p, DT_FLT_BADADDR, (uintptr_t)p.str + 1));

	p = new_prog(); /* unmapped user memory */
	set(&p, 1, 0xdead0000dead0000);
	emit(&p, DT_I_FMT(DT_OP_ULDX, 1, 0, 2));
	CHECK(faults(&p, DT_FLT_BADADDR, 0xdead0000dead0000));

	p = new_prog(); /* one byte past what was allocated */
	set(&p, 1, 15);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 1, 0, 2));
	set(&p, 3, 8);
	emit(&p, DT_I_FMT(DT_OP_ADD, 2, 3, 2));
	emit(&p, DT_I_FMT(DT_OP_STX, 0, 0, 2));
	CHECK(run(&p) == 0 && p.fault.code == DT_FLT_BADADDR);
}

static void test_alignment(void)
{
	for (uint32_t op = DT_OP_STH; op <= DT_OP_STX; op++) {
		struct prog p = new_prog();

		set(&p, 1, 32);
		emit(&p, DT_I_FMT(DT_OP_ALLOCS, 1, 0, 2));
		set(&p, 3, 1);
		emit(&p, DT_I_FMT(DT_OP_ADD, 2, 3, 2));
		emit(&p, DT_I_FMT(op, 0, 0, 2));
		run(&p);
		CHECK(p.fault.code == DT_FLT_BADALIGN && p.fault.value % 8 == 1);
	}
}

static void test_scratch(void)
{
	struct prog p = new_prog();

	set(&p, 1, UINT64_MAX);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 1, 0, 2));
	CHECK(faults(&p, DT_FLT_NOSCRATCH, 0));

	p = new_prog(); /* copys */
	sets(&p, 1, "0123456789");
	set(&p, 2, 16);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 2, 0, 3));
	set(&p, 2, 10);
	emit(&p, DT_I_FMT(DT_OP_COPYS, 1, 2, 3));
	CHECK_STR(text(&p, 3), "0123456789");

	p = new_prog(); /* ... only into what may be written */
	sets(&p, 1, "0123456789");
	set(&p, 2, 4);
	emit(&p, DT_I_FMT(DT_OP_COPYS, 1, 2, 1));
	CHECK(faults(&p, DT_FLT_BADADDR, (uintptr_t)p.str + 1));

	p = new_prog(); /* ... and only from what may be read */
	set(&p, 2, 16);
	emit(&p, DT_I_FMT(DT_OP_ALLOCS, 2, 0, 3));
	set(&p, 1, 8);
	emit(&p, DT_I_FMT(DT_OP_COPYS, 1, 2, 3));
	CHECK(faults(&p, DT_FLT_BADADDR, 8));
}

/* ---- control ---- */

static void test_control(void)
{
	struct prog p = new_prog();

	emit(&p, DT_I_FMT(DT_OP_NOP, 0, 0, 0));
	CHECK(result(&p, 0) == 0);

	p = new_prog(); /* %r0 stays 0 even if something wrote it */
	p.unverified = true;
	set(&p, 0, 7);
	CHECK(result(&p, 0) == 0);

	p = new_prog();
	p.unverified = true;
	emit(&p, DT_I_BR(DT_OP_BA, 0));
	CHECK(faults(&p, DT_FLT_ILLOP, 0));

	p = new_prog(); /* off the end */
	p.unverified = true;
	emit(&p, DT_I_BR(DT_OP_BA, 100));
	CHECK(result(&p, 1) == 0 && !faulted(&p));

	static const uint32_t illegal[] = {0,		DT_OP_LDTA, DT_OP_STGA, DT_OP_XLATE,
					   DT_OP_XLARG, 81,	    255};
	for (size_t i = 0; i < DT_NELEM(illegal); i++) {
		p = new_prog();
		p.unverified = true;
		emit(&p, DT_I_FMT(illegal[i], 0, 0, 1));
		CHECK(faults(&p, DT_FLT_ILLOP, 0));
	}
	p = new_prog();
	p.unverified = true;
	emit(&p, DT_I_IDX(DT_OP_SETX, 999, 1));
	CHECK(faults(&p, DT_FLT_ILLOP, 0));
	p = new_prog();
	p.unverified = true;
	emit(&p, DT_I_IDX(DT_OP_SETS, 9999, 1));
	CHECK(faults(&p, DT_FLT_ILLOP, 0));
	p = new_prog();
	p.unverified = true;
	emit(&p, DT_I_IDX(DT_OP_CALL, 200, 1));
	CHECK(faults(&p, DT_FLT_ILLOP, 0));
}

static void test_tuples(void)
{
	struct prog p = new_prog();

	for (int i = 0; i < 9; i++)
		emit(&p, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 0));
	CHECK(faults(&p, DT_FLT_TUPOFLOW, 0));
	CHECK(p.fault.offset == 32);

	p = new_prog(); /* popts and flushts make room again */
	for (int i = 0; i < 20; i++) {
		emit(&p, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 0));
		emit(&p, DT_I_FMT(i % 2 ? DT_OP_POPTS : DT_OP_FLUSHTS, 0, 0, 0));
	}
	emit(&p, DT_I_FMT(DT_OP_POPTS, 0, 0, 0)); /* of an empty stack: nothing */
	CHECK(result(&p, 0) == 0 && !faulted(&p));
}

/* ---- variables ---- */

static void test_scalars(void)
{
	static const struct {
		uint32_t store, load;
		uint8_t scope;
	} t[] = {{DT_OP_STGS, DT_OP_LDGS, DT_SCOPE_GLOBAL},
		 {DT_OP_STLS, DT_OP_LDLS, DT_SCOPE_LOCAL},
		 {DT_OP_STTS, DT_OP_LDTS, DT_SCOPE_THREAD}};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		struct prog p = new_prog();

		variable(&p, 0x500, t[i].scope, DT_VAR_SCALAR, number_type);
		emit(&p, DT_I_IDX(t[i].load, 0x500, 1)); /* 0 before it is set */
		set(&p, 2, 42);
		emit(&p, DT_I_IDX(t[i].store, 0x500, 2));
		emit(&p, DT_I_IDX(t[i].load, 0x500, 3));
		emit(&p, DT_I_FMT(DT_OP_ADD, 1, 3, 3));
		CHECK(result(&p, 3) == 42);
	}
}

static void test_strings_as_variables(void)
{
	static const struct {
		uint32_t store, load;
		uint8_t scope;
	} t[] = {{DT_OP_STGS, DT_OP_LDGS, DT_SCOPE_GLOBAL},
		 {DT_OP_STLS, DT_OP_LDLS, DT_SCOPE_LOCAL},
		 {DT_OP_STTS, DT_OP_LDTS, DT_SCOPE_THREAD}};

	for (size_t i = 0; i < DT_NELEM(t); i++) {
		struct prog p = new_prog();

		p.strsize = 8;
		variable(&p, 0x501, t[i].scope, DT_VAR_SCALAR, string_type(8));
		sets(&p, 1, "a long string");
		emit(&p, DT_I_IDX(t[i].store, 0x501, 1));
		emit(&p, DT_I_IDX(t[i].load, 0x501, 2));
		CHECK_STR(text(&p, 2), "a long s");

		p = new_prog(); /* NULL differs from "" */
		variable(&p, 0x501, t[i].scope, DT_VAR_SCALAR, string_type(16));
		sets(&p, 1, "x");
		emit(&p, DT_I_IDX(t[i].store, 0x501, 1));
		emit(&p, DT_I_IDX(t[i].store, 0x501, 0));
		emit(&p, DT_I_IDX(t[i].load, 0x501, 2));
		CHECK(result(&p, 2) == 0);

		p = new_prog(); /* a bad source is a fault and changes nothing */
		variable(&p, 0x501, t[i].scope, DT_VAR_SCALAR, string_type(16));
		set(&p, 1, 4);
		emit(&p, DT_I_IDX(t[i].store, 0x501, 1));
		CHECK(faults(&p, DT_FLT_BADADDR, 4));
	}
	struct prog p = new_prog(); /* an unset global string is empty, not NULL */
	variable(&p, 0x501, DT_SCOPE_GLOBAL, DT_VAR_SCALAR, string_type(16));
	emit(&p, DT_I_IDX(DT_OP_LDGS, 0x501, 2));
	CHECK_STR(text(&p, 2), "");
}

/* The storage of an object can be written, the NULL marks around it cannot. */
static void test_object_storage(void)
{
	static const struct {
		int64_t offset;
		bool ok;
	} t[] = {{0, true}, {8, true}, {-8, false}, {24, false}};

	for (size_t i = 0; i < 2 * DT_NELEM(t); i++) {
		bool dynamic = i % 2;
		struct prog p = new_prog();

		variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_SCALAR, string_type(16));
		variable(&p, 0x501, DT_SCOPE_GLOBAL, DT_VAR_SCALAR, string_type(16));
		variable(&p, 0x502, DT_SCOPE_THREAD, DT_VAR_SCALAR, string_type(16));
		sets(&p, 1, "abc");
		emit(&p, dynamic ? DT_I_IDX(DT_OP_STTS, 0x502, 1) : DT_I_IDX(DT_OP_STGS, 0x500, 1));
		emit(&p, dynamic ? DT_I_IDX(DT_OP_LDTS, 0x502, 2) : DT_I_IDX(DT_OP_LDGS, 0x500, 2));
		set(&p, 3, (uint64_t)t[i / 2].offset);
		emit(&p, DT_I_FMT(DT_OP_ADD, 2, 3, 2));
		emit(&p, DT_I_FMT(DT_OP_STX, 0, 0, 2));
		run(&p);
		CHECK(faulted(&p) == !t[i / 2].ok);
	}
}

static void key(struct prog *p, uint64_t number, const char *string)
{
	emit(p, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	set(p, 1, number);
	emit(p, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 1));
	sets(p, 1, string);
	emit(p, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_STRING, 0, 1));
}

static void test_associative(void)
{
	static const uint32_t ops[2][2] = {{DT_OP_STGAA, DT_OP_LDGAA}, {DT_OP_STTAA, DT_OP_LDTAA}};

	for (int i = 0; i < 2; i++) {
		struct prog p = new_prog();

		variable(&p, 0x500, i ? DT_SCOPE_THREAD : DT_SCOPE_GLOBAL, DT_VAR_ARRAY,
			 number_type);
		set(&p, 2, 1);
		key(&p, 1, "one");
		emit(&p, DT_I_IDX(ops[i][0], 0x500, 2));
		set(&p, 2, 20);
		key(&p, 2, "one");
		emit(&p, DT_I_IDX(ops[i][0], 0x500, 2));
		set(&p, 2, 300);
		key(&p, 1, "two");
		emit(&p, DT_I_IDX(ops[i][0], 0x500, 2));
		key(&p, 2, "one"); /* freed */
		emit(&p, DT_I_IDX(ops[i][0], 0x500, 0));
		key(&p, 1, "one");
		emit(&p, DT_I_IDX(ops[i][1], 0x500, 3));
		key(&p, 2, "one");
		emit(&p, DT_I_IDX(ops[i][1], 0x500, 4));
		emit(&p, DT_I_FMT(DT_OP_ADD, 3, 4, 3));
		key(&p, 1, "two");
		emit(&p, DT_I_IDX(ops[i][1], 0x500, 4));
		emit(&p, DT_I_FMT(DT_OP_ADD, 3, 4, 3));
		CHECK(result(&p, 3) == 301);
	}
}

static void test_associative_objects(void)
{
	struct prog p = new_prog();

	variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_ARRAY, string_type(32));
	key(&p, 5, "k");
	sets(&p, 2, "the value");
	emit(&p, DT_I_IDX(DT_OP_STGAA, 0x500, 2));
	key(&p, 5, "k");
	emit(&p, DT_I_IDX(DT_OP_LDGAA, 0x500, 3));
	CHECK_STR(text(&p, 3), "the value");

	p = new_prog(); /* a NULL string is not a key */
	variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_ARRAY, number_type);
	emit(&p, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_STRING, 0, 0));
	set(&p, 1, 1);
	emit(&p, DT_I_IDX(DT_OP_STGAA, 0x500, 1));
	CHECK(faults(&p, DT_FLT_BADADDR, 0));

	p = new_prog(); /* keys by reference are compared by content */
	variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_ARRAY, number_type);
	sets(&p, 1, "abcd1");
	sets(&p, 2, "abcd2");
	set(&p, 3, 4);
	set(&p, 4, 9);
	emit(&p, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_CTF, 3, 1));
	emit(&p, DT_I_IDX(DT_OP_STGAA, 0x500, 4));
	emit(&p, DT_I_FMT(DT_OP_FLUSHTS, 0, 0, 0));
	emit(&p, DT_I_FMT(DT_OP_PUSHTR, DT_TYPE_CTF, 3, 2));
	emit(&p, DT_I_IDX(DT_OP_LDGAA, 0x500, 5));
	CHECK(result(&p, 5) == 9);
}

/* More variables than dynvarsize holds: the stores that do not fit are lost and counted. */
static void test_dynamic_drops(void)
{
	struct prog p = new_prog();
	dt_difo d;
	dt_vm vm;
	dt_vm_firing f;

	p.dynvarsize = 4096; /* 15 chunks of 256 bytes, with their hash table */
	variable(&p, 0x500, DT_SCOPE_GLOBAL, DT_VAR_ARRAY, number_type);
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_ARG0, 1));
	emit(&p, DT_I_FMT(DT_OP_PUSHTV, DT_TYPE_CTF, 0, 1));
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_ARG1, 1));
	emit(&p, DT_I_IDX(DT_OP_STGAA, 0x500, 1));
	emit(&p, DT_I_IDX(DT_OP_LDGAA, 0x500, 1));
	ret(&p, 1);
	open_machine(&p, &d, &vm, &f);
	for (uint64_t i = 0; i < 20; i++) {
		f.args[0] = i;
		f.args[1] = i + 100;
		CHECK(dt_vm_run(&vm, &d) == (i < vm.dyn.nchunks ? i + 100 : 0));
	}
	CHECK(vm.dyn.nchunks == 15 && vm.dyn.state->drops == 5);
	f.args[0] = 3; /* freeing one makes room for another */
	f.args[1] = 0;
	dt_vm_run(&vm, &d);
	f.args[0] = 1000;
	f.args[1] = 7;
	CHECK(dt_vm_run(&vm, &d) == 7 && vm.dyn.state->drops == 5);
	close_machine(&vm, &f);
}

/* ---- built-in variables ---- */

static uint64_t builtin(uint32_t id)
{
	struct prog p = new_prog();

	emit(&p, DT_I_IDX(DT_OP_LDGS, id, 1));
	return result(&p, 1);
}

static const char *builtin_text(uint32_t id)
{
	static struct prog p;

	p = new_prog();
	emit(&p, DT_I_IDX(DT_OP_LDGS, id, 1));
	return text(&p, 1);
}

static void test_builtins(void)
{
	struct prog p;

	CHECK(builtin(DT_VAR_PID) == (uint64_t)getpid());
	CHECK(builtin(DT_VAR_NSPID) == (uint64_t)getpid());
	CHECK(builtin(DT_VAR_PPID) == (uint64_t)getppid());
	CHECK(builtin(DT_VAR_TID) == (uint64_t)gettid());
	CHECK(builtin(DT_VAR_UID) == geteuid() && builtin(DT_VAR_GID) == getegid());
	CHECK(builtin(DT_VAR_TIMESTAMP) > 0 &&
	      builtin(DT_VAR_WALLTIMESTAMP) > 1600000000000000000u);
	CHECK(builtin(DT_VAR_VTIMESTAMP) > 0);
	CHECK(builtin(DT_VAR_PIDNS) > 0 && builtin(DT_VAR_MNTNS) > 0 && builtin(DT_VAR_NETNS) > 0);
	CHECK(builtin(DT_VAR_CURTHREAD) == 0 && builtin(DT_VAR_ERRNO) == 0);
	CHECK_STR(builtin_text(DT_VAR_EXECNAME), "test_vm");
	CHECK_STR(builtin_text(DT_VAR_THREADNAME), "test_vm");
	CHECK_STR(builtin_text(DT_VAR_ZONENAME), "global");
	CHECK_STR(builtin_text(DT_VAR_JAILNAME), "0");
	CHECK(strstr(builtin_text(DT_VAR_EXECARGS), "test_vm") != NULL);
	CHECK_STR(builtin_text(DT_VAR_PROBENAME), "");

	p = new_prog(); /* timestamp does not move within a firing */
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_TIMESTAMP, 1));
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_TIMESTAMP, 2));
	emit(&p, DT_I_FMT(DT_OP_SUB, 1, 2, 1));
	CHECK(result(&p, 1) == 0);

	p = new_prog(); /* texts are cut to strsize and cannot be written */
	p.strsize = 4;
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_ZONENAME, 1));
	CHECK_STR(text(&p, 1), "glob");
	p = new_prog();
	emit(&p, DT_I_IDX(DT_OP_LDGS, DT_VAR_ZONENAME, 1));
	emit(&p, DT_I_FMT(DT_OP_STB, 0, 0, 1));
	run(&p);
	CHECK(p.fault.code == DT_FLT_BADADDR);

	p = new_prog(); /* no such built-in */
	emit(&p, DT_I_IDX(DT_OP_LDGS, 0x4ff, 1));
	CHECK(faults(&p, DT_FLT_ILLOP, 0));

	for (uint32_t id = DT_VAR_ARGS; id <= DT_VAR_VMREGS; id++) {
		p = new_prog();
		set(&p, 1, 3);
		emit(&p, DT_I_FMT(DT_OP_LDGA, id, 1, 2));
		CHECK(result(&p, 2) == 0 && !faulted(&p));
	}
	p = new_prog(); /* an index far out */
	set(&p, 1, UINT64_MAX);
	emit(&p, DT_I_FMT(DT_OP_LDGA, DT_VAR_ARGS, 1, 2));
	CHECK(result(&p, 2) == 0 && !faulted(&p));
}

static void test_eval(void)
{
	struct prog p = new_prog();
	dt_fault fault;
	dt_difo d;

	set(&p, 1, 7);
	ret(&p, 1);
	d = difo(&p);
	CHECK(dt_vm_eval(&d, 256, &fault) == 7);
	CHECK(fault.code == 0 && fault.offset == -2);

	p = new_prog();
	emit(&p, DT_I_FMT(DT_OP_LDX, 0, 0, 1));
	ret(&p, 1);
	d = difo(&p);
	CHECK(dt_vm_eval(&d, 256, &fault) == 0);
	CHECK(fault.code == DT_FLT_BADADDR && fault.offset == 0 && fault.value == 0);
}

int main(void)
{
	test_arithmetic();
	test_division_by_zero();
	test_branches();
	test_tst_and_scmp();
	test_loads_and_stores();
	test_bad_addresses();
	test_alignment();
	test_scratch();
	test_control();
	test_tuples();
	test_scalars();
	test_strings_as_variables();
	test_object_storage();
	test_associative();
	test_associative_objects();
	test_dynamic_drops();
	test_builtins();
	test_eval();
	return unit_done();
}
