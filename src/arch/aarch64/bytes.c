/*
 * bytes: instructions of aarch64, recognized by their bits. All have 32 of them. Which ones the kernel simulates, steps
 * out of line or refuses is in its arch/arm64/kernel/probes/decode-insn.c, for uprobes and kprobes alike.
 */
#include <string.h>

#include "arch/aarch64/aarch64.h"

uint32_t dt_aarch64_word(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Bits low ... low + n - 1, with the sign. */
static int64_t field(uint32_t w, unsigned low, unsigned n)
{
	return (int64_t)((uint64_t)w << (64 - low - n)) >> (64 - n);
}

/* ---- branches ---- */

static bool is_b(uint32_t w)
{
	return (w & 0x7c000000) == 0x14000000; /* b, bl */
}

static bool is_b_cond(uint32_t w)
{
	return (w & 0xff000000) == 0x54000000;
}

static bool is_cbz(uint32_t w)
{
	return (w & 0x7e000000) == 0x34000000;
}

static bool is_tbz(uint32_t w)
{
	return (w & 0x7e000000) == 0x36000000;
}

/* br, blr, ret, and those that authenticate the address */
static bool is_register_branch(uint32_t w)
{
	return (w & 0xfe000000) == 0xd6000000;
}

bool dt_aarch64_branch(uint32_t w, int64_t *distance)
{
	if (is_b(w))
		*distance = field(w, 0, 26) * 4;
	else if (is_b_cond(w) || is_cbz(w))
		*distance = field(w, 5, 19) * 4;
	else if (is_tbz(w))
		*distance = field(w, 5, 14) * 4;
	else
		return false;
	return true;
}

bool dt_aarch64_is_conditional(uint32_t w)
{
	return is_b_cond(w) || is_cbz(w) || is_tbz(w);
}

bool dt_aarch64_is_call(uint32_t w)
{
	return (w & 0xfc000000) == 0x94000000 || (w & 0xfefff000) == 0xd63f0000; /* bl; blr, blraa */
}

bool dt_aarch64_is_return(uint32_t w)
{
	return (w & 0xfffffc1f) == 0xd65f0000 || (w & 0xfffffbff) == 0xd65f0bff; /* ret; retaa, retab */
}

/* ---- what the kernel does ---- */

static bool is_hint(uint32_t w)
{
	return (w & 0xfffff01f) == 0xd503201f;
}

/* bti c, bti j, bti jc, paciasp, pacibsp */
bool dt_aarch64_is_landing_pad(uint32_t w)
{
	return w == 0xd503245f || w == 0xd503249f || w == 0xd50324df || w == 0xd503233f || w == 0xd503237f;
}

/* nop, xpaclri, pacia1716, pacib1716, paciaz, paciasp, pacibz, pacibsp, bti: by number */
static bool is_steppable_hint(uint32_t w)
{
	static const uint8_t fine[] = {0, 7, 8, 10, 24, 25, 26, 27, 32, 34, 36, 38};

	return memchr(fine, w >> 5 & 127, sizeof(fine)) != NULL;
}

bool dt_aarch64_is_adr(uint32_t w, uint64_t at, uint64_t *address)
{
	int64_t distance = field(w, 5, 19) * 4 + (w >> 29 & 3);

	if ((w & 0x1f000000) != 0x10000000)
		return false;
	*address = w >> 31 ? (at & ~0xfffull) + (uint64_t)(distance * 4096) : at + (uint64_t)distance;
	return true;
}

/* ldr, ldrsw: of general registers */
bool dt_aarch64_is_literal_load(uint32_t w)
{
	return (w & 0xbf000000) == 0x18000000 || (w & 0xff000000) == 0x98000000;
}

bool dt_aarch64_simulates(uint32_t w)
{
	uint64_t ignored;

	return dt_aarch64_is_conditional(w) || is_b(w) || (w & 0xff9ffc1f) == 0xd61f0000 || /* br, blr, ret */
	       dt_aarch64_is_adr(w, 0, &ignored) || dt_aarch64_is_literal_load(w);
}

/* Branches, exceptions, hints, system registers: the kernel steps only some of them. */
static bool refuses_system(uint32_t w)
{
	if (is_register_branch(w) || (w & 0xff000000) == 0xd4000000) /* eret, retaa; svc, brk, hlt */
		return true;
	if (is_hint(w))
		return !is_steppable_hint(w);
	if ((w & 0xfff80000) == 0xd5000000 && (w & 0xf000) == 0x4000)
		return true; /* msr of a constant */
	if ((w & 0xffffffe0) == 0xd53b4220)
		return true; /* mrs of daif */
	return (w & 0xfff00000) == 0xd5100000; /* msr */
}

/* A literal of a vector register is loaded from beside the kernel's copy of the instruction, and a prefetch of one is
 * refused. */
static bool is_other_literal(uint32_t w)
{
	return (w & 0x3f000000) == 0x1c000000 || (w & 0xff000000) == 0xd8000000;
}

/* Loads and stores that are exclusive or ordered (bit 23), compare and swap. */
static bool is_exclusive_class(uint32_t w)
{
	return (w & 0x3f000000) == 0x08000000;
}

static bool refuses_exclusive(uint32_t w) /* not ldar, stlr, cas; but casp */
{
	return is_exclusive_class(w) && !(w & 0x00800000);
}

bool dt_aarch64_refuses(uint32_t w)
{
	if (dt_aarch64_simulates(w))
		return false;
	if ((w & 0x1c000000) == 0x14000000) /* branches and system */
		return refuses_system(w);
	return is_other_literal(w) || refuses_exclusive(w) || (w & 0xffff0000) == 0; /* udf */
}

/* With a store that may fail: not casp. */
static bool is_exclusive(uint32_t w)
{
	return refuses_exclusive(w) && (w & 0xbfa07c00) != 0x08207c00;
}

bool dt_aarch64_begins_exclusive(uint32_t w)
{
	return is_exclusive(w) && w & 0x00400000;
}

bool dt_aarch64_ends_exclusive(uint32_t w)
{
	return is_exclusive(w) && !(w & 0x00400000);
}

#define MOV_X9_X30 0xaa1e03e9

/* Also where the kernel finds a load before that has not been followed by its store: it looks for any of their class. */
bool dt_aarch64_kprobe_refuses(const uint8_t *code, uint32_t offset, uint8_t length)
{
	uint32_t at = offset;

	(void)length;
	if (dt_aarch64_refuses(dt_aarch64_word(code + offset)) ||
	    (offset >= 4 && dt_aarch64_word(code + offset - 4) == MOV_X9_X30)) /* the place of a call of ftrace */
		return true;
	for (int i = 0; i < DT_AARCH64_EXCLUSIVE && at >= 4; i++) {
		uint32_t w = dt_aarch64_word(code + (at -= 4));

		if (is_exclusive_class(w))
			return w & 0x00400000;
	}
	return false;
}

/* ---- others ---- */

bool dt_aarch64_is_padding(const uint8_t *at, uint8_t length)
{
	uint32_t w = length >= 4 ? dt_aarch64_word(at) : 1;

	return w == DT_AARCH64_NOP || (w & 0xffff0000) == 0; /* udf */
}

/* brk #5 */
bool dt_aarch64_is_uprobe(const uint8_t *was, const uint8_t *now, uint8_t length)
{
	(void)was;
	return length == 4 && dt_aarch64_word(now) == 0xd42000a0;
}

/* Before a function that ftrace can trace is the address of what it calls (DYNAMIC_FTRACE_WITH_CALL_OPS, from Linux 6.3): the upper
 * half of a kernel address is no instruction, but the lower half may look like one. */
size_t dt_aarch64_kernel_tail(const uint8_t *code, size_t n)
{
	return n > 8 && dt_aarch64_word(code + n - 4) >= 0xffff0000 ? 8 : 0;
}

/*	[bti c] adrp x16, page; ldr x17, [x16, #n]; add x16, x16, #n; [autia1716] br x17	*/
bool dt_aarch64_plt_slot(const uint8_t *p, size_t n, uint64_t vaddr, uint64_t *slot)
{
	size_t at = n >= 4 && dt_aarch64_is_landing_pad(dt_aarch64_word(p)) ? 4 : 0;
	uint32_t load;

	if (n < at + 8 || (dt_aarch64_word(p + at) & 0x9f00001f) != 0x90000010)
		return false;
	dt_aarch64_is_adr(dt_aarch64_word(p + at), vaddr + at, slot);
	load = dt_aarch64_word(p + at + 4);
	if ((load & 0xffc003ff) != 0xf9400211)
		return false;
	*slot += (load >> 10 & 0xfff) * 8;
	return true;
}
