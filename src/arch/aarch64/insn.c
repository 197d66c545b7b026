/*
 * insn for aarch64. All instructions are 4 bytes; data between them (constants of assembler code) is taken for
 * instructions, which does no harm: nothing jumps there.
 *
 * A probe between an exclusive load and its store makes the store fail each time, and the program tries forever: those
 * instructions are refused. The kernel probes no 32-bit code on this CPU: it has no instructions here.
 *
 * An entry probe may be at the first instruction, or after instructions that set up the frame or use registers without
 * an argument, if one that the kernel simulates is found there. Not after one that signs the return address: a return
 * probe has to replace it before.
 */
#include <elf.h>

#include "arch/aarch64/aarch64.h"

static void kernel(struct dt_insn_mode *k)
{
	k->optimizes = false;
}

/* ---- the way to the entry probe ---- */

enum { X0 = 0, X9 = 9, X16 = 16, X17 = 17, X27 = 27, FP = 29, LR = 30, SP = 31 };

static unsigned rd(uint32_t w)
{
	return w & 31;
}

static unsigned rn(uint32_t w)
{
	return w >> 5 & 31;
}

/* The stack pointer moves down: stp a, b, [sp, #-n]!; str a, [sp, #-n]!; sub sp, sp, #n */
static uint32_t frame_made(uint32_t w)
{
	if ((w & 0xffc00000) == 0xa9800000 && rn(w) == SP && w >> 21 & 1)
		return (uint32_t)(64 - (w >> 15 & 63)) * 8;
	if ((w & 0xffe00c00) == 0xf8000c00 && rn(w) == SP && w >> 20 & 1)
		return 256 - (w >> 12 & 255);
	if ((w & 0xff8003ff) == 0xd10003ff)
		return (w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
	return 0;
}

/* Stores of general registers to the frame: stp a, b, [sp, #n]; str a, [sp, #n] */
static bool is_saving(uint32_t w)
{
	return rn(w) == SP && (((w & 0xffc00000) == 0xa9000000 && !(w >> 21 & 1)) || (w & 0xffc00000) == 0xf9000000);
}

static bool sets_fp(uint32_t w)
{
	return (w & 0xff8003ff) == 0x910003fd; /* add x29, sp, #n; mov x29, sp */
}

/* Go has arguments in x0 to x15, and x27 for itself. */
static bool is_free(const struct dt_insn_mode *k, unsigned reg)
{
	return reg == X16 || reg == X17 || (k->go ? reg == X27 : reg >= X9 && reg < X16);
}

/* Constants and addresses in registers that carry no argument. */
static bool sets_free(const struct dt_insn_mode *k, uint32_t w)
{
	uint64_t ignored;

	return is_free(k, rd(w)) &&
	       ((w & 0x1f800000) == 0x12800000 || dt_aarch64_is_adr(w, 0, &ignored) || dt_aarch64_is_literal_load(w));
}

static bool is_harmless(const struct dt_insn_mode *k, uint32_t w, uint32_t frame)
{
	return w == DT_AARCH64_NOP || w == 0xd503245f || frame_made(w) || (frame && is_saving(w)) ||
	       (frame && sets_fp(w)) || sets_free(k, w);
}

/* ---- a function ---- */

struct walk {
	const struct dt_insn_mode *k;
	const uint8_t *code;
	size_t n, at;
	bool entering; /* on the way to the entry probe */
	uint32_t frame, exclusive;
	uint32_t w;
};

static uint8_t flags_of(struct walk *w)
{
	bool literal = dt_aarch64_is_literal_load(w->w);
	uint8_t flags = (dt_aarch64_simulates(w->w) && !literal ? DT_INSN_CHEAP : 0) | (dt_aarch64_is_return(w->w) ? DT_INSN_RETURN : 0) |
			(dt_aarch64_is_landing_pad(w->w) ? DT_INSN_LANDING_PAD : 0);

	if (dt_aarch64_begins_exclusive(w->w))
		w->exclusive = DT_AARCH64_EXCLUSIVE;
	if (w->exclusive || literal || dt_aarch64_refuses(w->w))
		flags |= DT_INSN_REFUSED;
	if (w->exclusive)
		w->exclusive = dt_aarch64_ends_exclusive(w->w) || flags & DT_INSN_RETURN ? 0 : w->exclusive - 1;
	return flags;
}

/* The next instruction; false: no more. */
static bool walk_next(struct walk *w, dt_insn *x)
{
	if (w->n - w->at < 4)
		return false;
	w->w = dt_aarch64_word(w->code + w->at);
	*x = (dt_insn){.offset = (uint32_t)w->at, .length = 4, .frame = w->frame};
	x->flags = flags_of(w);
	w->entering = w->entering && is_harmless(w->k, w->w, w->frame);
	if (w->entering)
		w->frame += frame_made(w->w);
	w->at += 4;
	return true;
}

static uint16_t condition_of(uint32_t w)
{
	if ((w & 0xff000000) == 0x54000000)
		return DT_AARCH64_FLAGS | (w & 15);
	if ((w & 0x7e000000) == 0x34000000)
		return (uint16_t)(DT_AARCH64_ZERO | rd(w) | w >> 31 << 5 | (w >> 24 & 1) << 6);
	return (uint16_t)(DT_AARCH64_BIT | rd(w) | (w >> 19 & 31) << 5 | w >> 31 << 10 | (w >> 24 & 1) << 11);
}

#define LOOK_BACK 4

/* Was the register of a branch computed from a table? add x, base, index; or ldr x, [base, index, lsl 3] */
static bool is_from_table(const uint8_t *code, size_t at, unsigned reg)
{
	for (int i = 0; i < LOOK_BACK && at >= 4; i++) {
		uint32_t w = dt_aarch64_word(code + (at -= 4));

		if (rd(w) == reg && ((w & 0xff000000) == 0x8b000000 || (w & 0xffe00c00) == 0xf8600800))
			return true;
	}
	return false;
}

static void decode_jump(const struct walk *w, uint64_t vaddr, dt_insn *x)
{
	int64_t distance;

	if (dt_aarch64_is_call(w->w))
		return;
	if (dt_aarch64_branch(w->w, &distance)) {
		x->flags |= DT_INSN_JUMP;
		if (dt_aarch64_is_conditional(w->w)) {
			x->flags |= DT_INSN_MAYBE;
			x->condition = condition_of(w->w);
		}
		x->target = vaddr + x->offset + (uint64_t)distance;
	} else if ((w->w & 0xfefff000) == 0xd61f0000 && !is_from_table(w->code, x->offset, rn(w->w))) { /* br, braa */
		x->flags |= DT_INSN_INDIRECT;
	}
}

static void decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr)
{
	struct walk w = {.k = k, .code = code, .n = n, .entering = true};
	dt_insn x;

	b->vaddr = vaddr;
	b->size = n;
	b->insns.n = 0;
	while (!k->narrow && walk_next(&w, &x)) {
		decode_jump(&w, vaddr, &x);
		*dt_vec_add(&b->insns, NULL) = x;
	}
	b->whole = w.at == n;
}

