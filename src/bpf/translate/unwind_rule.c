/*
 * unwind_rule: one step up the stack, by a row of a table: where the caller's frame begins (its
 * CFA), where its fp and base are, and its pc.
 *
 * fp and base are read only when they are needed: U_FPAT and U_BASEAT say where the value is. Other
 * registers are known only where all of them are saved: in the innermost frame, and in one that a
 * signal has interrupted.
 */
#include "bpf/translate/unwind.h"

/* Does a function find its return address in a register (U_BASE), and save it where it likes? */
static bool in_register(void)
{
	return dt_arch_host()->unwind.ra_at == 0;
}

/* Where the general registers are in a signal handler's frame: in the order of struct pt_regs, or the words of
 * the first 15 registers of struct pt_regs, four bits each. */
enum { SAVED_REGS = 15 };

static bool saved_in_order(const dt_arch *a)
{
	return a->regs[0].saved == 0 && a->regs[a->sp].saved == a->sp;
}

static uint64_t saved_words(const dt_arch *a)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < SAVED_REGS && i < a->nregs; i++)
		words |= (uint64_t)(a->regs[i].saved & 15) << 4 * i;
	return words;
}

/* ---- the user's stack ---- */

/* Reading user memory costs 70 ns, however little is read; so a kilobyte of the stack is read at a
 * time. It begins slightly below the requested word, where its frame has saved registers, and stays
 * within one page, so that it can be read if the word can. */
enum { WINDOW_SIZE = U_END - U_WINDOW, WINDOW_BELOW = 64, PAGE_SIZE = 4096 };

/* word(slot, addr): U_WORD = the user's word there; r0 = 0, or not if it cannot be read */
static void word_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t miss = dt_code_label(c), low = dt_code_label(c), high = dt_code_label(c),
		 failed = dt_code_label(c), bad = dt_code_label(c);

	dt_code_func_begin_global(c, func, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	ld(c, 8, R1, R6, U_WINDOW_AT);
	alu(c, BPF_SUB, R2, R1);
	ld(c, 8, R1, R6, U_WINDOW_MAX);
	jmp(c, BPF_JGT, R2, R1, miss);
	jmpi(c, BPF_JGT, R2, WINDOW_SIZE - 8, miss); /* never */
	alu(c, BPF_ADD, R2, R6);
	ld(c, 8, R1, R2, U_WINDOW);
	st(c, 8, R6, U_WORD, R1);
	answer(c, 0);
	dt_code_place(c, miss);
	/* r8 = start of the window, r9 = its size: from the word, less what lies below it in the
	 * page */
	mov(c, R8, R7);
	alui(c, BPF_AND, R8, PAGE_SIZE - 1);
	movi(c, R9, PAGE_SIZE);
	alu(c, BPF_SUB, R9, R8);
	jmpi(c, BPF_JLT, R9, 8, dt_tr_reads_old(t) ? bad : failed); /* a word across two pages is not a stack word */
	jmpi(c, BPF_JLE, R8, WINDOW_BELOW, low);
	movi(c, R8, WINDOW_BELOW);
	dt_code_place(c, low);
	alu(c, BPF_ADD, R9, R8);
	jmpi(c, BPF_JLE, R9, WINDOW_SIZE, high);
	movi(c, R9, WINDOW_SIZE);
	dt_code_place(c, high);
	mov(c, R3, R7);
	alu(c, BPF_SUB, R3, R8);
	st(c, 8, R6, U_WINDOW_AT, R3);
	sti(c, 8, R6, U_WINDOW_MAX, 0);
	dt_slot_lea(c, R1, U_WINDOW);
	mov(c, R2, R9);
	helper(c, BPF_FUNC_probe_read_user);
	jmpi(c, BPF_JNE, R0, 0, failed);
	alui(c, BPF_SUB, R9, 8);
	st(c, 8, R6, U_WINDOW_MAX, R9);
	alu(c, BPF_ADD, R8, R6);
	ld(c, 8, R1, R8, U_WINDOW);
	st(c, 8, R6, U_WORD, R1);
	answer(c, 0);
	dt_code_place(c, failed);
	sti(c, 8, R6, U_WINDOW_AT, 1);
	if (dt_tr_reads_old(t)) {
		dt_tr_old_page(t, R7, bad);
		mov(c, R3, R0);
		read_memory(c, false, U_WORD, 8, bad);
		answer(c, 0);
	}
	dt_code_place(c, bad);
	answer(c, 1);
}

