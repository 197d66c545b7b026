/* aarch64: its instructions, parameters, operands and unwinding, on any host. */
#include "arch/aarch64/aarch64.h"
#include "arch/arch.h"
#include "elf/cfi.h"
#include "unit.h"

static const struct dt_insn_mode plain = {0}, go = {.go = true}, narrow = {.narrow = true};

/* Instructions as bytes. */
#define CODE(...) (const uint8_t *)(const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__})
#define code	  (&dt_aarch64_code)

enum {
	STP = 0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	MOV_FP = 0x910003fd,
	STR_X19 = 0xf9000bf3, /* str x19, [sp, #16] */
	MOV_X19 = 0xaa0003f3, /* mov x19, x0 */
	CBZ = 0x340000e0,     /* cbz w0, . + 28 */
	TBNZ = 0xb70800c1,    /* tbnz x1, #33, . + 24 */
	B_GT = 0x540000ac,    /* b.gt . + 20 */
	BL = 0x9400000f,
	ADRP_X9 = 0x90000009,
	LDR_LITERAL = 0x58000480,
	LDAXR = 0x885ffc01,
	ADD = 0x11000421,
	STLXR = 0x8802fc01,
	CBNZ = 0x35ffffa2, /* cbnz w2, . - 12 */
	LDAR = 0xc8dffc20,
	SVC = 0xd4000001,
	PACIASP = 0xd503233f,
	AUTIASP = 0xd50323bf,
	BTI_C = 0xd503245f,
	NOP = 0xd503201f,
	YIELD = 0xd503203f,
	BR_X16 = 0xd61f0200,
	BR_X0 = 0xd61f0000,
	ADD_X0 = 0x8b208820, /* add x0, x1, w0, sxtb #2 */
	RET = 0xd65f03c0,
	RETAA = 0xd65f0bff,
	MSR = 0xd51bd040,
	MRS = 0xd53bd040,
	LDR_D0 = 0x5c000240, /* a literal */
	LDR_X27 = 0x580009db,
	LDR_X16 = 0x58000050,
	STR_LR_X27 = 0xf83b6bfe, /* str x30, [sp, x27] */
	GO_GUARD = 0xf9400b90,
	CMP_SP = 0xeb3063ff,
	B_LS = 0x54fffe49,
	STR_LR = 0xf81d0ffe, /* str x30, [sp, #-48]! */
};

static void entry(const char *what, const struct dt_insn_mode *k, const uint8_t *bytes, size_t n, uint32_t offset,
		  uint32_t frame, bool cheap)
{
	dt_insn i = {.offset = 99};

	CHECK(code->entry(k, bytes, n, false, &i));
	if (i.offset != offset || i.frame != frame || !!(i.flags & DT_INSN_CHEAP) != cheap)
		fprintf(stderr, "%s: offset %u frame %u flags %x\n", what, i.offset, i.frame, i.flags);
	CHECK(i.offset == offset && i.frame == frame && !!(i.flags & DT_INSN_CHEAP) == cheap);
	CHECK(code->entry(k, bytes, n, true, &i) && i.offset == 0);
}

static void entries(void)
{
	dt_insn i;

	entry("stp; mov; cbz", &plain, CODE(STP, MOV_FP, STR_X19, CBZ, RET), 12, 32, true);
	entry("stp; mov x19, x0: after it nothing is known", &plain, CODE(STP, MOV_X19, CBZ), 0, 0, false);
	entry("cbz", &plain, CODE(CBZ, RET), 0, 0, true);
	entry("adrp x9", &plain, CODE(ADRP_X9, RET), 0, 0, true);
	entry("bti c; stp; bl", &plain, CODE(BTI_C, STP, BL), 8, 32, true);
	entry("paciasp: the return address is signed after it", &plain, CODE(PACIASP, STP, BL), 0, 0, false);
	entry("str x19, [sp, #16] of another frame", &plain, CODE(STR_X19, CBZ), 0, 0, false);
	entry("Go: the check, then the frame", &go, CODE(GO_GUARD, CMP_SP, B_LS, STR_LR, RET), 16, 48, true);
	entry("Go: adrp x9: an argument", &go, CODE(STR_LR, MOV_X19, RET), 0, 0, false);
	entry("Go: ldr x27, a literal: the kernel refuses it", &go, CODE(LDR_X27, STR_LR_X27, RET), 4, 0, false);
	entry("ldr x16, a literal", &plain, CODE(LDR_X16, BR_X16), 4, 0, true);
	entry("ldr x27, which is saved later than that", &plain, CODE(LDR_X27, CBZ), 0, 0, false);
	CHECK(!code->entry(&narrow, CODE(STP), false, &i));
	CHECK(!code->entry(&plain, (const uint8_t *)"", 0, false, &i));
}