/*
 * Go: the length of the code that checks the stack. It compares with g.stackguard0 (g is in x28); if the stack is too
 * small, it is copied to a larger place and the function starts again. After this code the function is entered once.
 *
 *	ldr x16, [x28, #16]; cmp sp, x16 or: sub x17, sp, #n; cmp x17, x16; and others for large frames; b.ls
 */
static size_t go_stack_check(const uint8_t *code, size_t n)
{
	if (n < 4 || dt_aarch64_word(code) != 0xf9400b90)
		return 0;
	for (size_t at = 4; at + 4 <= n && at <= 10 * 4; at += 4)
		if ((dt_aarch64_word(code + at) & 0xff00001f) == 0x54000009)
			return at + 4;
	return 0;
}

static bool entry(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first, dt_insn *best)
{
	struct dt_insn_choice choice = {best, first, false};
	struct walk w = {.k = k, .code = code, .n = n, .entering = true};
	dt_insn x;

	if (k->go && !first)
		w.at = go_stack_check(code, n);
	while (!k->narrow && w.entering && walk_next(&w, &x) && dt_insn_offer(&choice, &x))
		;
	return choice.found;
}

static void targets(dt_jump_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr)
{
	int64_t distance;

	for (size_t at = 0; !k->narrow && at + 4 <= n; at += 4) {
		uint32_t w = dt_aarch64_word(code + at);

		if (!dt_aarch64_is_call(w) && dt_aarch64_branch(w, &distance))
			*dt_vec_add(to, NULL) = vaddr + at + (uint64_t)distance;
	}
}

/* "ldr x0, [x0, #n]": the last member that is loaded like this. */
static bool member(const uint8_t *code, size_t n, uint32_t *offset)
{
	bool found = false;

	for (size_t at = 0; at + 4 <= n; at += 4) {
		uint32_t w = dt_aarch64_word(code + at), here = (w >> 10 & 0xfff) << (w >> 30);

		if ((w & 0x3fc00000) != 0x39400000 || rn(w) != X0 || rd(w) != X0)
			continue;
		if (!found || here > *offset)
			*offset = here;
		found = true;
	}
	return found;
}

const struct dt_arch_code dt_aarch64_code = {
    .kernel = kernel,
    .decode = decode,
    .targets = targets,
    .entry = entry,
    .print = dt_aarch64_print,
    .member = member,
    .kprobe_refuses = dt_aarch64_kprobe_refuses,
    .refuses_fixups = true,
    .is_padding = dt_aarch64_is_padding,
    .is_uprobe = dt_aarch64_is_uprobe,
    .kernel_tail = dt_aarch64_kernel_tail,
    .plt_slot = dt_aarch64_plt_slot,
    .stub_step = 8, /* the first one of .plt is 32 bytes, the others 16 or 24 */
    .stub_size = 16,
    .slot_relocation = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT},
};
