/*
 * tr_action: actions: data of the record, and effects. src/vm/vm_action.c describes the data of
 * each action.
 */
#include "arch/arch.h"
#include "bpf/translate/translate.h"

#define FRAME_BYTES 8

/* ---- data ---- */

static void put_pid(dt_tr *t, uint32_t off)
{
	dt_tr_pid_tgid(t);
	alui(t->c, BPF_RSH, R0, 32);
	dt_slot_st(t->c, 8, off, R0);
}

/* At the entry of a user function the first frame is the function, wherever in its first instructions the probe is:
 *	if (frame[0] == regs->pc) frame[0] -= slot->number >> 24 */
static void name_entry(dt_tr *t, uint32_t off)
{
	dt_code *c = t->c;
	uint32_t other = dt_code_label(c);

	dt_slot_lea(c, R1, off);
	ld(c, 8, R2, R1, 0);
	ld(c, 8, R3, R7, DT_REG_AT(dt_arch_host()->pc));
	jmp(c, BPF_JNE, R2, R3, other);
	ld(c, 8, R3, R6, S_NUMBER);
	alui(c, BPF_RSH, R3, DT_AT_BEHIND);
	alu(c, BPF_SUB, R2, R3);
	st(c, 8, R1, 0, R2);
	dt_code_place(c, other);
}

/* The kernel fills what is left with zeros, unless it is too busy to look at the stack. */
static void put_kernel_stack(dt_tr *t, uint32_t off, uint32_t size)
{
	uint32_t filled = dt_code_label(t->c);

	dt_tr_read_stack(t, false, off, size);
	jmpi(t->c, BPF_JSGE, R0, 0, filled);
	dt_tr_zero(t, off, size);
	dt_code_place(t->c, filled);
}

/* pid, frames; zeros after the last frame. The tracer's own probes have no stack worth showing. */
static void put_stack(dt_tr *t, const dt_action *a, uint32_t off, uint32_t size)
{
	bool user = dt_act(a->kind)->payload == DT_PAYLOAD_USTACK;
	uint32_t frames = (uint32_t)a->arg, room;

	if (!user && frames && size == frames * FRAME_BYTES && !t->task_arg && !dt_kind_is_tracer(t->kind)) {
		put_kernel_stack(t, off, size);
		return;
	}
	dt_tr_zero(t, off, size);
	if (user) {
		if (size < 8)
			return;
		put_pid(t, off);
		off += 8;
		size -= 8;
	}
	room = size / FRAME_BYTES;
	if (frames > room || frames == 0)
		frames = room;
	if (frames && !dt_kind_is_tracer(t->kind))
		dt_tr_read_stack(t, user, off, frames * FRAME_BYTES);
	if (frames && user && t->kind == PK_UPROBE)
		name_entry(t, off);
}

