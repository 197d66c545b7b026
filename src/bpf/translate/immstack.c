/*
 * immstack: the kernel stack as text, which the kernel makes when the probe fires.
 *
 *	for each frame, strsize bytes: name, NUL, offset, NUL		DT_PAYLOAD_IMMSTACK
 *
 * bpf_snprintf() writes "name+0x10/0x40 [module]" into the slot's area for numbers; from its end back to the '+' what
 * is not needed is removed, and the '+' becomes a NUL. The record, or the key, gets what is left; it has no
 * addresses, so equal stacks are equal keys on every machine with this kernel. Where name and offset do not fit,
 * only the name is kept, cut if need be. Without a symbol the name is the address, as the kernel writes it.
 */
#include "bpf/translate/unwind.h"

#define TEXT_SIZE 128 /* of S_DIGITS */

/* Words of the slot that nothing else uses meanwhile. */
enum {
	I_TO = S_TMP,	       /* where the next frame's text goes: offset in the slot */
	I_STRSIZE = S_TMP + 8, /* bytes that it has there */
	I_NAME = S_CMP_A,      /* length of the name ... */
	I_ALL = S_CMP_B,       /* ... and with the offset */
};

/*
 * One character, from the last one back: a callback of bpf_loop.
 *	at = slot->all_at_first - 1 - i
 *	' ' and '/': the text ends here
 *	'+': the name ends here; if no '/' was seen, the text was cut, and so may be the offset: it ends here as well
 */
static void character_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t stop = dt_code_label(c), cut = dt_code_label(c), plus = dt_code_label(c), whole = dt_code_label(c);

	dt_code_func_begin(c, func);
	ld(c, 8, R6, R2, 0);
	ld(c, 8, R8, R2, 8);
	alu(c, BPF_SUB, R8, R1);
	alui(c, BPF_SUB, R8, 1);
	jmpi(c, BPF_JGE, R8, TEXT_SIZE, stop);
	dt_slot_lea(c, R2, S_DIGITS);
	alu(c, BPF_ADD, R2, R8);
	ld(c, 1, R3, R2, 0);
	jmpi(c, BPF_JEQ, R3, ' ', cut);
	jmpi(c, BPF_JEQ, R3, '/', cut);
	jmpi(c, BPF_JEQ, R3, '+', plus);
	answer(c, 0);
	dt_code_place(c, cut);
	st(c, 8, R6, I_ALL, R8);
	st(c, 8, R6, I_NAME, R8);
	answer(c, 0);
	dt_code_place(c, plus);
	sti(c, 1, R2, 0, 0);
	ld(c, 8, R3, R6, I_ALL);
	st(c, 8, R6, I_NAME, R8);
	jmpi(c, BPF_JLT, R3, TEXT_SIZE - 1, whole);
	st(c, 8, R6, I_ALL, R8);
	dt_code_place(c, whole);
	dt_code_place(c, stop);
	answer(c, 1);
}

/* r9 = how many bytes of the text to keep: all, or if that does not fit, of the name as many as do */
static void choose_length(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t fits = dt_code_label(c);

	ld(c, 8, R1, R6, I_STRSIZE);
	ld(c, 8, R9, R6, I_ALL);
	jmp(c, BPF_JLT, R9, R1, fits);
	ld(c, 8, R9, R6, I_NAME);
	jmp(c, BPF_JLT, R9, R1, fits);
	mov(c, R9, R1);
	alui(c, BPF_SUB, R9, 1);
	dt_code_place(c, fits);
}

/* One frame: a callback of bpf_loop. */
static void frame_function(dt_tr *t, uint32_t func, uint32_t character)
{
	dt_code *c = t->c;
	uint32_t stop = dt_code_label(c), whole = dt_code_label(c);

	begin_callback(c, func);
	jmpi(c, BPF_JGE, R1, DT_IMMSTACK_FRAMES, stop);
	alui(c, BPF_LSH, R1, 3);
	dt_slot_lea(c, R4, t->at->stack);
	alu(c, BPF_ADD, R4, R1);
	ld(c, 8, R1, R4, 0);
	jmpi(c, BPF_JEQ, R1, 0, stop);
	dt_slot_lea(c, R1, S_DIGITS);
	movi(c, R2, TEXT_SIZE);
	map_value(c, R3, t->maps->rodata, dt_tr_string(t, "%pS"));
	movi(c, R5, 8);
	helper(c, BPF_FUNC_snprintf);
	jmpi(c, BPF_JSLT, R0, 2, stop); /* with the NUL */
	alui(c, BPF_SUB, R0, 1);
	jmpi(c, BPF_JLT, R0, TEXT_SIZE - 1, whole);
	movi(c, R0, TEXT_SIZE - 1);
	dt_code_place(c, whole);
	st(c, 8, R6, I_NAME, R0);
	st(c, 8, R6, I_ALL, R0);
	mov(c, R1, R0);
	st(c, 8, R10, -16, R6);
	st(c, 8, R10, -8, R0);
	dt_code_func_addr(c, R2, character);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -16);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	choose_length(t);
	jmpi(c, BPF_JLT, R9, 1, stop);
	jmpi(c, BPF_JGE, R9, DT_IMMSTACK_STRSIZE, stop);
	ld(c, 8, R8, R6, I_TO);
	jmpi(c, BPF_JGT, R8, (int32_t)(t->at->slot_size - DT_IMMSTACK_STRSIZE), stop); /* never */
	mov(c, R1, R6);
	alu(c, BPF_ADD, R1, R8);
	mov(c, R2, R9);
	dt_slot_lea(c, R3, S_DIGITS);
	helper(c, BPF_FUNC_probe_read_kernel);
	ld(c, 8, R1, R6, I_STRSIZE);
	alu(c, BPF_ADD, R8, R1);
	st(c, 8, R6, I_TO, R8);
	answer(c, 0);
	dt_code_place(c, stop);
	answer(c, 1);
}

/* symbols(slot, frames) */
void dt_tr_text_stack_functions(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t frame, character;

	if (!t->func.symbols)
		return;
	frame = dt_code_func_new(c, "symbol");
	character = dt_code_func_new(c, "character");
	dt_code_func_begin_global(c, t->func.symbols, 2);
	mov(c, R6, R1);
	mov(c, R1, R2);
	loop(c, frame);
	answer(c, 0);
	frame_function(t, frame, character);
	character_function(t, character);
}

void dt_tr_text_stack(dt_tr *t, const dt_action *a, uint32_t off, uint32_t size)
{
	uint32_t frames = (uint32_t)a->arg, strsize = (uint32_t)(a->arg >> 32);
	dt_code *c = t->c;

	dt_tr_zero(t, off, size);
	if (!frames || dt_kind_is_tracer(t->kind))
		return;
	dt_tr_needs(t, stack);
	dt_tr_read_stack(t, false, t->at->stack, frames * 8);
	if (!t->func.symbols)
		t->func.symbols = dt_code_func_new(c, "symbols");
	movi(c, R1, (int32_t)off);
	st(c, 8, R6, I_TO, R1);
	movi(c, R1, (int32_t)strsize);
	st(c, 8, R6, I_STRSIZE, R1);
	mov(c, R1, R6);
	movi(c, R2, (int32_t)frames);
	dt_code_call(c, t->func.symbols);
}