static void body(void)
{
	dt_jump_targets t = {0};
	dt_body b = {0};

	code->decode(&b, &plain, CODE(STP, CBZ, TBNZ, B_GT, BL, LDAXR, ADD, STLXR, CBNZ, LDAR, SVC, AUTIASP, BR_X16, RET), 0x1000);
	CHECK(b.whole && b.insns.n == 14);
	CHECK(b.insns.v[0].flags == 0 && b.insns.v[0].length == 4);
	CHECK(b.insns.v[1].flags == (DT_INSN_JUMP | DT_INSN_MAYBE | DT_INSN_CHEAP) && b.insns.v[1].target == 0x1004 + 28);
	CHECK(b.insns.v[2].target == 0x1008 + 24 && b.insns.v[3].target == 0x100c + 20);
	CHECK(b.insns.v[4].flags == DT_INSN_CHEAP); /* a call comes back */
	for (int i = 5; i <= 7; i++) /* the store would fail forever */
		CHECK(b.insns.v[i].flags & DT_INSN_REFUSED);
	CHECK(!(b.insns.v[8].flags & DT_INSN_REFUSED) && b.insns.v[8].target == 0x1020 - 12);
	CHECK(b.insns.v[9].flags == 0); /* ldar has no store that would fail */
	for (int i = 10; i <= 11; i++)
		CHECK(b.insns.v[i].flags == DT_INSN_REFUSED);
	CHECK(b.insns.v[12].flags == (DT_INSN_INDIRECT | DT_INSN_CHEAP));
	CHECK(b.insns.v[13].flags == (DT_INSN_RETURN | DT_INSN_CHEAP));
	code->decode(&b, &plain, CODE(ADD_X0, BR_X0, RETAA, LDR_D0, MSR, MRS, YIELD, BTI_C), 0);
	CHECK(b.insns.v[1].flags == DT_INSN_CHEAP); /* into a table of its own */
	CHECK(b.insns.v[2].flags == (DT_INSN_RETURN | DT_INSN_REFUSED));
	CHECK(b.insns.v[3].flags == DT_INSN_REFUSED && b.insns.v[4].flags == DT_INSN_REFUSED);
	CHECK(b.insns.v[5].flags == 0 && b.insns.v[6].flags == DT_INSN_REFUSED && b.insns.v[7].flags == DT_INSN_LANDING_PAD);
	code->decode(&b, &plain, CODE(LDR_X27), 0);
	CHECK(b.insns.v[0].flags == DT_INSN_REFUSED); /* a literal of a general register as well */
	code->decode(&b, &narrow, CODE(STP, RET), 0);
	CHECK(!b.whole && b.insns.n == 0);
	dt_body_free(&b);
	code->targets(&t, &plain, CODE(CBZ, BL, B_GT), 0x1000);
	CHECK(t.n == 2 && t.v[0] == 0x1000 + 28 && t.v[1] == 0x1008 + 20);
	dt_vec_free(&t);
}

