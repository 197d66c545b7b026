/*
 * insn for x86-64, and i386 in 32-bit programs. Instructions are decoded one after the other from the start of the function,
 * which is correct for compiled code; in hand-written code, data between instructions ends the
 * body.
 *
 * An entry probe may be at the first instruction, or after instructions that only use registers
 * which carry no argument (dt_insn HARMLESS), as long as no jump leads there. Reading memory
 * through an argument is not harmless: a bad pointer would end the program before its entry was
 * seen.
 *
 * Which instructions the kernel refuses is in its arch/x86/kernel/uprobes.c: some prefixes, and a
 * table by the first byte of the opcode (of VEX instructions: by their only one). A system call is
 * accepted but does harm: a thread created by it would start in the kernel's copy of the
 * instruction. For 32-bit code the table refuses less, but only instructions that no compiler
 * emits; both are treated alike here.
 *
 * In 32-bit code the arguments are on the stack, or in any of the registers that are free in 64-bit code
 * (static functions), and Go passes arguments in those: only instructions that set up the stack
 * frame are harmless there.
 */
#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "arch/x86_64/x86_64.h"

#ifndef __NR_uprobe
#define __NR_uprobe 336 /* Linux 6.18: only the kernel's own trampolines may call it */
#endif

static void kernel(struct dt_insn_mode *k)
{
	int saved = errno;

	k->optimizes = syscall(__NR_uprobe) < 0 && errno != ENOSYS; /* ENXIO, EPROTO in Linux 7.2 */
	errno = saved;
}

static void decoder_init(ZydisDecoder *d, const struct dt_insn_mode *k)
{
	ZydisDecoderInit(d, k->narrow ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
			 k->narrow ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
}

/* ---- what an instruction is ---- */

static const uint8_t refused_opcodes[] = {
    0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62,
    0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5, 0xd6, 0xe4,
    0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb};

/* The kernel checks only the opcode byte: it takes vzeroupper (VEX, 77) for a conditional jump, and
 * vcmpps (VEX, c2) for a return, and the program is corrupted. Seen with vpbroadcastd at the entry
 * of wcschr() on Linux 6.18. */
static const uint8_t mistaken_opcodes[] = {
    0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d,
    0x7e, 0x7f, 0x90, 0x9a, 0x9d, 0xc2, 0xc3, 0xca, 0xcb, 0xe8, 0xe9, 0xea, 0xeb, 0xff};

static bool is_refused(const ZydisDecodedInstruction *i)
{
	bool legacy = i->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	if (i->mnemonic == ZYDIS_MNEMONIC_SYSCALL || i->mnemonic == ZYDIS_MNEMONIC_SYSENTER)
		return true;
	if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP || i->meta.isa_ext == ZYDIS_ISA_EXT_FMA4)
		return true; /* the kernel cannot decode them */
	for (unsigned k = 0; k < i->raw.prefix_count; k++)
		switch (i->raw.prefixes[k].value) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0: return true;
		default: break;
		}
	if (legacy && i->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false; /* 0f ... is let pass whole */
	if (!legacy && memchr(mistaken_opcodes, i->opcode, sizeof(mistaken_opcodes)))
		return true;
	return memchr(refused_opcodes, i->opcode, sizeof(refused_opcodes)) != NULL;
}

static bool is_nop5(const ZydisDecodedInstruction *i, const uint8_t *code)
{
	return i->length == 5 && memcmp(code, "\x0f\x1f\x44\x00\x00", 5) == 0;
}

