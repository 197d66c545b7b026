/*
 * tr_tail: the ring policy. Each CPU keeps its newest records, in the kernel, until the end.
 *
 * A CPU has an array map, used as a circle of bytes that is written downwards: a record goes below
 * the previous one, so the newest is at `head`, followed by older and older ones, up to those that
 * have been overwritten. They are read only when tracing is over, nothing is woken, and the circle
 * is never full.
 *
 *	head -> { size, step } record, padding	step: bytes to the next older one, by 8
 *		{ size, step } record, padding
 *		...
 *
 * A circle is in pieces, the elements of the map; a record lies in the piece it begins in, which has room for it
 * after its end.
 *
 * The firings that write into one circle are all on one CPU, but one can be interrupted or
 * preempted by others at any instruction, long enough for them to write around the circle several
 * times: they must not take its place. So a firing announces its place before it takes it (a word
 * for each slot in the CPU's row), and no announced place is taken:
 *
 *	do {
 *		place = head - frame
 *		if (place < safe) place = room()	// about once per turn of the circle
 *		row->writing[slot] = place
 *	} while (cmpxchg(&head, what it was, place) != what it was)
 *	write; row->writing[slot] = 0
 *
 * `safe` is how far down no firing is writing: it was computed from all slots, and a firing that
 * began later is higher up, a circle away.
 *
 * The kernel has rings that overwrite, but none is suitable: those of perf events cannot be used by
 * programs that may sleep (probes in processes), nor for records over 64 KB; BPF's own can
 * overwrite only since Linux 6.19. Reading is in run/tail.c.
 */
#include <stddef.h>

#include "bpf/translate/translate.h"

#define TRIES 4 /* attempts to take a place; one fails only if another firing comes between two instructions */
#define WORDS 8 /* shorter records are copied without calling the kernel */

static int shift_of(uint32_t n)
{
	int s = 0;

	while (1u << s < n)
		s++;
	return s;
}

/*
 * room(slot, frame): the next place below that no firing is writing to, and how far down it stays so; 0: there is none.
 * Intermediate values are kept in the slot, so that the verifier has nothing to track.
 *
 *	head = row->head; place = head - frame
 *	twice {		// one that was passed over to make way for another may be in the way now
 *		safe = head - lap
 *		for each slot that writes { pos, len } {
 *			end = head - ((head - pos - len) & (lap - 1))	// of the same bytes, next time round
 *			if (place >= end) safe = max(safe, end)
 *			else if (place + frame > end - len) place = end - len - frame
 *		}
 *	}
 */
static void look_at_writer(dt_tr *t, int writing, bool again, uint32_t none)
{
	dt_code *c = t->c;
	uint32_t next = dt_code_label(c), above = dt_code_label(c);

	ld(c, 8, R1, R9, writing);
	jmpi(c, BPF_JEQ, R1, 0, next);
	ld(c, 8, R2, R9, writing + 8);
	ld(c, 8, R3, R6, S_VALUE);
	mov(c, R4, R3);
	alu(c, BPF_SUB, R4, R1);
	alu(c, BPF_SUB, R4, R2);
	alu(c, BPF_AND, R4, R8);
	alu(c, BPF_SUB, R3, R4); /* end */
	ld(c, 8, R1, R6, S_TMP);
	jmp(c, BPF_JGE, R1, R3, above);
	mov(c, R4, R3);
	alu(c, BPF_SUB, R4, R2);
	alu(c, BPF_ADD, R1, R7);
	jmp(c, BPF_JLE, R1, R4, next);
	if (again) {
		ja(c, none);
	} else {
		alu(c, BPF_SUB, R4, R7);
		st(c, 8, R6, S_TMP, R4);
		ja(c, next);
	}
	dt_code_place(c, above);
	ld(c, 8, R4, R6, S_TMP + 8);
	jmp(c, BPF_JGE, R4, R3, next);
	st(c, 8, R6, S_TMP + 8, R3);
	dt_code_place(c, next);
}

static void room_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c);

	dt_code_func_begin_global(c, func, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	dt_tr_cpu_row(t, none);
	ld(c, 8, R8, R9, CPU_MASK);
	ld(c, 8, R1, R9, CPU_HEAD);
	st(c, 8, R6, S_VALUE, R1);
	alu(c, BPF_SUB, R1, R7);
	st(c, 8, R6, S_TMP, R1);
	for (int again = 0; again < 2; again++) {
		ld(c, 8, R1, R6, S_VALUE);
		alu(c, BPF_SUB, R1, R8);
		alui(c, BPF_SUB, R1, 1);
		st(c, 8, R6, S_TMP + 8, R1);
		for (uint32_t i = 0; i < t->at->nslots; i++)
			look_at_writer(t, CPU_WRITING + (int)i * 16, again, none);
	}
	ld(c, 8, R1, R6, S_TMP + 8);
	st(c, 8, R9, CPU_SAFE, R1);
	ld(c, 8, R0, R6, S_TMP);
	leave(c);
	dt_code_place(c, none);
	movi(c, R0, 0);
	leave(c);
}

enum { ON_STACK_KEY = -8, ON_STACK_FRAME = -16, ON_STACK_PLACE = -24, ON_STACK_STEP = -32 };

