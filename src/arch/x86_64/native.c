/*
 * native for x86-64. r10 and r11 are for the steps themselves. Distances and jumps have 32 bits.
 */
#include "arch/native.h"
#include "arch/x86_64/x86_64.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

static const uint8_t regs[] = {RBX, RBP, R12, R13, R14, R15, RAX, RDI, RSI, RDX};

static void byte(dt_native *n, uint32_t b)
{
	if (n->size < n->cap)
		n->code[n->size++] = (uint8_t)b;
	else
		n->failed = true;
}

static void word(dt_native *n, uint64_t v, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		byte(n, (uint32_t)(v >> i * 8));
}

/* An instruction with a register and memory at a register plus a distance; op: one byte, or 0x0fXX. */
static void memory(dt_native *n, uint32_t op, bool wide, uint32_t reg, uint32_t base, uint32_t distance)
{
	uint32_t rex = 0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (base >= 8 ? 1 : 0);

	byte(n, rex);
	if (op > 0xff)
		byte(n, op >> 8);
	byte(n, op & 0xff);
	byte(n, (distance < 128 ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == RSP)
		byte(n, 0x24);
	word(n, distance, distance < 128 ? 1 : 4);
}

/* With a register and a place. */
static void step(dt_native *n, uint32_t op, bool wide, uint32_t reg, uint32_t place)
{
	if (place >= DT_N_STACK) {
		memory(n, op, wide, reg, RSP, (place - DT_N_STACK) * 8);
		return;
	}
	byte(n, 0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (regs[place] >= 8 ? 1 : 0));
	if (op > 0xff)
		byte(n, op >> 8);
	byte(n, op & 0xff);
	byte(n, 0xc0 | (reg & 7) << 3 | (regs[place] & 7));
}

static void get(dt_native *n, uint32_t reg, uint32_t from)
{
	if (from >= DT_N_STACK || regs[from] != reg)
		step(n, 0x8b, true, reg, from);
}

static void put(dt_native *n, uint32_t to, uint32_t reg)
{
	if (to >= DT_N_STACK || regs[to] != reg)
		step(n, 0x89, true, reg, to);
}

/* The register of a place, or another one for a word of the stack. */
static uint32_t reg_of(uint32_t place, uint32_t other)
{
	return place < DT_N_STACK ? regs[place] : other;
}

static void push(dt_native *n, uint32_t reg, uint32_t op)
{
	if (reg >= 8)
		byte(n, 0x41);
	byte(n, op + (reg & 7));
}

static void begin(dt_native *n, uint32_t kept)
{
	uint32_t pushed = 2 + (n->kept = kept);

	for (uint32_t i = 0; i < pushed; i++)
		push(n, regs[i], 0x50);
	word(n, 0xec8148, 3); /* sub $space,%rsp: at calls it is a multiple of 16 */
	word(n, DT_N_WORDS * 8 + (pushed % 2 ? 0 : 8), 4);
	put(n, DT_N_BASE, RDI);
	put(n, DT_N_FRAME, RSI);
}

static void end(dt_native *n)
{
	uint32_t pushed = 2 + n->kept;

	word(n, 0xc48148, 3); /* add $space,%rsp */
	word(n, DT_N_WORDS * 8 + (pushed % 2 ? 0 : 8), 4);
	for (uint32_t i = pushed; i-- > 0;)
		push(n, regs[i], 0x58);
	byte(n, 0xc3);
	for (uint32_t i = 0; i < n->jumps.n && !n->failed; i++) {
		uint32_t to = n->labels.v[n->jumps.v[i].label], distance = to - (n->jumps.v[i].at + 4);

		n->failed = to == UINT32_MAX;
		memcpy(n->code + n->jumps.v[i].at, &distance, 4);
	}
	n->jumps.n = n->labels.n = 0;
	while (n->size % 16 && !n->failed)
		byte(n, 0x90);
}

static void set(dt_native *n, uint32_t label)
{
	n->labels.v[label] = n->size;
}

static void move(dt_native *n, uint32_t to, uint32_t from)
{
	uint32_t r = reg_of(to, R11);

	if (to == from)
		return;
	get(n, r, from);
	put(n, to, r);
}

static void constant(dt_native *n, uint32_t to, uint64_t value)
{
	uint32_t r = reg_of(to, R11);

	if (value >> 32) {
		byte(n, 0x48 | (r >= 8 ? 1 : 0));
		byte(n, 0xb8 | (r & 7));
		word(n, value, 8);
	} else { /* mov $imm32,%r32; not xor, which would change the flags */
		if (r >= 8)
			byte(n, 0x41);
		byte(n, 0xb8 | (r & 7));
		word(n, value, 4);
	}
	put(n, to, r);
}

static uint32_t base_of(dt_native *n, uint32_t base)
{
	if (base < DT_N_STACK)
		return regs[base];
	get(n, R10, base);
	return R10;
}

static void load(dt_native *n, uint32_t to, uint32_t base, uint32_t distance, uint32_t size)
{
	uint32_t r = reg_of(to, R11);

	memory(n, 0x8b, size == 8, r, base_of(n, base), distance);
	put(n, to, r);
}

static void store(dt_native *n, uint32_t base, uint32_t distance, uint32_t from, uint32_t size)
{
	uint32_t r = reg_of(from, R11), b = base_of(n, base);

	get(n, r, from);
	if (size == 2)
		byte(n, 0x66);
	memory(n, size == 1 ? 0x88 : 0x89, size == 8, r, b, distance);
}

static void add_to(dt_native *n, uint32_t base, uint32_t distance, uint32_t value)
{
	uint32_t r = reg_of(value, R11), b = base_of(n, base);

	get(n, r, value);
	memory(n, 0x01, true, r, b, distance);
}

static void shift(dt_native *n, enum dt_nop op, uint32_t to, uint32_t a, uint32_t b)
{
	get(n, R11, a);
	get(n, RCX, b); /* is no place */
	word(n, 0xd349, 2); /* by %cl, of %r11 */
	byte(n, (op == DT_N_SHL ? 0xe0 : op == DT_N_SHR ? 0xe8 : 0xf8) | (R11 & 7));
	put(n, to, R11);
}

static void compute(dt_native *n, enum dt_nop op, uint32_t to, uint32_t a, uint32_t b)
{
	static const uint16_t codes[] = {[DT_N_ADD] = 0x03, [DT_N_SUB] = 0x2b, [DT_N_AND] = 0x23, [DT_N_OR] = 0x0b, [DT_N_XOR] = 0x33, [DT_N_MUL] = 0x0faf};
	uint32_t r = to == b ? R11 : reg_of(to, R11);

	if (op >= DT_N_SHL) {
		shift(n, op, to, a, b);
		return;
	}
	get(n, r, a);
	step(n, codes[op], true, r, b);
	put(n, to, r);
}

static void unary(dt_native *n, uint32_t field, uint32_t reg)
{
	byte(n, 0x48 | (reg >= 8 ? 1 : 0));
	byte(n, 0xf7);
	byte(n, 0xc0 | field << 3 | (reg & 7));
}

/* rax and rdx are places: r8 and r9 have them meanwhile. By -1 the CPU would trap if the result is too large. */
static void divide(dt_native *n, enum dt_ndiv op, uint32_t to, uint32_t a, uint32_t b)
{
	bool is_signed = op == DT_N_SDIV || op == DT_N_SREM, rest = op == DT_N_SREM || op == DT_N_UREM;
	uint32_t around = 0, out = 0;

	get(n, R11, b);
	get(n, R10, a);
	word(n, 0xc08949, 3); /* mov %rax,%r8 */
	word(n, 0xd18949, 3); /* mov %rdx,%r9 */
	word(n, 0xd0894c, 3); /* mov %r10,%rax */
	if (is_signed) {
		word(n, 0xfffb8349, 4); /* cmp $-1,%r11 */
		word(n, 0x0075, 2);	/* jne around */
		around = n->size;
		unary(n, 3, RAX);     /* neg */
		word(n, 0xd231, 2);   /* xor %edx,%edx */
		word(n, 0x00eb, 2);   /* jmp out */
		out = n->size;
		if (!n->failed)
			n->code[around - 1] = (uint8_t)(n->size - around);
		word(n, 0x9948, 2); /* cqo */
	} else {
		word(n, 0xd231, 2); /* xor %edx,%edx */
	}
	unary(n, is_signed ? 7 : 6, R11);
	if (is_signed && !n->failed)
		n->code[out - 1] = (uint8_t)(n->size - out);
	word(n, rest ? 0xd38949 : 0xc38949, 3); /* mov %rdx or %rax,%r11 */
	word(n, 0xc0894c, 3);			/* mov %r8,%rax */
	word(n, 0xca894c, 3);			/* mov %r9,%rdx */
	put(n, to, R11);
}

static void compare(dt_native *n, uint32_t a, uint32_t b)
{
	uint32_t r = reg_of(a, R11);

	get(n, r, a);
	step(n, 0x3b, true, r, b);
}

static void branch(dt_native *n, enum dt_ncond c, uint32_t label)
{
	static const uint8_t codes[] = {[DT_N_EQ] = 4, [DT_N_NE] = 5, [DT_N_GT] = 15, [DT_N_GE] = 13, [DT_N_LT] = 12, [DT_N_LE] = 14,
					[DT_N_GTU] = 7, [DT_N_GEU] = 3, [DT_N_LTU] = 2, [DT_N_LEU] = 6};

	if (c == DT_N_ALWAYS) {
		byte(n, 0xe9);
	} else {
		byte(n, 0x0f);
		byte(n, 0x80 | codes[c]);
	}
	*dt_vec_add(&n->jumps, NULL) = (struct dt_native_jump){n->size, label};
	word(n, 0, 4);
}

static void call(dt_native *n, uint64_t function)
{
	int64_t distance = (int64_t)(function - (n->at + n->size + 5));

	byte(n, 0xe8);
	word(n, (uint64_t)distance, 4);
	n->failed = n->failed || distance != (int32_t)distance;
}

const struct dt_native_ops dt_x86_64_native = {
    .begin = begin,
    .end = end,
    .set = set,
    .move = move,
    .constant = constant,
    .load = load,
    .store = store,
    .add_to = add_to,
    .compute = compute,
    .divide = divide,
    .compare = compare,
    .branch = branch,
    .call = call,
};