/* Does the kernel emulate it? */
static bool is_cheap(const ZydisDecodedInstruction *i, const struct dt_insn_mode *k)
{
	if (i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (i->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return (i->opcode & 0xf0) == 0x80 || (i->opcode == 0x1f && k->optimizes);
	if (i->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	return (i->opcode & 0xf8) == 0x50 || (i->opcode & 0xf0) == 0x70 || i->opcode == 0xe8 ||
	       i->opcode == 0xe9 || i->opcode == 0xeb || i->mnemonic == ZYDIS_MNEMONIC_NOP;
}

static bool is_jump(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       i->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

static bool is_relative(const ZydisDecodedInstruction *i)
{
	return i->raw.imm[0].is_relative;
}

static uint64_t target_of(const ZydisDecodedInstruction *i, uint64_t at)
{
	return at + i->length + (uint64_t)i->raw.imm[0].value.s;
}

/* ---- the way to the entry probe ---- */

/* Registers that a function may use freely and that carry no argument, or one that D cannot see. */
static bool is_free_register(const struct dt_insn_mode *mode, ZydisRegister r)
{
	if (mode->narrow || mode->go)
		return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_FLAGS;
	switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r)) {
	case ZYDIS_REGISTER_RAX:
	case ZYDIS_REGISTER_R10:
	case ZYDIS_REGISTER_R11: return true;
	default: break;
	}
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
	case ZYDIS_REGCLASS_MASK:
	case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_IP: return true;
	default: return false;
	}
}

/* Memory that is valid for any arguments: reads of the program's own and its thread's data, writes
 * to the frame that the function has just set up. */
static bool is_own_memory(const ZydisDecodedOperand *o, uint32_t frame)
{
	int64_t at = o->mem.disp.value;

	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return true;
	if (o->mem.base == ZYDIS_REGISTER_RSP && o->mem.index == ZYDIS_REGISTER_NONE)
		return at >= 0 && at + o->size / 8 <= (int64_t)frame &&
		       o->mem.segment == ZYDIS_REGISTER_SS;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		return false;
	return o->mem.base == ZYDIS_REGISTER_RIP ||
	       (o->mem.segment == ZYDIS_REGISTER_FS && o->mem.base == ZYDIS_REGISTER_NONE);
}

static bool makes_frame(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *ops)
{
	return i->mnemonic == ZYDIS_MNEMONIC_SUB && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       (ops[0].reg.value == ZYDIS_REGISTER_RSP || ops[0].reg.value == ZYDIS_REGISTER_ESP) &&
	       ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[1].imm.value.s > 0 &&
	       ops[1].imm.value.s < 1 << 20;
}

static bool is_endbr(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || i->mnemonic == ZYDIS_MNEMONIC_ENDBR32;
}

static bool is_harmless(const struct dt_insn_mode *mode, const ZydisDecodedInstruction *i,
			const ZydisDecodedOperand *ops, uint32_t frame)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_X87_ALU: return false;
	default: break;
	}
	if (is_endbr(i) || i->mnemonic == ZYDIS_MNEMONIC_NOP)
		return true;
	if (i->mnemonic == ZYDIS_MNEMONIC_DIV || i->mnemonic == ZYDIS_MNEMONIC_IDIV ||
	    i->mnemonic == ZYDIS_MNEMONIC_UD2)
		return false; /* can fail */
	for (unsigned k = 0; k < i->operand_count; k++) {
		const ZydisDecodedOperand *o = &ops[k];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !is_own_memory(o, frame))
			return false;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    !is_free_register(mode, o->reg.value))
			return false;
	}
	return true;
}

/* ---- jumps through registers and memory: a table of this function, or another function? ---- */

#define LOOK_BACK 4

static ZydisRegister whole_register(ZydisRegister r)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

/* Was the register loaded from a table by one of the previous instructions? Compilers implement a
 * jump table as an indexed load, in position-independent code as an indexed load and an addition. */
static bool is_from_table(const ZydisDecoder *d, const dt_body *b, const uint8_t *code,
			  ZydisRegister reg)
{
	ZydisDecodedInstruction i;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];

	for (uint32_t k = b->insns.n - 1; k > 0 && k + LOOK_BACK >= b->insns.n; k--) {
		const dt_insn *x = &b->insns.v[k - 1];

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(d, code + x->offset, x->length, &i, ops)))
			return false;
		if (i.operand_count < 2 || ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(ops[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
		    whole_register(ops[0].reg.value) != reg)
			continue;
		return i.mnemonic == ZYDIS_MNEMONIC_ADD ||
		       (ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			ops[1].mem.index != ZYDIS_REGISTER_NONE);
	}
	return false;
}

