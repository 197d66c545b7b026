/*
 * unwind: walks user stacks in the kernel while a probe fires, even without frame pointers.
 *
 * A stack is needed at the firing, not later: it can be a key of an aggregation. The kernel's own
 * helper (bpf_get_stack) follows frame pointers, which distributions do not compile in. So every
 * program that asks for a user stack contains a walker of our own. It uses tables made from
 * .eh_frame (src/elf/cfi.h), which tables.c puts into maps, one per file and not per process.
 *
 *	unwind(slot, where, most):	the current thread's user registers; for each frame
 *	  frame():	store pc; stop if enough
 *			which mapping is pc in?  four are remembered; else find(), unwind_find.c
 *			which row?  index of its block, then a search among a few rows
 *			CFA, return address, where fp and base are: unwind_rule.c
 *
 * Where a frame has no table (JIT code, a file seen for the first time) the walker takes one step
 * by the frame pointer and continues. On kernels without type information, and for 32-bit programs,
 * bpf_get_stack() is used.
 */
#include "bpf/translate/unwind.h"

_Static_assert(U_END - S_UNWIND == S_UNWIND_SIZE, "the slot's unwind area");

/* ---- frame(): one step of the walk ---- */

static void store_frame(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t counted = dt_code_label(c);

	ld(c, 4, R1, R6, U_OUT);
	ld(c, 4, R2, R6, U_N);
	ld(c, 8, R9, R6, U_PC);
	jmpi(c, BPF_JEQ, R1, 0, counted); /* only their number is wanted */
	mov(c, R3, R2);
	alui(c, BPF_LSH, R3, 3);
	alu(c, BPF_ADD, R1, R3);
	jmpi(c, BPF_JGT, R1, (int32_t)f->t->at->slot_size - 8, f->stop); /* never */
	alu(c, BPF_ADD, R1, R6);
	st(c, 8, R1, 0, R9);
	dt_code_place(c, counted);
	alui(c, BPF_ADD, R2, 1);
	st(c, 4, R6, U_N, R2);
	ld(c, 4, R3, R6, U_MAX);
	jmp(c, BPF_JGE, R2, R3, f->stop);
	ld(c, 4, R1, R6, U_BACK);
	alu(c, BPF_SUB, R9, R1);
	st(c, 8, R6, U_KEY, R9);
}

/* r9 = the pc to look for; r7, r8, r0 = delta, index and bank of its mapping */
static void find_mapping(struct frame *f, uint32_t find)
{
	dt_code *c = f->t->c;
	uint32_t have = dt_code_label(c);

	for (int i = 0; i <= C_ENTRIES; i++) {
		uint32_t next = dt_code_label(c);

		if (i < C_ENTRIES) {
			mov(c, R1, R6);
			alui(c, BPF_ADD, R1, i * C_SIZE);
			mov(c, R2, R9);
			ld(c, 8, R3, R1, U_CACHE + C_START);
			alu(c, BPF_SUB, R2, R3);
			ld(c, 8, R3, R1, U_CACHE + C_LEN);
			jmp(c, BPF_JGE, R2, R3, next);
			ja(c, have);
		} else {
			mov(c, R1, R6);
			dt_code_call(c, find);
			jmpi(c, BPF_JSLT, R0, 0, f->stop);
			mov(c, R1, R0);
			alui(c, BPF_AND, R1, (C_ENTRIES - 1) * C_SIZE);
			alu(c, BPF_ADD, R1, R6);
		}
		dt_code_place(c, i < C_ENTRIES ? next : have);
	}
	ld(c, 8, R7, R1, U_CACHE + C_DELTA);
	ld(c, 4, R8, R1, U_CACHE + C_INDEX);
	ld(c, 4, R0, R1, U_CACHE + C_BANK);
}