/* value = the user's word at r2 */
static void read_word(struct frame *f, int value)
{
	dt_code *c = f->t->c;

	mov(c, R1, R6);
	dt_code_call(c, f->word);
	jmpi(c, BPF_JNE, R0, 0, f->stop);
	copy_word(c, value, U_WORD);
}

/*	if (*at) { if (*at == LOST) stop; value = *(user u64 *)*at; *at = 0 }	*/
static void resolve(struct frame *f, int value, int at)
{
	dt_code *c = f->t->c;
	uint32_t have = dt_code_label(c);

	ld(c, 8, R2, R6, at);
	jmpi(c, BPF_JEQ, R2, 0, have);
	jmpi(c, BPF_JEQ, R2, LOST, f->stop);
	read_word(f, value);
	sti(c, 8, R6, at, 0);
	dt_code_place(c, have);
}

/* ---- CFA ---- */

/* CFA = register + n */
static void cfa_register(struct frame *f, int value, int at)
{
	dt_code *c = f->t->c;

	if (at)
		resolve(f, value, at);
	signed_field(c, R9, R7, 4, 31);
	ld(c, 8, R1, R6, value);
	alu(c, BPF_ADD, R9, R1);
	ja(c, f->have_cfa);
}

/* CFA = *(register + n) + m */
static void cfa_deref(struct frame *f, int value, int at)
{
	dt_code *c = f->t->c;

	if (at)
		resolve(f, value, at);
	signed_field(c, R2, R7, 16, 31);
	ld(c, 8, R1, R6, value);
	alu(c, BPF_ADD, R2, R1);
	read_word(f, S_TMP);
	alui(c, BPF_RSH, R7, 4);
	alui(c, BPF_AND, R7, 0xfff);
	ld(c, 8, R9, R6, S_TMP);
	alu(c, BPF_ADD, R9, R7);
	ja(c, f->have_cfa);
}

/* CFA = stack pointer + a word, and one more after the push */
static void cfa_plt(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t before = dt_code_label(c);

	ld(c, 8, R9, R6, U_SP);
	alui(c, BPF_ADD, R9, 8);
	ld(c, 8, R1, R6, U_PC);
	alui(c, BPF_AND, R1, 15);
	signed_field(c, R2, R7, 4, 31);
	jmp(c, BPF_JSLT, R1, R2, before);
	alui(c, BPF_ADD, R9, 8);
	dt_code_place(c, before);
	ja(c, f->have_cfa);
}

/* CFA = any register + n: known in the innermost frame, and in the one that a signal interrupted */
static void cfa_any(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t from_signal = dt_code_label(c), have = dt_code_label(c);

	mov(c, R9, R7);
	alui(c, BPF_RSH, R9, 4);
	alui(c, BPF_AND, R9, 31);
	ld(c, 4, R1, R6, U_SOURCE);
	jmpi(c, BPF_JEQ, R1, SOURCE_SIGNAL, from_signal);
	jmpi(c, BPF_JNE, R1, SOURCE_REGS, f->stop);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R1, R0);
	helper(c, BPF_FUNC_task_pt_regs);
	st(c, 8, R6, S_SELF, R0); /* through memory: an address becomes a number */
	ld(c, 8, R3, R6, S_SELF);
	alui(c, BPF_LSH, R9, 3);
	alu(c, BPF_ADD, R3, R9);
	read_memory(c, false, S_TMP, 8, f->stop);
	ja(c, have);
	dt_code_place(c, from_signal);
	if (saved_in_order(dt_arch_host())) {
		mov(c, R3, R9);
	} else {
		movq(c, R3, saved_words(dt_arch_host()));
		alui(c, BPF_LSH, R9, 2);
		jmpi(c, BPF_JGT, R9, (SAVED_REGS - 1) * 4, f->stop);
		alu(c, BPF_RSH, R3, R9);
		alui(c, BPF_AND, R3, 15);
	}
	alui(c, BPF_LSH, R3, 3);
	ld(c, 8, R1, R6, U_SIGNAL);
	alu(c, BPF_ADD, R3, R1);
	read_memory(c, true, S_TMP, 8, f->stop);
	dt_code_place(c, have);
	signed_field(c, R9, R7, 9, 31);
	ld(c, 8, R1, R6, S_TMP);
	alu(c, BPF_ADD, R9, R1);
	ja(c, f->have_cfa);
}