static void single(void)
{
	const uint32_t stub[] = {BTI_C, 0x90000010, 0xf9400e11, 0x91006210, 0xd61f0220}, exclusive[] = {LDAXR, ADD, STLXR, ADD};
	const uint8_t *p = (const uint8_t *)stub, *x = (const uint8_t *)exclusive;
	uint64_t slot = 0;
	uint32_t offset = 0;

	CHECK(code->plt_slot(p, sizeof(stub), 0x5000, &slot) && slot == 0x5018);
	CHECK(code->plt_slot(p + 4, sizeof(stub) - 4, 0x5004, &slot) && slot == 0x5018);
	CHECK(!code->plt_slot(p + 8, sizeof(stub) - 8, 0x5008, &slot) && !code->plt_slot(p, 8, 0x5000, &slot));
	CHECK(code->kprobe_refuses(x, 0, 4) && code->kprobe_refuses(x, 4, 4) && code->kprobe_refuses(x, 8, 4) &&
	      !code->kprobe_refuses(x, 12, 4));
	CHECK(code->kprobe_refuses((const uint8_t *)(const uint32_t[]){0xaa1e03e9, NOP}, 4, 4));
	CHECK(code->is_padding((const uint8_t *)"\x1f\x20\x03\xd5", 4) && code->is_padding((const uint8_t *)"\0\0\0", 4) &&
	      !code->is_padding(x, 4));
	CHECK(code->kernel_tail(CODE(RET, 0x9ac17720, 0xffffb977)) == 8 && code->kernel_tail(CODE(STP, NOP, RET)) == 0);
	CHECK(code->member(CODE(0xf9400c00, RET), &offset) && offset == 24);
	CHECK(!code->member(CODE(STP, RET), &offset));
}

static void printed(void)
{
	static const struct {
		uint32_t w;
		const char *text;
		uint64_t target;
	} rows[] = {{STP, "stp x29, x30, [sp, #-32]!", 0}, {0xa8c27bfd, "ldp x29, x30, [sp], #32", 0},
		    {BL, "bl 0x103c", 0x103c},	       {CBZ, "cbz w0, 0x101c", 0x101c},
		    {TBNZ, "tbnz x1, #33, 0x1018", 0x1018}, {B_GT, "b.gt 0x1014", 0x1014},
		    {ADRP_X9, "adrp x9, 0x1000", 0},   {BR_X16, "br x16", 0},
		    {0xd63f0060, "blr x3", 0},	       {RET, "ret", 0},
		    {MOV_X19, "mov x19, x0", 0},       {ADD, "add w1, w1, #0x1", 0},
		    {0xd14007ff, "sub sp, sp, #0x1, lsl #12", 0}, {LDAXR, ".inst 0x885ffc01", 0}};
	dt_buf b = {0};

	for (size_t i = 0; i < DT_NELEM(rows); i++) {
		uint64_t target = 0;

		b.n = 0;
		CHECK(code->print(&plain, CODE(rows[i].w), 0x1000, &b, &target));
		CHECK_STR(b.s, rows[i].text);
		CHECK(target == rows[i].target);
	}
	dt_buf_free(&b);
}

static void conditions(void)
{
	static const struct {
		uint32_t w;
		const char *text;
	} rows[] = {{CBZ, "(uint32_t)uregs[0] == 0"},
		    {0xb5ffffa2, "(uint64_t)uregs[2] != 0"},
		    {TBNZ, "(uregs[1] >> 33 & 1) != 0"},
		    {0x340000ff, "(uint32_t)0 == 0"},
		    {0x54000000, "(uregs[33] & 0x40000000) != 0"},
		    {0x54000001, "(uregs[33] & 0x40000000) == 0"},
		    {0x5400000a, "((uregs[33] >> 31 ^ uregs[33] >> 28) & 1) == 0"},
		    {B_GT, "(((uregs[33] >> 31 ^ uregs[33] >> 28) | uregs[33] >> 30) & 1) == 0"}};
	dt_body b = {0};
	char text[80];

	for (size_t i = 0; i < DT_NELEM(rows); i++) {
		code->decode(&b, &plain, CODE(rows[i].w), 0);
		dt_arch_aarch64.call.condition(b.insns.v[0].condition, text, sizeof(text));
		CHECK_STR(text, rows[i].text);
	}
	dt_body_free(&b);
}

