/*
 * tr_action: the actions of a clause, and its record.
 *
 * A clause is one function: clause(slot, ctx), 0 when it is done, 1 when it faulted. Values go
 * straight to their place in the slot's record area; at the end the record is given its header and
 * copied once into the CPU's ring buffer. A record that does not fit there is a counted drop; with the
 * ring policy it takes the place of the oldest ones (tail.c).
 *
 * What the data of each action look like is said beside enum dt_payload (dif/actions.h).
 */
#include <stddef.h>

#include "arch/arch.h"
#include "bpf/translate/translate.h"

#define FRAME_BYTES    8

/* ---- the record ---- */

/*
 * The time of a record is that of its firing. But records of speculations and the markers of their
 * ends must come to the consumer in the order in which they happened, or the data of one owner of an
 * id meets the next one's: a firing can be preempted between its time stamp and speculation(), and
 * get an id that others had meanwhile. So in a program with speculations records have the time of the
 * moment: all of them, because those that a firing leaves behind a commit() come behind what that commits.
 */
void dt_tr_header(dt_tr *t, uint32_t type)
{
	uint32_t at = t->at->record;
	dt_code *c = t->c;

	if (t->need->is.spec)
		helper(c, BPF_FUNC_ktime_get_ns);
	else
		dt_tr_time(t);
	dt_slot_lea(c, R1, at);
	sti(c, 4, R1, (int)offsetof(struct dt_rec, clause), (int32_t)t->clause);
	ld(c, 4, R2, R6, S_PROBE);
	st(c, 4, R1, (int)offsetof(struct dt_rec, probe), R2);
	st(c, 8, R1, (int)offsetof(struct dt_rec, time), R0);
	if (t->need->is.spec) {
		ld(c, 4, R2, R6, S_SPECSEQ);
		alui(c, BPF_LSH, R2, 16);
		ld(c, 4, R0, R6, S_SPEC);
		alu(c, BPF_OR, R2, R0);
		st(c, 4, R1, (int)offsetof(struct dt_rec, spec), R2);
	} else {
		sti(c, 4, R1, (int)offsetof(struct dt_rec, spec), 0);
	}
	sti(c, 4, R1, (int)offsetof(struct dt_rec, type), (int32_t)type);
}

static void call_output(dt_tr *t, uint32_t *func, const char *name, uint32_t size)
{
	if (!*func)
		*func = dt_code_func_new(t->c, name);
	mov(t->c, R1, R6);
	if (size)
		movi(t->c, R2, (int32_t)size);
	else
		ld(t->c, 4, R2, R6, S_CURSOR);
	dt_code_call(t->c, *func);
}

void dt_tr_output(dt_tr *t, uint32_t size)
{
	if (t->plan->buffers.policy == DT_BUFPOLICY_RING)
		call_output(t, &t->func.tail, "tail", size);
	else
		call_output(t, &t->func.output, "output", size);
}

/* Records of speculations, and what becomes of them, go to the consumer whatever the policy is. */
static void output_speculative(dt_tr *t, uint32_t size)
{
	call_output(t, &t->func.output, "output", size);
}

/*
 * r1 = the map of CPU r8. On small machines a tree of comparisons, whose leaves are the maps
 * themselves; on large ones an array of maps, which is slower to look up and much slower to
 * set up: the kernel waits for all CPUs when one is filled.
 */
static void choose_map(dt_tr *t, const struct dt_cpu_buffer *of, uint32_t lo, uint32_t hi, uint32_t found)
{
	dt_code *c = t->c;
	uint32_t mid = lo + (hi - lo) / 2, upper;

	if (hi - lo == 1) {
		map(c, R1, of ? of[lo].fd : -1);
		ja(c, found);
		return;
	}
	upper = dt_code_label(c);
	jmpi(c, BPF_JGE, R8, (int32_t)mid, upper);
	choose_map(t, of, lo, mid, found);
	dt_code_place(c, upper);
	choose_map(t, of, mid, hi, found);
}