/* r8 = the bank whose number is in r0 */
static void find_bank(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t other = dt_code_label(c), have = dt_code_label(c);

	jmpi(c, BPF_JNE, R0, 0, other);
	map_value(c, R8, f->t->maps->uw_first_bank, 0);
	ja(c, have);
	dt_code_place(c, other);
	for (int i = 0; i < 2; i++) { /* the array of banks, then the one value of the bank */
		if (i) {
			mov(c, R1, R0);
			sti(c, 4, R10, -4, 0);
		} else {
			st(c, 4, R10, -4, R0);
			map(c, R1, f->t->maps->uw_banks);
		}
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -4);
		helper(c, BPF_FUNC_map_lookup_elem);
		jmpi(c, BPF_JEQ, R0, 0, f->by_fp);
	}
	mov(c, R8, R0);
	dt_code_place(c, have);
}

/*
 * r7 = the row's cfa, r8 = its places
 *	at = r9 + delta;  lo = bank.word[index + at / 256], hi = the next word
 *	the last row of lo ... hi whose pc is not above at; at most 257 rows, so 9 halvings
 */
static void find_row(struct frame *f)
{
	dt_code *c = f->t->c;
	uint32_t found = dt_code_label(c);

	jmpi(c, BPF_JGE, R0, UW_BANKS, f->by_fp);
	alu(c, BPF_ADD, R9, R7);
	mov(c, R7, R9);
	alui(c, BPF_RSH, R7, UW_BLOCK_BITS);
	alu(c, BPF_ADD, R7, R8);
	mov32(c, R7, R7);
	jmpi(c, BPF_JGE, R7, UW_WORDS - 1, f->by_fp);
	find_bank(f);
	alui(c, BPF_LSH, R7, 2);
	alu(c, BPF_ADD, R7, R8);
	ld(c, 4, R2, R7, 0);
	ld(c, 4, R3, R7, 4);
	jmp(c, BPF_JGT, R2, R3, f->by_fp);
	alu(c, BPF_SUB, R3, R2);
	alui(c, BPF_ADD, R3, 1);
	for (int i = 0; i <= UW_BLOCK_BITS; i++) {
		jmpi(c, BPF_JLE, R3, 1, found);
		mov(c, R4, R3);
		alui(c, BPF_RSH, R4, 1);
		alu(c, BPF_SUB, R3, R4);
		mov(c, R0, R2);
		alu(c, BPF_ADD, R0, R4);
		jmpi(c, BPF_JGE, R0, UW_ROWS, f->by_fp);
		alui(c, BPF_MUL, R0, sizeof(dt_unwind_row));
		alu(c, BPF_ADD, R0, R8);
		ld(c, 4, R0, R0, offsetof(dt_unwind_row, pc));
		alu(c, BPF_SUB, R0, R9);
		alui(c, BPF_SUB, R0, 1);
		alui(c, BPF_ARSH, R0, 63); /* all ones if the row is not above */
		alu(c, BPF_AND, R0, R4);
		alu(c, BPF_ADD, R2, R0);
	}
	dt_code_place(c, found);
	jmpi(c, BPF_JGE, R2, UW_ROWS, f->by_fp);
	alui(c, BPF_MUL, R2, sizeof(dt_unwind_row));
	alu(c, BPF_ADD, R2, R8);
	ld(c, 4, R7, R2, offsetof(dt_unwind_row, cfa));
	ld(c, 4, R8, R2, offsetof(dt_unwind_row, fp)); /* and base above it */
}

static void frame_function(dt_tr *t, uint32_t func, uint32_t find)
{
	dt_code *c = t->c;
	struct frame f = {.t = t,
			  .stop = dt_code_label(c),
			  .by_fp = dt_code_label(c),
			  .have_cfa = dt_code_label(c),
			  .word = dt_code_func_new(c, "word")};

	begin_callback(c, func);
	store_frame(&f);
	find_mapping(&f, find);
	find_row(&f);
	dt_uw_apply_row(&f);
	dt_code_place(c, f.by_fp);
	dt_uw_step_by_fp(&f);
	dt_code_place(c, f.have_cfa);
	dt_uw_next_frame(&f);
	ld(c, 8, R1, R6, U_PC);
	jmpi(c, BPF_JEQ, R1, 0, f.stop);
	answer(c, 0);
	dt_code_place(c, f.stop);
	answer(c, 1);
	dt_uw_rule_functions(&f);
}