/* ---- parameters ---- */

static struct dt_abi_place pass(struct dt_abi_used *used, struct dt_abi_value v)
{
	struct dt_abi_place p = {0};

	dt_abi_pass(&dt_aarch64_abi, &v, used, &p);
	return p;
}

static void parameters(void)
{
	const struct dt_abi_value word = {.kind = DT_ABI_INTEGER, .size = 8, .align = 8},
				  real = {.kind = DT_ABI_FLOAT, .size = 8, .align = 8},
				  two = {.kind = DT_ABI_OBJECT, .size = 16, .align = 8, .nfields = 2, .field = {{0, 8, false}, {8, 8, true}}},
				  three = {.kind = DT_ABI_OBJECT, .size = 12, .align = 4, .nfields = 3,
					   .field = {{0, 4, true}, {4, 4, true}, {8, 4, true}}},
				  mixed = {.kind = DT_ABI_OBJECT, .size = 16, .align = 8, .nfields = 2, .field = {{0, 4, true}, {8, 8, true}}},
				  pair = {.kind = DT_ABI_OBJECT, .size = 16, .align = 16, .nfields = 1, .field = {{0, 16, false}}},
				  large = {.kind = DT_ABI_OBJECT, .size = 24, .align = 8}, none = {.kind = DT_ABI_OBJECT, .size = 0, .align = 1};
	struct dt_abi_used u = {0};
	struct dt_abi_place p;

	CHECK(pass(&u, word).how == DT_ABI_REGISTER && u.ints == 1);
	CHECK(pass(&u, real).how == DT_ABI_VECTOR && u.vectors == 1);
	p = pass(&u, pair); /* an even register */
	CHECK(p.how == DT_ABI_SEVERAL && p.n == 2 && u.ints == 4);
	CHECK(pass(&u, three).how == DT_ABI_VECTOR && u.vectors == 4);
	CHECK(pass(&u, mixed).how == DT_ABI_SEVERAL && u.ints == 6);
	p = pass(&u, large);
	CHECK(p.how == DT_ABI_REFERENCE && p.n == 6 && u.ints == 7);
	CHECK(pass(&u, none).how == DT_ABI_NOTHING);
	CHECK(pass(&u, two).how == DT_ABI_MEMORY && u.ints == 8 && u.stack == 16); /* does not fit */
	p = pass(&u, word);
	CHECK(p.how == DT_ABI_SLOT && p.n == 2);
	p = pass(&u, large);
	CHECK(p.how == DT_ABI_REFERENCE && p.n == 8 + 3 && u.stack == 32);
	u.vectors = 6;
	CHECK(pass(&u, three).how == DT_ABI_MEMORY && u.vectors == 8);
	CHECK(dt_aarch64_abi.returns_in_memory(&large) && !dt_aarch64_abi.returns_in_memory(&two));
}

/* ---- operands ---- */

static void operand(const char *text, int kind, int64_t value, int base, int index, long scale, const char *type,
		    const char *symbol)
{
	struct dt_operand o;
	const char *p = text;

	CHECK(dt_aarch64_operand(&p, &o) && !*p);
	if ((int)o.kind != kind || o.value != value || o.base != base || o.index != index || o.scale != scale)
		printf("%s: kind %d value %lld base %d index %d scale %ld\n", text, (int)o.kind, (long long)o.value, o.base, o.index,
		       o.scale);
	CHECK((int)o.kind == kind && o.value == value && o.base == base && o.index == index && o.scale == scale);
	CHECK(!o.index_type == !type && (!type || strcmp(o.index_type, type) == 0));
	CHECK(!o.symbol == !symbol && (!symbol || (o.symbol_length == strlen(symbol) && memcmp(o.symbol, symbol, strlen(symbol)) == 0)));
}