void dt_tr_map_of_cpu(dt_tr *t, const struct dt_cpu_buffer *of, int array, uint32_t none)
{
	dt_code *c = t->c;
	uint32_t found;

	if (!dt_layout_ring_array(t->plan, t->need)) {
		found = dt_code_label(c);
		choose_map(t, of, 0, t->plan->ncpus, found);
		dt_code_place(c, found);
		return;
	}
	st(c, 4, R10, -4, R8);
	map(c, R1, array);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, -4);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
	mov(c, R1, R0);
}

/* Tell the consumer that there is something to do. */
void dt_tr_wake(dt_tr *t)
{
	dt_code *c = t->c;

	map(c, R1, t->maps->wake);
	mov(c, R2, R6);
	movi(c, R3, 8);
	movi(c, R4, BPF_RB_FORCE_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
}

/* if (ringbuf_query(r9, AVAIL_DATA) > size / 2 && !control->woken) { control->woken = 1; wake } */
static void wake_when_filling(dt_tr *t, uint32_t done)
{
	dt_code *c = t->c;
	uint64_t size = 4096;

	for (uint32_t i = 0; t->maps->ring && i < t->plan->ncpus; i++)
		if (t->maps->ring[i].mask + 1 > size)
			size = t->maps->ring[i].mask + 1;
	mov(c, R1, R9);
	movi(c, R2, BPF_RB_AVAIL_DATA);
	helper(c, BPF_FUNC_ringbuf_query);
	jmpi(c, BPF_JLT, R0, (int32_t)(size / 2), done);
	map_value(c, R1, t->maps->control, CTL_WOKEN);
	ld(c, 8, R2, R1, 0);
	jmpi(c, BPF_JNE, R2, 0, done);
	sti(c, 8, R1, 0, 1);
	dt_tr_wake(t);
	ja(c, done);
}

/*
 * output(slot, size): the record goes to the ring buffer of the CPU
 *	if (ringbuf_output(ring, record, size, NO_WAKEUP) < 0) drop
 */
void dt_tr_output_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t drop = dt_code_label(c), done = dt_code_label(c);
	bool wakes = dt_layout_wakes_early(t->plan, t->need) && !dt_kind_is_tracer(t->prog_kind);

	if (!t->func.output)
		return;
	dt_code_func_begin_global(c, t->func.output, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	ld(c, 4, R8, R6, S_CPU);
	jmpi(c, BPF_JGT, R7, (int32_t)t->at->record_size, drop);
	dt_tr_map_of_cpu(t, t->maps->ring, t->maps->rings, drop);
	mov(c, R9, R1);
	dt_slot_lea(c, R2, t->at->record);
	mov(c, R3, R7);
	movi(c, R4, BPF_RB_NO_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
	if (wakes) {
		jmpi(c, BPF_JNE, R0, 0, drop);
		wake_when_filling(t, done);
	} else {
		jmpi(c, BPF_JEQ, R0, 0, done);
	}
	dt_code_place(c, drop);
	if (t->plan->buffers.policy == DT_BUFPOLICY_FILL) {
		map_value(c, R1, t->maps->control, 0);
		sti(c, 8, R1, CTL_FILLED, 1);
		movi(c, R2, ~CTL_ACTIVE);
		atomic(c, BPF_AND, R1, CTL_WORD, R2);
	} else {
		dt_tr_count(t, CPU_DROPS);
	}
	dt_code_place(c, done);
	movi(c, R0, 0);
	leave(c);
}

/* ---- small buffers ---- */

/*
 * A buffer of less than 64 KB is kept to the byte, as the interpreter and DTrace do: room for the
 * record is set aside before the clause runs, and a clause without room does not run at all. Ring
 * buffers come in pages and have headers of their own, so the bytes are counted beside: in the
 * CPU's row, which the consumer lowers again when it has taken a record. Larger buffers are simply
 * full when they are full; with the ring policy (tail.c) none ever is.
 */
static void call_reserve(dt_tr *t, uint32_t *func, const char *name)
{
	if (!*func)
		*func = dt_code_func_new(t->c, name);
	dt_code_call(t->c, *func);
}

void dt_tr_reserve(dt_tr *t, uint32_t cost)
{
	uint64_t limit = t->prog_kind == PK_END ? t->plan->buffers.size : t->plan->buffers.size - t->plan->buffers.end_reserve;

	mov(t->c, R1, R6);
	movi(t->c, R2, (int32_t)cost);
	movi(t->c, R3, (int32_t)limit);
	call_reserve(t, &t->func.reserve, "reserve");
}

void dt_tr_unreserve(dt_tr *t)
{
	mov(t->c, R1, R6);
	call_reserve(t, &t->func.unreserve, "unreserve");
}

void dt_tr_cpu_find(dt_tr *t, uint32_t none)
{
	dt_code *c = t->c;

	ld(c, 4, R1, R6, S_CPU);
	st(c, 4, R10, -4, R1);
	map(c, R1, t->maps->cpus);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, -4);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
}

void dt_tr_cpu_row(dt_tr *t, uint32_t none)
{
	dt_tr_cpu_find(t, none);
	mov(t->c, R9, R0);
}

static void buffer_is_full(dt_tr *t)
{
	dt_code *c = t->c;

	map_value(c, R1, t->maps->control, 0);
	sti(c, 8, R1, CTL_FILLED, 1);
	movi(c, R2, ~CTL_ACTIVE);
	atomic(c, BPF_AND, R1, CTL_WORD, R2);
	dt_tr_wake(t);
}

/* reserve(slot, cost, limit): 1, or 0 and a drop (fill: tracing ends) */
static void reserve_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c), full = dt_code_label(c);

	dt_code_func_begin(c, t->func.reserve);
	mov(c, R6, R1);
	mov(c, R7, R2);
	mov(c, R8, R3);
	sti(c, 4, R6, S_RESERVED, 0);
	dt_tr_cpu_row(t, no);
	if (t->plan->buffers.policy == DT_BUFPOLICY_FILL && t->prog_kind != PK_END) {
		map_value(c, R1, t->maps->control, CTL_FILLED);
		ld(c, 8, R1, R1, 0);
		jmpi(c, BPF_JNE, R1, 0, no);
	}
	mov(c, R1, R7);
	atomic(c, BPF_ADD | BPF_FETCH, R9, CPU_USED, R1);
	alu(c, BPF_ADD, R1, R7);
	jmp(c, BPF_JGT, R1, R8, full);
	st(c, 4, R6, S_RESERVED, R7);
	movi(c, R0, 1);
	leave(c);
	dt_code_place(c, full);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R7, 0, 0, 0);
	atomic(c, BPF_ADD, R9, CPU_USED, R7);
	if (t->plan->buffers.policy == DT_BUFPOLICY_FILL) {
		buffer_is_full(t);
	} else {
		movi(c, R1, 1);
		atomic(c, BPF_ADD, R9, CPU_DROPS, R1);
	}
	dt_code_place(c, no);
	movi(c, R0, 0);
	leave(c);
}