/* The frame above was interrupted: all its registers are saved, and its pc is exact. */
static void signal_frame(struct frame *f)
{
	const dt_arch *a = dt_arch_host();
	const int to[][2] = {{U_FP, a->fp},
			     {U_BASE, dt_arch_dwarf(a, a->unwind.base)},
			     {U_SP, a->sp},
			     {U_PC, a->pc}};
	int first = a->unwind.nsaved;
	dt_code *c = f->t->c;

	for (size_t i = 0; i < DT_NELEM(to); i++)
		first = a->regs[to[i][1]].saved < first ? a->regs[to[i][1]].saved : first;
	signed_field(c, R3, R7, 4, 31);
	ld(c, 8, R1, R6, U_SP);
	alu(c, BPF_ADD, R3, R1);
	st(c, 8, R6, U_SIGNAL, R3);
	alui(c, BPF_ADD, R3, first * 8);
	read_memory(c, true, U_BUF, (uint32_t)(a->unwind.nsaved - first) * 8, f->stop);
	for (size_t i = 0; i < DT_NELEM(to); i++)
		copy_word(c, to[i][0], U_BUF + (a->regs[to[i][1]].saved - first) * 8);
	jmpi(c, BPF_JEQ, R1, 0, f->stop);
	sti(c, 8, R6, U_FPAT, 0);
	sti(c, 8, R6, U_BASEAT, 0);
	sti(c, 4, R6, U_SOURCE, SOURCE_SIGNAL);
	sti(c, 4, R6, U_BACK, 0);
	answer(c, 0);
}

/* By the row in r7: to have_cfa, to by_fp, or out */
void dt_uw_apply_row(struct frame *f)
{
	static const enum dt_unwind_kind kinds[] = {DT_UW_SP,	    DT_UW_FP,  DT_UW_NONE,
						    DT_UW_BASE,	    DT_UW_PLT, DT_UW_SP_DEREF,
						    DT_UW_FP_DEREF, DT_UW_REG, DT_UW_SIGNAL};
	dt_code *c = f->t->c;

	for (size_t i = 0; i < DT_NELEM(kinds); i++) {
		uint32_t next = dt_code_label(c);

		mov(c, R1, R7);
		alui(c, BPF_AND, R1, 15);
		jmpi(c, BPF_JNE, R1, kinds[i], next);
		switch (kinds[i]) {
		case DT_UW_SP:
			if (in_register()) {
				ld(c, 4, R1, R6, U_SOURCE);
				jmpi(c, BPF_JEQ, R1, SOURCE_NEAR, f->by_fp);
			}
			cfa_register(f, U_SP, 0);
			break;
		case DT_UW_FP: cfa_register(f, U_FP, U_FPAT); break;
		case DT_UW_BASE: cfa_register(f, U_BASE, U_BASEAT); break;
		case DT_UW_SP_DEREF: cfa_deref(f, U_SP, 0); break;
		case DT_UW_FP_DEREF: cfa_deref(f, U_FP, U_FPAT); break;
		case DT_UW_PLT: cfa_plt(f); break;
		case DT_UW_REG: cfa_any(f); break;
		case DT_UW_SIGNAL: signal_frame(f); break;
		default: ja(c, f->by_fp);
		}
		dt_code_place(c, next);
	}
	ja(c, f->stop); /* END, STOP */
}