static void copy_object(dt_tr *t, uint32_t off, uint32_t size, bool user)
{
	dt_code *c = t->c;

	mov(c, R3, R0);
	st(c, 8, R6, S_FVALUE, R3);
	if (user)
		dt_tr_user_memory(t);
	dt_slot_lea(c, R1, off);
	movi(c, R2, (int32_t)size);
	dt_tr_read(t, user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

/* memref() made { address, length }; the datum is the length and the bytes, as many as fit */
static void put_printm(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t fits = dt_code_label(c);

	mov(c, R3, R0);
	st(c, 8, R6, S_FVALUE, R3);
	dt_slot_lea(c, R1, S_TMP);
	movi(c, R2, 16);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	dt_tr_zero(t, off, size);
	ld(c, 8, R3, R6, S_TMP);
	ld(c, 8, R2, R6, S_TMP + 8);
	jmpi(c, BPF_JLE, R2, (int32_t)size - 8, fits);
	movi(c, R2, (int32_t)size - 8);
	dt_code_place(c, fits);
	dt_slot_st(c, 8, off, R2);
	st(c, 8, R6, S_FVALUE, R3);
	dt_slot_lea(c, R1, off + 8);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

void dt_tr_datum(dt_tr *t, const dt_action *a, const dt_tr_val *v, uint32_t off, uint32_t size)
{
	uint8_t flags = a->difo ? a->difo->rtype.flags : 0;

	(void)v;
	t->loff = UINT32_MAX; /* past the last instruction: a fault here has no DIF offset */
	switch (dt_act(a->kind)->payload) {
	case DT_PAYLOAD_STACK:
	case DT_PAYLOAD_USTACK: put_stack(t, a, off, size); return;
	case DT_PAYLOAD_IMMSTACK: dt_tr_text_stack(t, a, off, size); return;
	case DT_PAYLOAD_USYM:
		dt_slot_st(t->c, 8, off + 8, R0);
		put_pid(t, off);
		return;
	case DT_PAYLOAD_BYTES:
		dt_tr_here(t);
		copy_object(t, off, size, flags & DT_TF_BYUREF);
		return;
	case DT_PAYLOAD_COUNTED:
		dt_tr_here(t);
		put_printm(t, off, size);
		return;
	case DT_PAYLOAD_PACKET:
		dt_tr_here(t);
		dt_tr_packet(t, off, size);
		return;
	case DT_PAYLOAD_SYM: dt_slot_st(t->c, 8, off, R0); return;
	case DT_PAYLOAD_NONE:
	case DT_PAYLOAD_VALUE: break;
	}
	if (flags & (DT_TF_BYREF | DT_TF_BYUREF)) {
		dt_tr_here(t);
		copy_object(t, off, size, flags & DT_TF_BYUREF);
	} else {
		dt_slot_st(t->c, size > 4 ? 8 : size, off, R0);
	}
}

/* Append a string at the cursor; its u32 in the fixed part says where. */
void dt_tr_append_string(dt_tr *t, const dt_action *a, const struct dt_plan_action *p)
{
	uint32_t rec = t->at->record, limit = t->at->record_size - p->what->bound;
	bool user = a->difo->rtype.flags & DT_TF_BYUREF;
	dt_code *c = t->c;

	t->loff = UINT32_MAX;
	dt_tr_here(t);
	st(c, 8, R6, S_FVALUE, R0);
	ld(c, 4, R8, R6, S_CURSOR);
	jmpi(c, BPF_JGT, R8, (int32_t)limit, dt_tr_fault_label(t, DT_FLT_NOSCRATCH));
	dt_slot_st(c, 4, rec + p->offset, R8);
	mov(c, R1, R8);
	alu(c, BPF_ADD, R1, R6);
	alui(c, BPF_ADD, R1, (int32_t)rec);
	movi(c, R2, (int32_t)p->what->bound);
	if (user)
		dt_tr_user_memory(t);
	ld(c, 8, R3, R6, S_FVALUE);
	dt_tr_read(t, user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	alu(c, BPF_ADD, R8, R0);
	alui(c, BPF_ADD, R8, 7);
	alui(c, BPF_AND, R8, -8);
	st(c, 4, R6, S_CURSOR, R8);
}

/* ---- effects; the value is in r0 ---- */

/* One exit() wins: the clause of another one, which runs at the same time, is dropped as a whole. END's replaces the
 * status. */
static void do_exit(dt_tr *t, uint32_t lost)
{
	dt_code *c = t->c;

	mov(c, R2, R0);
	alui(c, BPF_LSH, R2, 32);
	alui(c, BPF_OR, R2, 1);
	map_value(c, R1, t->maps->control, 0);
	if (t->prog_kind == PK_END) {
		st(c, 8, R1, CTL_EXITING, R2);
	} else {
		movi(c, R0, 0);
		atomic(c, BPF_CMPXCHG, R1, CTL_EXITING, R2);
		jmpi(c, BPF_JNE, R0, 0, lost);
	}
	movi(c, R2, ~CTL_ACTIVE);
	atomic(c, BPF_AND, R1, CTL_WORD, R2);
	dt_tr_wake(t);
}

static void do_signal(dt_tr *t, bool stop)
{
	if (stop)
		movi(t->c, R1, 19 /* SIGSTOP */);
	else
		mov(t->c, R1, R0);
	helper(t->c, BPF_FUNC_send_signal);
}

/*
 * Spin until the clock has moved on by r0 nanoseconds: at most half a second in any second of this
 * CPU. The loop's body looks at the clock; the limit of bpf_loop is far above what half a second
 * needs.
 */
static void do_chill(dt_tr *t)
{
	uint32_t args = dt_tr_sub_args(t, "chill");
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), same = dt_code_label(c), out = dt_code_label(c);

	t->loff = UINT32_MAX;
	dt_tr_here(t);
	st(c, 8, R6, S_VALUE, R0);
	helper(c, BPF_FUNC_ktime_get_ns);
	mov(c, R8, R0);
	dt_tr_cpu_find(t, none);
	ld(c, 8, R1, R0, CPU_CHILL_WINDOW);
	mov(c, R2, R8);
	alu(c, BPF_SUB, R2, R1);
	jmpi(c, BPF_JLE, R2, DT_CHILL_INTERVAL, same);
	st(c, 8, R0, CPU_CHILL_WINDOW, R8);
	sti(c, 8, R0, CPU_CHILL_USED, 0);
	dt_code_place(c, same);
	ld(c, 8, R1, R6, S_VALUE);
	jmpi(c, BPF_JGT, R1, DT_CHILL_MAX, dt_tr_fault_label(t, DT_FLT_ILLOP));
	ld(c, 8, R2, R0, CPU_CHILL_USED);
	alu(c, BPF_ADD, R2, R1);
	jmpi(c, BPF_JGT, R2, DT_CHILL_MAX, dt_tr_fault_label(t, DT_FLT_ILLOP));
	st(c, 8, R0, CPU_CHILL_USED, R2);
	alu(c, BPF_ADD, R1, R8);
	st(c, 8, R6, (int)args, R1);
	dt_tr_sub_run(t, "chill");
	sti(c, 8, R6, S_TIME, 0); /* time has passed: read it again */
	ja(c, out);
	dt_code_place(c, none);
	dt_code_place(c, out);
}

/* r8 = the word of speculation r0 (bit 0: in use); `none` for id 0 and for one not in use, `above` for one that
 * cannot be */
static void find_speculation(dt_tr *t, uint32_t none, uint32_t above)
{
	dt_code *c = t->c;

	t->loff = UINT32_MAX;
	dt_tr_here(t);
	jmpi(c, BPF_JEQ, R0, 0, none);
	mov(c, R1, R0);
	alui(c, BPF_SUB, R1, 1);
	jmpi(c, BPF_JGE, R1, (int32_t)t->plan->nspecs, above);
	st(c, 4, R6, S_SPEC, R0);
	alui(c, BPF_LSH, R1, 3);
	map_value(c, R8, t->maps->specs, 0);
	alu(c, BPF_ADD, R8, R1);
	ld(c, 8, R9, R8, 0);
	mov(c, R1, R9);
	alui(c, BPF_AND, R1, 1);
	jmpi(c, BPF_JEQ, R1, 0, none);
	mov(c, R1, R9);
	alui(c, BPF_RSH, R1, 1);
	st(c, 4, R6, S_SPECSEQ, R1);
}

void dt_tr_forget_speculation(dt_tr *t)
{
	sti(t->c, 4, R6, S_SPEC, 0);
	sti(t->c, 4, R6, S_SPECSEQ, 0);
}

/* From here on the record belongs to the speculation; without one the clause ends. */
void dt_tr_speculate(dt_tr *t, uint32_t done)
{
	dt_tr_needs(t, spec);
	find_speculation(t, done, done);
}

/* Free the id; a marker in the record stream tells the consumer what to do with the data. Its time
 * is from before the id is free for others. */
static void end_speculation(dt_tr *t, uint32_t type)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c);

	dt_tr_needs(t, spec);
	find_speculation(t, none, dt_tr_fault_label(t, DT_FLT_ILLOP));
	dt_tr_header(t, type);
	mov(c, R0, R9);
	mov(c, R1, R9);
	alui(c, BPF_SUB, R1, 1);
	atomic(c, BPF_CMPXCHG, R8, 0, R1);
	jmp(c, BPF_JNE, R0, R9, none); /* another CPU ended it first */
	dt_tr_output_speculative(t, REC_HEADER);
	dt_code_place(c, none);
	dt_tr_forget_speculation(t);
}

void dt_tr_effect(dt_tr *t, enum dt_effect what, uint32_t lost)
{
	switch (what) {
	case DT_EFFECT_EXIT: do_exit(t, lost); break;
	case DT_EFFECT_RAISE: do_signal(t, false); break;
	case DT_EFFECT_STOP:
		/* In BEGIN and END the process is the tracer itself, which nothing could continue. */
		if (!dt_kind_is_tracer(t->kind))
			do_signal(t, true);
		break;
	case DT_EFFECT_CHILL: do_chill(t); break;
	case DT_EFFECT_COMMIT: end_speculation(t, REC_COMMIT); break;
	case DT_EFFECT_DISCARD: end_speculation(t, REC_DISCARD); break;
	case DT_EFFECT_NONE:
	case DT_EFFECT_SPECULATE: /* dt_tr_action(), tr_flow.c */
	case DT_EFFECT_BRANCH:
	case DT_EFFECT_JUMP:
	case DT_EFFECT_AGAIN:
	case DT_EFFECT_CALL:
	case DT_EFFECT_RETURN:
	case DT_EFFECT_AGGREGATE:
	case DT_EFFECT_REFUSED: break;
	}
}