/* unreserve(slot): the record was not made after all */
static void unreserve_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c);

	dt_code_func_begin(c, t->func.unreserve);
	mov(c, R6, R1);
	dt_tr_cpu_row(t, out);
	ld(c, 4, R1, R6, S_RESERVED);
	dt_code_insn(c, BPF_ALU64 | BPF_NEG, R1, 0, 0, 0);
	atomic(c, BPF_ADD, R9, CPU_USED, R1);
	sti(c, 4, R6, S_RESERVED, 0);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

void dt_tr_reserve_functions(dt_tr *t)
{
	if (t->func.reserve)
		reserve_function(t);
	if (t->func.unreserve)
		unreserve_function(t);
}

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

/* pid, frames; zeros after the last frame. The tracer's own probes have no stack worth showing. */
static void put_stack(dt_tr *t, const dt_action *a, uint32_t off, uint32_t size)
{
	bool user = dt_act(a->kind)->payload == DT_PAYLOAD_USTACK;
	uint32_t frames = (uint32_t)a->arg, room;

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
	t->loff = UINT32_MAX; /* behind the last instruction: a fault here has no DIF offset */
	switch (dt_act(a->kind)->payload) {
	case DT_PAYLOAD_STACK:
	case DT_PAYLOAD_USTACK: put_stack(t, a, off, size); return;
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
static void append_string(dt_tr *t, const dt_action *a, const struct dt_plan_action *p,
			  const dt_tr_val *v)
{
	uint32_t rec = t->at->record, limit = t->at->record_size - p->what->bound;
	bool user = a->difo->rtype.flags & DT_TF_BYUREF;
	dt_code *c = t->c;

	(void)v;
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

static void do_exit(dt_tr *t)
{
	dt_code *c = t->c;

	map_value(c, R1, t->maps->control, 0);
	st(c, 8, R1, CTL_STATUS, R0);
	sti(c, 8, R1, CTL_EXITING, 1);
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

/* r8 = the word of speculation r0 (bit 0: in use); `none` for id 0 and for one not in use */
static void find_speculation(dt_tr *t, uint32_t none)
{
	dt_code *c = t->c;

	t->loff = UINT32_MAX;
	dt_tr_here(t);
	jmpi(c, BPF_JEQ, R0, 0, none);
	mov(c, R1, R0);
	alui(c, BPF_SUB, R1, 1);
	jmpi(c, BPF_JGE, R1, (int32_t)t->plan->nspecs, dt_tr_fault_label(t, DT_FLT_ILLOP));
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

static void forget_speculation(dt_tr *t)
{
	sti(t->c, 4, R6, S_SPEC, 0);
	sti(t->c, 4, R6, S_SPECSEQ, 0);
}

/* From here on the record belongs to the speculation; without one the clause ends. */
static void do_speculate(dt_tr *t, uint32_t done)
{
	dt_tr_needs(t, spec);
	find_speculation(t, done);
}

/* Free the id; a marker in the record stream tells the consumer what to do with the data. Its time
 * is from before the id is free for others. */
static void end_speculation(dt_tr *t, uint32_t type)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c);

	dt_tr_needs(t, spec);
	find_speculation(t, none);
	dt_tr_header(t, type);
	mov(c, R0, R9);
	mov(c, R1, R9);
	alui(c, BPF_SUB, R1, 1);
	atomic(c, BPF_CMPXCHG, R8, 0, R1);
	jmp(c, BPF_JNE, R0, R9, none); /* somebody else ended it first */
	output_speculative(t, REC_HEADER);
	dt_code_place(c, none);
	forget_speculation(t);
}

static void effect(dt_tr *t, enum dt_effect what)
{
	switch (what) {
	case DT_EFFECT_EXIT: do_exit(t); break;
	case DT_EFFECT_RAISE: do_signal(t, false); break;
	case DT_EFFECT_STOP:
		/* In BEGIN and END the process is the tracer itself: nothing could continue it. */
		if (!dt_kind_is_tracer(t->kind))
			do_signal(t, true);
		break;
	case DT_EFFECT_CHILL: do_chill(t); break;
	case DT_EFFECT_COMMIT: end_speculation(t, REC_COMMIT); break;
	case DT_EFFECT_DISCARD: end_speculation(t, REC_DISCARD); break;
	case DT_EFFECT_NONE:
	case DT_EFFECT_SPECULATE: /* do_action() */
	case DT_EFFECT_AGGREGATE:
	case DT_EFFECT_REFUSED: break;
	}
}

/* ---- one action ---- */

/* The value in r0 becomes a datum; an effect needs it afterwards. */
static void do_data(dt_tr *t, const dt_action *a, const struct dt_plan_action *p, const dt_tr_val *v)
{
	bool effective = p->what->effect != DT_EFFECT_NONE;

	if (effective)
		st(t->c, 8, R6, S_INCR, R0);
	if (p->what->is_string)
		append_string(t, a, p, v);
	else
		dt_tr_datum(t, a, v, t->at->record + p->offset, a->size);
	if (effective)
		ld(t->c, 8, R0, R6, S_INCR);
	effect(t, p->what->effect);
}

static void do_action(dt_tr *t, const struct dt_plan_clause *x, uint32_t i, uint32_t done)
{
	const dt_action *a = &x->c->actions[i];
	const struct dt_plan_action *p = &x->plan[i];
	dt_tr_val v = NUMBER;

	if (p->what->role == DT_ROLE_KEY_ID)
		return;
	if (p->what->role == DT_ROLE_KEY && p->agg->keys[p->what->key].name >= 0) {
		dt_tr_agg_key(t, a, p, &v);
		return;
	}
	sti(t->c, 4, R6, S_FACTION, (int32_t)i + 1);
	if (a->difo)
		dt_tr_difo(t, a->difo, &v);
	else
		movi(t->c, R0, 0);
	if (!t->reachable)
		return;
	switch (p->what->role) {
	case DT_ROLE_KEY_ID: break;
	case DT_ROLE_KEY: dt_tr_agg_key(t, a, p, &v); break;
	case DT_ROLE_AGG: dt_tr_aggregate(t, a, p); break;
	case DT_ROLE_DATA: do_data(t, a, p, &v); break;
	case DT_ROLE_EFFECT:
		if (p->what->effect == DT_EFFECT_SPECULATE)
			do_speculate(t, done);
		else
			effect(t, p->what->effect);
		break;
	}
}

/*
 *	if (!predicate) return 0;
 *	actions; output record;
 *	return 0;
 * fault: return 1;
 */
void dt_tr_clause(dt_tr *t)
{
	const struct dt_plan_clause *x = &t->plan->clauses.v[t->clause];
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);
	bool jumped = false, small = t->plan->buffers.small && x->size;
	dt_tr_val v;

	for (size_t i = 0; i < DT_NELEM(t->fault); i++)
		t->fault[i] = UINT32_MAX;
	t->fault_exit = dt_code_label(c);
	t->faults = false;
	t->reachable = true;
	mov(c, R6, R1);
	mov(c, R7, R2);
	sti(c, 4, R6, S_CLAUSE, (int32_t)t->clause);
	sti(c, 4, R6, S_FAULT, 0);
	if (t->in_slot) { /* behind what the prologue has made */
		ld(c, 8, R1, R6, S_PUSED);
		st(c, 8, R6, S_USED, R1);
	} else {
		sti(c, 8, R6, S_USED, 0);
	}
	if (t->need->is.spec)
		forget_speculation(t);
	if (t->need->is.element)
		sti(c, 4, R6, S_ARRAY, 0);
	if (x->has_strings)
		sti(c, 4, R6, S_CURSOR, (int32_t)x->fixed);
	if (small)
		sti(c, 4, R6, S_RESERVED, 0);
	if (x->c->pred) {
		sti(c, 4, R6, S_FACTION, 0);
		dt_tr_difo(t, x->c->pred, &v);
		if (t->reachable)
			jmpi(c, BPF_JEQ, R0, 0, done);
		jumped = t->reachable;
	}
	if (small && t->reachable) { /* behind the predicate: what is not wanted is not lost */
		uint32_t ok = dt_code_label(c);

		dt_tr_reserve(t, x->record.cost);
		jmpi(c, BPF_JNE, R0, 0, ok);
		leave(c);
		dt_code_place(c, ok);
	}
	for (uint32_t i = 0; i < x->c->nactions && t->reachable && !t->failed; i++)
		do_action(t, x, i, done);
	jumped = jumped || x->record.speculates;
	if (t->reachable && x->size) {
		dt_tr_header(t, REC_DATA);
		(x->record.speculates ? output_speculative : dt_tr_output)(t,
								    x->has_strings ? 0 : x->fixed);
		if (small && !x->record.speculates)
			sti(c, 4, R6, S_RESERVED, 0); /* the consumer gives it back */
	}
	if (t->reachable || jumped) {
		dt_code_place(c, done);
		if (small)
			dt_tr_unreserve(t);
		movi(c, R0, 0);
		leave(c);
	}
	dt_tr_fault_paths(t);
	if (!t->faults)
		return;
	dt_code_place(c, t->fault_exit);
	if (small)
		dt_tr_unreserve(t);
	movi(c, R0, 1);
	leave(c);
}