/* To `yes` if the instruction at slot + at is one that functions begin with. */
static void is_first(dt_code *c, int at, uint32_t yes)
{
	const struct dt_arch_unwind *u = &dt_arch_host()->unwind;

	for (int i = 0; u->entry[i].mask; i++) {
		ld(c, u->entry_size, R1, R6, at);
		if (u->entry_size == 1) {
			jmpi(c, BPF_JEQ, R1, (int32_t)u->entry[i].value, yes);
			continue;
		}
		movq(c, R2, u->entry[i].mask);
		alu(c, BPF_AND, R1, R2);
		movq(c, R2, u->entry[i].value);
		jmp(c, BPF_JEQ, R1, R2, yes);
	}
}

/* An entry probe, or one at a return: how far the stack pointer has moved is known. The return address is still in its
 * register, or again; fp is the caller's, or is below it where that was saved. */
static void at_known_probe(struct frame *f)
{
	bool returns = f->t->prog_kind == PK_URETPROBE;
	dt_code *c = f->t->c;
	uint32_t no = dt_code_label(c), yes = dt_code_label(c);

	ld(c, 4, R1, R6, U_SOURCE);
	jmpi(c, BPF_JNE, R1, SOURCE_REGS, no);
	ld(c, 8, R9, R6, U_NUMBER);
	jmpi(c, BPF_JSET, R9, returns ? DT_ROW_LEAVES : (int32_t)DT_AT_ENTRY, yes);
	ja(c, no);
	dt_code_place(c, yes);
	if (returns)
		movi(c, R9, 0);
	else
		alui(c, BPF_AND, R9, DT_AT_ENTRY - 1);
	ld(c, 8, R1, R6, U_SP);
	alu(c, BPF_ADD, R9, R1);
	movi(c, R8, 0);
	ld(c, 8, R2, R6, U_FP);
	jmp(c, BPF_JLT, R2, R1, f->have_cfa);
	alui(c, BPF_ADD, R2, -dt_arch_host()->unwind.fp_at);
	jmp(c, BPF_JGT, R2, R9, f->have_cfa);
	movi(c, R8, (uint16_t)DT_UW_AT_FP);
	ja(c, f->have_cfa);
	dt_code_place(c, no);
}

/* The first instruction of a function that keeps a frame pointer: its push, perhaps after a landing
 * pad. It has not been executed yet, so fp is still the caller's, and the return address is on top or in its
 * register. */
static void at_entry(struct frame *f)
{
	const struct dt_arch_unwind *u = &dt_arch_host()->unwind;
	dt_code *c = f->t->c;
	uint32_t no = dt_code_label(c), yes = dt_code_label(c), pad = dt_code_label(c);

	ld(c, 4, R1, R6, U_BACK);
	jmpi(c, BPF_JNE, R1, 0, no);
	if (in_register() && (f->t->prog_kind == PK_UPROBE || f->t->prog_kind == PK_URETPROBE))
		at_known_probe(f);
	ld(c, 8, R3, R6, U_PC);
	read_memory(c, true, S_TMP, 4u + u->entry_size, no);
	is_first(c, S_TMP, yes);
	ld(c, 4, R1, R6, S_TMP);
	for (int i = 0; u->landing_pad[i]; i++) {
		movq(c, R2, u->landing_pad[i]);
		jmp(c, BPF_JEQ, R1, R2, pad);
	}
	ja(c, no);
	dt_code_place(c, pad);
	is_first(c, S_TMP + 4, yes);
	ja(c, no);
	dt_code_place(c, yes);
	ld(c, 8, R9, R6, U_SP);
	alui(c, BPF_ADD, R9, -u->ra_at);
	movi(c, R8, 0);
	ja(c, f->have_cfa);
	dt_code_place(c, no);
}