/* ---- unwind() ---- */

static void note_registers(dt_code *c, uint32_t compat)
{
	const dt_arch *a = dt_arch_host();
	const int regs[][2] = {{U_PC, a->pc},
			       {U_SP, a->sp},
			       {U_FP, a->fp},
			       {U_BASE, dt_arch_dwarf(a, a->unwind.base)}};

	mov(c, R1, R8);
	helper(c, BPF_FUNC_task_pt_regs);
	ld(c, 8, R1, R0, DT_REG_AT(a->entry.mode));
	alui(c, BPF_AND, R1, (int32_t)a->entry.mode_mask);
	jmpi(c, BPF_JNE, R1, (int32_t)a->entry.mode_native, compat);
	for (size_t i = 0; i < DT_NELEM(regs); i++) {
		ld(c, 8, R1, R0, DT_REG_AT(regs[i][1]));
		st(c, 8, R6, regs[i][0], R1);
	}
	sti(c, 8, R6, U_FPAT, 0);
	sti(c, 8, R6, U_BASEAT, 0);
	sti(c, 4, R6, U_SOURCE, SOURCE_REGS);
	sti(c, 4, R6, U_BACK, 0);
}

/* unwind(slot, where, most): r0 = bytes of frames that are now at slot + where, or would be (where 0); -1: ask the
 * kernel's own walker */
void dt_tr_unwind_functions(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t frame, find, none = dt_code_label(c), compat = dt_code_label(c);

	if (!t->func.unwind)
		return;
	frame = dt_code_func_new(c, "frame");
	find = dt_code_func_new(c, "find");
	dt_code_func_begin_global(c, t->func.unwind, 3);
	mov(c, R6, R1);
	st(c, 4, R6, U_OUT, R2);
	st(c, 4, R6, U_MAX, R3);
	sti(c, 4, R6, U_N, 0);
	sti(c, 4, R6, U_NEXT, 0);
	for (int i = 0; i < C_ENTRIES; i++)
		sti(c, 8, R6, U_CACHE + i * C_SIZE + C_LEN, 0);
	sti(c, 8, R6, U_WINDOW_AT, 1);
	sti(c, 8, R6, U_WINDOW_MAX, 0);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R8, R0);
	dt_uw_note_task(t, none);
	note_registers(c, compat);
	ld(c, 8, R1, R6, U_PC);
	jmpi(c, BPF_JEQ, R1, 0, none);
	ld(c, 4, R1, R6, U_MAX);
	loop(c, frame);
	ld(c, 4, R0, R6, U_N);
	alui(c, BPF_LSH, R0, 3);
	leave(c);
	dt_code_place(c, none);
	answer(c, 0);
	dt_code_place(c, compat);
	answer(c, -1);
	frame_function(t, frame, find);
	dt_uw_find_function(t, find);
}

bool dt_tr_unwind(dt_tr *t, uint32_t off, uint32_t frames)
{
	dt_code *c = t->c;

	if (!dt_uw_can(t))
		return false;
	if (!t->func.unwind)
		t->func.unwind = dt_code_func_new(c, "unwind");
	if (dt_arch_host()->unwind.ra_at == 0 && (t->prog_kind == PK_UPROBE || t->prog_kind == PK_URETPROBE))
		copy_word(c, U_NUMBER, S_NUMBER);
	else if (dt_arch_host()->unwind.ra_at == 0)
		sti(c, 8, R6, U_NUMBER, 0);
	mov(c, R1, R6);
	movi(c, R2, (int32_t)off);
	movi(c, R3, (int32_t)frames);
	dt_code_call(c, t->func.unwind);
	return true;
}
