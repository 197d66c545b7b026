/*
 * print: an instruction of aarch64 as an assembler writes it, as far as listings need it: what is at a function's entry,
 * its jumps, calls and returns. Others are given by their bits, in a form that assemblers accept.
 */
#include <stdio.h>

#include "arch/aarch64/aarch64.h"

static const char *const conditions[] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};

static const char *register_name(unsigned n, bool wide, char name[8])
{
	if (n == 31)
		return wide ? "xzr" : "wzr";
	snprintf(name, 8, "%c%u", wide ? 'x' : 'w', n);
	return name;
}

static bool put_branch(uint32_t w, uint64_t to, dt_buf *out)
{
	unsigned bit = (w >> 19 & 31) | w >> 31 << 5;
	unsigned long long at = to;
	char reg[8];

	if ((w & 0x7c000000) == 0x14000000)
		dt_buf_printf(out, "%s 0x%llx", w >> 31 ? "bl" : "b", at);
	else if ((w & 0xff000000) == 0x54000000)
		dt_buf_printf(out, "b.%s 0x%llx", conditions[w & 15], at);
	else if ((w & 0x7e000000) == 0x34000000)
		dt_buf_printf(out, "%s %s, 0x%llx", w >> 24 & 1 ? "cbnz" : "cbz", register_name(w & 31, w >> 31, reg), at);
	else
		dt_buf_printf(out, "%s %s, #%u, 0x%llx", w >> 24 & 1 ? "tbnz" : "tbz", register_name(w & 31, bit > 31, reg), bit, at);
	return true;
}

/* Loads and stores of a pair of registers, with the three kinds of addresses. */
static bool put_pair(uint32_t w, dt_buf *out)
{
	static const char *const form[] = {NULL, "[%s], #%d", "[%s, #%d]", "[%s, #%d]!"};
	bool wide = w >> 31;
	int offset = ((int)(w << 10) >> 25) * (wide ? 8 : 4);
	char a[8], b[8], base[8];
	const char *from = (w >> 5 & 31) == 31 ? "sp" : register_name(w >> 5 & 31, true, base);

	if ((w & 0x7e000000) != 0x28000000 || !(w >> 23 & 3))
		return false;
	dt_buf_printf(out, "%s %s, %s, ", w >> 22 & 1 ? "ldp" : "stp", register_name(w & 31, wide, a),
		      register_name(w >> 10 & 31, wide, b));
	if (offset == 0 && (w >> 23 & 3) == 2)
		dt_buf_printf(out, "[%s]", from);
	else
		dt_buf_printf(out, form[w >> 23 & 3], from, offset);
	return true;
}

static bool put_known(uint32_t w, dt_buf *out)
{
	static const struct {
		uint32_t w;
		const char *text;
	} words[] = {{0xd503201f, "nop"},     {0xd503233f, "paciasp"}, {0xd50323bf, "autiasp"}, {0xd503241f, "bti"},
		     {0xd503245f, "bti c"},   {0xd503249f, "bti j"},   {0xd50324df, "bti jc"},	{0xd65f03c0, "ret"},
		     {0xd4000001, "svc #0x0"}, {0x910003fd, "mov x29, sp"}};

	for (size_t i = 0; i < DT_NELEM(words); i++)
		if (words[i].w == w) {
			dt_buf_puts(out, words[i].text);
			return true;
		}
	return false;
}

/* add, sub with a constant; mov of a register */
static bool put_arithmetic(uint32_t w, dt_buf *out)
{
	bool wide = w >> 31;
	char a[8], b[8];

	if ((w & 0x3f800000) == 0x11000000) {
		const char *to = (w & 31) == 31 ? "sp" : register_name(w & 31, wide, a);

		dt_buf_printf(out, "%s %s, %s, #0x%x%s", w >> 30 & 1 ? "sub" : "add", to,
			      (w >> 5 & 31) == 31 ? "sp" : register_name(w >> 5 & 31, wide, b), w >> 10 & 0xfff,
			      w >> 22 & 1 ? ", lsl #12" : "");
		return true;
	}
	if ((w & 0x7fe0ffe0) == 0x2a0003e0) {
		dt_buf_printf(out, "mov %s, %s", register_name(w & 31, wide, a), register_name(w >> 16 & 31, wide, b));
		return true;
	}
	return false;
}

bool dt_aarch64_print(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out,
		      uint64_t *target)
{
	uint32_t w = n >= 4 ? dt_aarch64_word(code) : 0;
	int64_t distance;
	uint64_t address;
	char name[8];

	if (n < 4 || k->narrow)
		return false;
	if (dt_aarch64_branch(w, &distance)) {
		*target = vaddr + (uint64_t)distance;
		return put_branch(w, *target, out);
	}
	if (dt_aarch64_is_adr(w, vaddr, &address))
		dt_buf_printf(out, "%s %s, 0x%llx", w >> 31 ? "adrp" : "adr", register_name(w & 31, true, name),
			      (unsigned long long)address);
	else if ((w & 0xffdffc1f) == 0xd61f0000)
		dt_buf_printf(out, "%s %s", w >> 21 & 1 ? "blr" : "br", register_name(w >> 5 & 31, true, name));
	else if (!put_known(w, out) && !put_pair(w, out) && !put_arithmetic(w, out))
		dt_buf_printf(out, ".inst 0x%08x", w);
	return true;
}