/* Code compiled for control-flow enforcement marks jumps into tables: notrack. */
static bool leaves_function(const ZydisDecoder *d, const dt_body *b, const uint8_t *code,
			    const ZydisDecodedInstruction *i, const ZydisDecodedOperand *ops)
{
	bool notrack = false;

	for (unsigned k = 0; k < i->raw.prefix_count; k++)
		notrack = notrack || i->raw.prefixes[k].value == 0x3e;
	if (notrack || b->insns.v[0].flags & DT_INSN_LANDING_PAD)
		return !notrack;
	if (ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return ops[0].mem.index == ZYDIS_REGISTER_NONE;
	return ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       !is_from_table(d, b, code, whole_register(ops[0].reg.value));
}

/* ---- a function ---- */

struct walk {
	ZydisDecoder d;
	const struct dt_insn_mode *k;
	const uint8_t *code;
	size_t n, at;
	bool entering; /* on the way to the entry probe */
	uint32_t frame;
	ZydisDecodedInstruction i;
	ZydisDecodedOperand
	    ops[ZYDIS_MAX_OPERAND_COUNT]; /* only while entering, and of indirect jumps */
};

static void walk_start(struct walk *w, const struct dt_insn_mode *k, const uint8_t *code, size_t n)
{
	decoder_init(&w->d, k);
	w->k = k;
	w->code = code;
	w->n = n;
	w->at = 0;
	w->entering = true;
	w->frame = 0;
}

/* c3, and c2 with the bytes to take besides */
static uint32_t pops(const ZydisDecodedInstruction *i, const struct dt_insn_mode *k)
{
	if (k->narrow || i->meta.category != ZYDIS_CATEGORY_RET || i->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || i->operand_width == 16)
		return 0;
	return i->opcode == 0xc3 ? 8 : i->opcode == 0xc2 ? 8 + (uint32_t)i->raw.imm[0].value.u : 0;
}

/* The next instruction; false: none that is known. */
static bool walk_next(struct walk *w, dt_insn *x)
{
	const ZydisDecodedInstruction *i = &w->i;
	const uint8_t *here = w->code + w->at;
	ZydisDecoderContext ctx;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&w->d, &ctx, here, w->n - w->at, &w->i)))
		return false;
	if ((w->entering ||
	     (is_jump(i) && !is_relative(i))) && /* operands cost more than all the rest */
	    !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&w->d, &ctx, i, w->ops, i->operand_count)))
		return false;
	*x = (dt_insn){.offset = (uint32_t)w->at, .length = i->length, .frame = w->frame};
	x->flags = (is_endbr(i) ? DT_INSN_LANDING_PAD : 0) |
		   (is_cheap(i, w->k) ? DT_INSN_CHEAP : 0) |
		   (i->meta.category == ZYDIS_CATEGORY_RET ? DT_INSN_RETURN : 0);
	x->pops = pops(i, w->k);
	/* After the entry a leaf function keeps data below the stack pointer, where the call that a
	 * five-byte nop becomes would push its return address. */
	if (is_refused(i) || (w->k->optimizes && !w->k->narrow && !w->entering && is_nop5(i, here)))
		x->flags |= DT_INSN_REFUSED;
	if (w->entering && w->frame == 0 && makes_frame(i, w->ops))
		w->frame = (uint32_t)w->ops[1].imm.value.s;
	else
		w->entering = w->entering && is_harmless(w->k, i, w->ops, w->frame);
	w->at += i->length;
	return true;
}

static void decode_jump(const struct walk *w, const dt_body *b, dt_insn *x)
{
	const ZydisDecodedInstruction *i = &w->i;

	if (is_relative(i)) {
		x->flags |= i->meta.category == ZYDIS_CATEGORY_COND_BR
				? DT_INSN_JUMP | DT_INSN_MAYBE
				: DT_INSN_JUMP;
		x->condition = i->opcode & 0xf;
		x->target = target_of(i, b->vaddr + x->offset);
	} else {
		x->flags |= leaves_function(&w->d, b, w->code, i, w->ops) ? DT_INSN_INDIRECT : DT_INSN_TABLE;
	}
}

static void decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		   uint64_t vaddr)
{
	struct walk w;
	dt_insn x;

	walk_start(&w, k, code, n);
	b->vaddr = vaddr;
	b->size = n;
	b->insns.n = 0;
	while (w.at < n && walk_next(&w, &x)) {
		*dt_vec_add(&b->insns, NULL) = x;
		if (is_jump(&w.i))
			decode_jump(&w, b, &b->insns.v[b->insns.n - 1]);
	}
	b->whole = w.at == n;
}

/*
 * Go: the length of the code that checks the stack. It compares with g.stackguard0 (g is in r14, Go
 * 1.17); if the stack is too small, it is copied to a larger place and the function starts again.
 * After this code the function is entered once.
 *
 *	cmp 0x10(%r14),%rsp; jbe			lea -n(%rsp),%r12; cmp 0x10(%r14),%r12; jbe
 *	mov %rsp,%r12; sub $n,%r12; jb; cmp 0x10(%r14),%r12; jbe
 */