/* What a signal handler returns to, known by its instructions. */
static void at_signal(struct frame *f)
{
	const struct dt_arch_unwind *u = &dt_arch_host()->unwind;
	dt_code *c = f->t->c;
	uint32_t no = dt_code_label(c);

	ld(c, 4, R1, R6, U_SOURCE);
	jmpi(c, BPF_JEQ, R1, SOURCE_NEAR, no);
	ld(c, 8, R3, R6, U_PC);
	read_memory(c, true, S_TMP, 8, no);
	ld(c, 8, R1, R6, S_TMP);
	movq(c, R2, u->signal_code);
	jmp(c, BPF_JNE, R1, R2, no);
	movi(c, R7, u->signal_at << 4);
	signal_frame(f);
	dt_code_place(c, no);
}

/* Without a row: *fp is the caller's fp, the return address lies above it. Where the return address is in a register,
 * functions keep both at any place of their frame, so its end is only near. */
void dt_uw_step_by_fp(struct frame *f)
{
	int fp_at = dt_arch_host()->unwind.fp_at;
	dt_code *c = f->t->c;

	if (dt_arch_host()->unwind.signal_code)
		at_signal(f);
	at_entry(f);
	resolve(f, U_FP, U_FPAT);
	ld(c, 8, R9, R6, U_FP);
	ld(c, 8, R1, R6, U_SP);
	if (in_register()) { /* functions of Go keep fp below their frame, and the return address above it */
		alui(c, BPF_ADD, R9, -fp_at);
		jmp(c, BPF_JLE, R9, R1, f->stop);
		sti(c, 4, R6, U_SOURCE, SOURCE_BY_FP);
	} else {
		jmp(c, BPF_JLT, R9, R1, f->stop);
		alui(c, BPF_ADD, R9, -fp_at);
	}
	/* as a row: fp is there, base lost, or the return address above fp */
	movq(c, R8, (uint32_t)(uint16_t)(in_register() ? fp_at / 8 + 1 : DT_UW_LOST) << 16 | (uint16_t)(fp_at / 8));
}

/* ---- the next frame ---- */

/* Where the caller's register is. The rule is bits low ... low + 15 of r8, r9 is the CFA. */
static void set_place(dt_code *c, int value, int at, int low)
{
	uint32_t same = dt_code_label(c), lost = dt_code_label(c), set = dt_code_label(c),
		 cfa = dt_code_label(c);

	signed_field(c, R1, R8, low, low + 15);
	jmpi(c, BPF_JEQ, R1, DT_UW_SAME, same);
	jmpi(c, BPF_JEQ, R1, DT_UW_LOST, lost);
	jmpi(c, BPF_JNE, R1, DT_UW_AT_FP, cfa);
	ld(c, 8, R1, R6, value); /* the CFA was made of it, so it is there */
	ja(c, set);
	dt_code_place(c, lost);
	movi(c, R1, LOST);
	ja(c, set);
	dt_code_place(c, cfa);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R1, R9);
	dt_code_place(c, set);
	st(c, 8, R6, at, R1);
	dt_code_place(c, same);
}

/* The address that a return probe has put in place of the return address is not the caller's; the
 * kernel knows where it did that (r9 + ra_at?) and what was there. */
static void original_return(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t no = dt_code_label(c), there = dt_code_label(c);

	if (!f->t->need->walk.uretprobes)
		return;
	ld(c, 8, R1, R6, U_RISTACK);
	jmpi(c, BPF_JEQ, R1, 0, no);
	mov(c, R2, R9);
	alui(c, BPF_ADD, R2, dt_arch_host()->unwind.ra_at);
	jmp(c, BPF_JGE, R1, R2, there);
	st(c, 8, R6, U_RISEEK, R2);
	movi(c, R1, 64);
	if (!f->instance)
		f->instance = dt_code_func_new(c, "instance");
	loop(c, f->instance);
	dt_code_place(c, there);
	ld(c, 8, R1, R6, U_RISTACK);
	mov(c, R2, R9);
	alui(c, BPF_ADD, R2, dt_arch_host()->unwind.ra_at);
	jmp(c, BPF_JNE, R1, R2, no);
	copy_word(c, U_PC, U_RIORIG);
	dt_code_place(c, no);
}