/* r8 the row, r9 the row moved up by 16 for each slot before ours; goto got with r1 = old head, r2 = place */
static void take_place(dt_tr *t, uint32_t room, uint32_t got, uint32_t none)
{
	dt_code *c = t->c;

	for (int i = 0; i < TRIES; i++) {
		uint32_t fine = dt_code_label(c);

		ld(c, 8, R1, R8, CPU_HEAD);
		ld(c, 8, R3, R10, ON_STACK_FRAME);
		mov(c, R2, R1);
		alu(c, BPF_SUB, R2, R3);
		ld(c, 8, R4, R8, CPU_SAFE);
		jmp(c, BPF_JGE, R2, R4, fine);
		sti(c, 8, R9, CPU_WRITING, 0);
		mov(c, R1, R6);
		mov(c, R2, R3);
		dt_code_call(c, room);
		jmpi(c, BPF_JEQ, R0, 0, none);
		mov(c, R2, R0);
		ld(c, 8, R1, R6, S_VALUE);
		dt_code_place(c, fine);
		st(c, 8, R9, CPU_WRITING, R2);
		mov(c, R0, R1);
		atomic(c, BPF_CMPXCHG, R8, CPU_HEAD, R2);
		jmp(c, BPF_JEQ, R0, R1, got);
	}
	ja(c, none);
}

/* r0 = where the frame at the place begins */
static void find_place(dt_tr *t, uint32_t none)
{
	dt_code *c = t->c;

	st(c, 8, R10, ON_STACK_PLACE, R2);
	alu(c, BPF_SUB, R1, R2);
	st(c, 8, R10, ON_STACK_STEP, R1);
	ld(c, 8, R3, R8, CPU_MASK);
	alu(c, BPF_AND, R2, R3);
	alui(c, BPF_RSH, R2, shift_of(t->at->tail_piece ? t->at->tail_piece : 4096));
	st(c, 4, R10, ON_STACK_KEY, R2);
	ld(c, 4, R8, R6, S_CPU);
	dt_tr_map_of_cpu(t, t->maps->tail, t->plan->ncpus, t->maps->tails, none);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, ON_STACK_KEY);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
	ld(c, 8, R1, R10, ON_STACK_PLACE);
	alui(c, BPF_AND, R1, (int32_t)t->at->tail_piece - 1);
	alu(c, BPF_ADD, R0, R1);
}

/* The record of r7 bytes to r0. A call of the kernel costs as much as copying 20 words. */
static void copy_record(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c), many = dt_code_label(c);

	if (t->at->record_size > WORDS * 8)
		jmpi(c, BPF_JGT, R7, WORDS * 8, many);
	for (int i = 0; i < WORDS && (uint32_t)i * 8 < t->at->record_size; i++) {
		if (i)
			jmpi(c, BPF_JLE, R7, i * 8, done);
		dt_slot_lea(c, R1, t->at->record);
		ld(c, 8, R1, R1, i * 8);
		st(c, 8, R0, (int)sizeof(struct dt_tail_frame) + i * 8, R1);
	}
	if (t->at->record_size > WORDS * 8) {
		ja(c, done);
		dt_code_place(c, many);
		mov(c, R1, R0);
		alui(c, BPF_ADD, R1, (int)sizeof(struct dt_tail_frame));
		mov(c, R2, R7);
		dt_slot_lea(c, R3, t->at->record);
		helper(c, BPF_FUNC_probe_read_kernel);
	}
	dt_code_place(c, done);
}

/* tail(slot, size): the record goes to the circle of the CPU */
void dt_tr_tail_functions(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t none, got, room, lost;

	if (!t->func.tail)
		return;
	none = dt_code_label(c);
	lost = dt_code_label(c);
	got = dt_code_label(c);
	room = dt_code_func_new(c, "room");
	dt_code_func_begin_global(c, t->func.tail, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	jmpi(c, BPF_JGT, R7, (int32_t)t->at->record_size, none);
	dt_tr_cpu_row(t, none);
	mov(c, R8, R9);
	ld(c, 4, R1, R6, S_INDEX);
	alui(c, BPF_AND, R1, (int32_t)t->at->nslots - 1);
	alui(c, BPF_LSH, R1, 4);
	alu(c, BPF_ADD, R9, R1);
	mov(c, R1, R7);
	alui(c, BPF_ADD, R1, (int)sizeof(struct dt_tail_frame) + 7);
	alui(c, BPF_AND, R1, -8);
	st(c, 8, R10, ON_STACK_FRAME, R1);
	st(c, 8, R9, CPU_WRITING + 8, R1);
	take_place(t, room, got, lost);
	dt_code_place(c, got);
	find_place(t, lost);
	st(c, 4, R0, (int)offsetof(struct dt_tail_frame, size), R7);
	ld(c, 8, R1, R10, ON_STACK_STEP);
	alui(c, BPF_RSH, R1, 3);
	st(c, 4, R0, (int)offsetof(struct dt_tail_frame, step), R1);
	copy_record(t);
	sti(c, 8, R9, CPU_WRITING, 0);
	movi(c, R0, 0);
	leave(c);
	dt_code_place(c, lost); /* no room: cannot happen */
	sti(c, 8, R9, CPU_WRITING, 0);
	dt_code_place(c, none);
	dt_tr_count(t, CPU_DROPS);
	movi(c, R0, 0);
	leave(c);
	room_function(t, room);
}