static size_t go_stack_check(const uint8_t *code, size_t n)
{
	static const struct {
		uint8_t length, skip; /* of the bytes, and of what follows them */
		uint8_t bytes[4];
	} parts[] = {{4, 1, {0x4c, 0x8d, 0x64, 0x24}},
		     {4, 4, {0x4c, 0x8d, 0xa4, 0x24}},
		     {3, 0, {0x49, 0x89, 0xe4}},
		     {3, 4, {0x49, 0x81, 0xec}},
		     {1, 1, {0x72}},
		     {2, 4, {0x0f, 0x82}},
		     {3, 1, {0x49, 0x3b, 0x66}},
		     {3, 1, {0x4d, 0x3b, 0x66}},
		     {1, 1, {0x76}},
		     {2, 4, {0x0f, 0x86}}};
	enum { COMPARES = 6, BELOW = 8 }; /* from these on */
	size_t at = 0;
	bool compared = false;

	for (uint32_t i = 0; i < DT_NELEM(parts);) {
		size_t end = at + parts[i].length + parts[i].skip;

		if (end > n || memcmp(code + at, parts[i].bytes, parts[i].length) != 0) {
			i++;
			continue;
		}
		at = end;
		if (i >= BELOW)
			return compared ? at : 0;
		compared = i >= COMPARES;
		i = compared ? BELOW : i + 1;
	}
	return 0;
}

static bool entry(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first,
		  dt_insn *best)
{
	struct dt_insn_choice choice = {best, first, false};
	struct walk w;
	dt_insn x;

	walk_start(&w, k, code, n);
	if (k->go && !first)
		w.at = go_stack_check(code, n);
	while (w.at < n && w.entering && walk_next(&w, &x) && dt_insn_offer(&choice, &x))
		;
	return choice.found;
}

static void targets(dt_jump_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr)
{
	ZydisDecoder d;
	ZydisDecodedInstruction i;

	decoder_init(&d, k);
	for (size_t at = 0; at < n; at += i.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, code + at, n - at, &i)))
			return;
		if (is_jump(&i) && is_relative(&i))
			*dt_vec_add(to, NULL) = target_of(&i, vaddr + at);
	}
}

/* As gdb and objdump write them unless told otherwise. */
static bool print(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out, uint64_t *target)
{
	static const ZydisFormatterProperty padded[] = {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_DISP_PADDING,
							ZYDIS_FORMATTER_PROP_IMM_PADDING};
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	ZydisFormatter f;
	ZydisDecoder d;
	char text[160];

	decoder_init(&d, k);
	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, false);
	for (size_t x = 0; x < DT_NELEM(padded); x++)
		ZydisFormatterSetProperty(&f, padded[x], ZYDIS_PADDING_DISABLED);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code, n, &i, ops)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&f, &i, ops, i.operand_count_visible, text, sizeof(text), vaddr,
							  NULL)))
		return false;
	dt_buf_puts(out, text);
	if (is_relative(&i))
		*target = target_of(&i, vaddr);
	return true;
}

/* "mov 0x10(%rdi), %rax": the last member that is loaded like this. */
static bool member(const uint8_t *code, size_t n, uint32_t *offset)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	ZydisDecoder d;
	bool found = false;

	decoder_init(&d, &(struct dt_insn_mode){0});
	for (size_t at = 0; at < n && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code + at, n - at, &i, ops)); at += i.length) {
		const ZydisDecodedOperandMem *from = &ops[1].mem;

		if (i.mnemonic != ZYDIS_MNEMONIC_MOV || ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    whole_register(ops[0].reg.value) != ZYDIS_REGISTER_RAX || ops[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    from->base != ZYDIS_REGISTER_RDI || from->index != ZYDIS_REGISTER_NONE || from->disp.value < 0)
			continue;
		if (!found || from->disp.value > *offset)
			*offset = (uint32_t)from->disp.value;
		found = true;
	}
	return found;
}

const struct dt_arch_code dt_x86_64_code = {
    .kernel = kernel,
    .decode = decode,
    .targets = targets,
    .entry = entry,
    .print = print,
    .member = member,
    .patch = dt_x86_64_patch,
    .sample = dt_x86_64_sample,
    .kprobe_refuses = dt_x86_64_kprobe_refuses,
    .is_padding = dt_x86_64_is_padding,
    .is_uprobe = dt_x86_64_is_uprobe,
    .makes_frame = dt_x86_64_makes_frame,
    .refers = dt_x86_64_refers,
    .call_number = dt_x86_64_call_number,
    .plt_slot = dt_x86_64_plt_slot,
    .slot_relocation = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT},
};