/* next_instance(): on to the first pending return probe at or above U_RISEEK */
static void instance_function(dt_tr *t, uint32_t func)
{
	const struct dt_uw_offsets *at = &t->need->walk;
	dt_code *c = t->c;
	uint32_t no_more = dt_code_label(c), done = dt_code_label(c);

	begin_callback(c, func);
	ld(c, 8, R3, R6, U_RI);
	jmpi(c, BPF_JEQ, R3, 0, no_more);
	read_memory(c, false, U_BUF, at->ri_bytes, no_more);
	copy_word(c, U_RI, U_BUF + (int)at->ri_next);
	copy_word(c, U_RIORIG, U_BUF + (int)at->ri_orig);
	copy_word(c, U_RISTACK, U_BUF + (int)at->ri_stack);
	ld(c, 8, R2, R6, U_RISEEK);
	jmp(c, BPF_JGE, R1, R2, done);
	answer(c, 0);
	dt_code_place(c, no_more);
	sti(c, 8, R6, U_RISTACK, 0);
	dt_code_place(c, done);
	answer(c, 1);
}

/* U_PC = the return address, from where the row says that its register is saved. Only a frame that has called no
 * other may take no room and have it in the register still; its caller's value of the register is lost. */
static void return_by_register(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t above = dt_code_label(c), ordinary = dt_code_label(c);

	ld(c, 8, R1, R6, U_SP);
	jmp(c, BPF_JGT, R9, R1, above);
	jmp(c, BPF_JNE, R9, R1, f->stop);
	ld(c, 4, R2, R6, U_SOURCE);
	jmpi(c, BPF_JEQ, R2, SOURCE_REGS, above);
	jmpi(c, BPF_JNE, R2, SOURCE_SIGNAL, f->stop);
	dt_code_place(c, above);
	set_place(c, U_BASE, U_BASEAT, 16);
	resolve(f, U_BASE, U_BASEAT);
	ld(c, 8, R1, R6, U_BASE);
	movq(c, R2, dt_arch_host()->unwind.address);
	alu(c, BPF_AND, R1, R2);
	st(c, 8, R6, U_PC, R1);
	sti(c, 8, R6, U_BASEAT, LOST);
	original_return(f);
	set_place(c, U_FP, U_FPAT, 0);
	movi(c, R1, SOURCE_NEAR);
	ld(c, 4, R2, R6, U_SOURCE);
	jmpi(c, BPF_JEQ, R2, SOURCE_BY_FP, ordinary);
	movi(c, R1, SOURCE_NONE);
	dt_code_place(c, ordinary);
	st(c, 4, R6, U_SOURCE, R1);
}

static void return_by_stack(struct frame *f)
{
	dt_code *c = f->t->c;

	ld(c, 8, R1, R6, U_SP);
	jmp(c, BPF_JLE, R9, R1, f->stop); /* callers are above */
	mov(c, R2, R9);
	alui(c, BPF_ADD, R2, dt_arch_host()->unwind.ra_at);
	read_word(f, U_PC);
	original_return(f);
	set_place(c, U_FP, U_FPAT, 0);
	set_place(c, U_BASE, U_BASEAT, 16);
	sti(c, 4, R6, U_SOURCE, SOURCE_NONE);
}

void dt_uw_next_frame(struct frame *f)
{
	dt_code *c = f->t->c;

	if (in_register())
		return_by_register(f);
	else
		return_by_stack(f);
	st(c, 8, R6, U_SP, R9);
	sti(c, 4, R6, U_BACK, 1);
}

void dt_uw_rule_functions(struct frame *f)
{
	word_function(f->t, f->word);
	if (f->instance)
		instance_function(f->t, f->instance);
}