static void operands(void)
{
	static const char *const bad[] = {"[", "[x0", "[x0, ", "[x0, x1, lsl 9]", "[d0]", "[x0, lsl 3]", "", "#"};

	operand("17", DT_OPERAND_CONSTANT, 17, -1, -1, 1, NULL, NULL);
	operand("#-0x10", DT_OPERAND_CONSTANT, -16, -1, -1, 1, NULL, NULL);
	operand("wzr", DT_OPERAND_CONSTANT, 0, -1, -1, 1, NULL, NULL);
	operand("w3", DT_OPERAND_REGISTER, 0, 3, -1, 1, NULL, NULL);
	operand("x30", DT_OPERAND_REGISTER, 0, 30, -1, 1, NULL, NULL);
	operand("sp", DT_OPERAND_REGISTER, 0, 31, -1, 1, NULL, NULL);
	operand("d8", DT_OPERAND_OTHER, 0, -1, -1, 1, NULL, NULL);
	operand("[x0]", DT_OPERAND_MEMORY, 0, 0, -1, 1, NULL, NULL);
	operand("[sp, 16]", DT_OPERAND_MEMORY, 16, 31, -1, 1, NULL, NULL);
	operand("[x29, #-8]", DT_OPERAND_MEMORY, -8, 29, -1, 1, NULL, NULL);
	operand("[x0, x1, lsl 3]", DT_OPERAND_MEMORY, 0, 0, 1, 8, NULL, NULL);
	operand("[x0, w1, sxtw 2]", DT_OPERAND_MEMORY, 0, 0, 1, 4, "int32_t", NULL);
	operand("[x0, w1, uxtw]", DT_OPERAND_MEMORY, 0, 0, 1, 1, "uint32_t", NULL);
	operand("[x0, #:lo12:stats+8]", DT_OPERAND_MEMORY, 8, 0, -1, 1, NULL, "stats");
	operand("stats", DT_OPERAND_MEMORY, 0, -1, -1, 1, NULL, "stats");
	for (size_t i = 0; i < DT_NELEM(bad); i++) {
		struct dt_operand o;
		const char *p = bad[i];

		CHECK(!dt_aarch64_operand(&p, &o));
	}
}

/* ---- unwinding: the return address is in x30 until it is saved, anywhere ---- */

static void rows(void)
{
	/* CIE: version 1, "zR", code 4, data -8, x30; augmentation 1b; def_cfa sp 0 */
	static const uint8_t frame[] = {
	    16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0,
	    /* FDE of 32 bytes at 0x1000: after 4 bytes signed, after 8 saved, after 24 restored, x30 undefined at the end */
	    32, 0, 0, 0, 24, 0, 0, 0, 0xe4, 0xef, 0xff, 0xff, 32, 0, 0, 0, 0,
	    0x41, 0x2d,			    /* advance 4; negate_ra_state */
	    0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, /* advance 4; cfa + 32; x29 at -32, x30 at -24 */
	    0x44, 0xde, 0xdd, 0x0e, 0, 0x2d,  /* advance 16; restored */
	    0x41, 0x07, 30, 0,		    /* advance 4; x30 undefined */
	    0, 0, 0, 0};
	const struct dt_unwind_segment text = {0x1000, 0x1000, 0x1000};
	dt_buf out = {0};
	dt_unwind u;

	dt_unwind_parse(&dt_arch_aarch64, frame, sizeof(frame), 0x2000, &text, 1, &u);
	for (uint32_t i = 0; i < u.n; i++) {
		dt_unwind_print(&u.rows[i], &out);
		dt_buf_puts(&out, "\n");
	}
	CHECK_STR(out.s ? out.s : "", "1000: sp+0\n1008: sp+32 fp at cfa-32 base at cfa-24\n1018: sp+0\n101c: end\n1020: none\n");
	dt_buf_free(&out);
	dt_unwind_free(&u);
}

int main(void)
{
	entries();
	body();
	single();
	printed();
	conditions();
	parameters();
	operands();
	rows();
	return unit_done();
}
