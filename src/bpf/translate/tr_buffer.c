/*
 * tr_buffer: writes records to the buffer of the CPU: a ring buffer that the consumer empties.
 * Small buffers are counted to the byte.
 */
#include <stddef.h>

#include "bpf/translate/translate.h"

/* ---- ring buffers ---- */

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

void dt_tr_output_speculative(dt_tr *t, uint32_t size)
{
	call_output(t, &t->func.output, "output", size);
}

/*
 * r1 = the map of CPU r8. If there are few a tree of comparisons, whose leaves are the maps
 * themselves; if many an array of maps, which is slower to look up and much slower to
 * set up: the kernel waits for all CPUs when one is filled.
 */
static void choose_map(dt_tr *t, const struct dt_cpu_buffer *of, uint32_t lo, uint32_t hi,
		       uint32_t found)
{
	dt_code *c = t->c;
	uint32_t mid = lo + (hi - lo) / 2, upper;

	if (hi - lo == 1) {
		map(c, R1, of ? of[lo].fd : -1);
		ja(c, found);
		return;
	}
	upper = dt_code_label(c);
	jmpi(c, BPF_JGE, R8, (int32_t)(of ? of[mid].first : mid), upper);
	choose_map(t, of, lo, mid, found);
	dt_code_place(c, upper);
	choose_map(t, of, mid, hi, found);
}

void dt_tr_map_of_cpu(dt_tr *t, const struct dt_cpu_buffer *of, uint32_t n, int array,
		      uint32_t none)
{
	dt_code *c = t->c;
	uint32_t found;

	if (!dt_layout_ring_array(t->plan, t->need, n)) {
		found = dt_code_label(c);
		choose_map(t, of, 0, n ? n : 1, found);
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

/* Wake the consumer. */
void dt_tr_wake(dt_tr *t)
{
	dt_code *c = t->c;

	map(c, R1, t->maps->wake);
	mov(c, R2, R6);
	movi(c, R3, 8);
	movi(c, R4, BPF_RB_FORCE_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
}

/* Bytes of a ring buffer; those of CPUs that are offline are smaller. */
uint64_t dt_tr_ring_size(const dt_tr *t)
{
	uint64_t size = 4096;

	for (uint32_t i = 0; t->maps->ring && i < t->maps->nrings; i++)
		if (t->maps->ring[i].mask + 1 > size)
			size = t->maps->ring[i].mask + 1;
	return size;
}

#define LOOKS 1024 /* how often the fill level is looked at while a slot fills a buffer */

/*
 *	slot->written += size; if (slot->written < size of the buffer / LOOKS) goto done
 *	slot->written = 0
 *	if (ringbuf_query(r9, AVAIL_DATA) > size / 2 && !control->woken) { control->woken = 1; wake }
 *
 * The size is a constant, or (0) in r7. Asking for the fill level costs as much as a tenth of the record. The 32 slots of
 * eight CPUs that share a buffer may together write a quarter of it unseen.
 */
static void wake_when_filling(dt_tr *t, uint32_t bytes, uint32_t done)
{
	dt_code *c = t->c;
	uint64_t size = dt_tr_ring_size(t);
	uint32_t later = dt_code_label(c), look = dt_code_label(c);

	ld(c, 4, R1, R6, S_WRITTEN);
	if (bytes)
		alui(c, BPF_ADD, R1, (int32_t)bytes);
	else
		alu(c, BPF_ADD, R1, R7);
	jmpi(c, BPF_JLT, R1, (int32_t)(size / LOOKS), later);
	sti(c, 4, R6, S_WRITTEN, 0);
	ja(c, look);
	dt_code_place(c, later);
	st(c, 4, R6, S_WRITTEN, R1);
	ja(c, done);
	dt_code_place(c, look);
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

/* if (!control->awake) { control->awake = 1; wake; goto done } */
static void wake_when_asleep(dt_tr *t, uint32_t done)
{
	dt_code *c = t->c;
	uint32_t awake = dt_code_label(c);

	map_value(c, R1, t->maps->control, CTL_AWAKE);
	ld(c, 8, R2, R1, 0);
	jmpi(c, BPF_JNE, R2, 0, awake);
	sti(c, 8, R1, 0, 1);
	dt_tr_wake(t);
	ja(c, done);
	dt_code_place(c, awake);
}

/* The fill policy: nothing more is recorded on this CPU, whose row is given, except by END. */
static void buffer_is_full(dt_tr *t, int row)
{
	dt_code *c = t->c;

	sti(c, 8, row, CPU_FULL, 1);
	map_value(c, R1, t->maps->control, CTL_FILLED);
	sti(c, 8, R1, 0, 1);
	dt_tr_wake(t);
}

/* r0 = ringbuf_output(r1, record, size, NO_WAKEUP) */
static void copy_record(dt_tr *t, uint32_t size)
{
	dt_code *c = t->c;

	dt_slot_lea(c, R2, t->at->record);
	st(c, 2, R2, (int)offsetof(struct dt_rec, cpu), R8);
	if (size)
		movi(c, R3, (int32_t)size);
	else
		mov(c, R3, R7);
	movi(c, R4, BPF_RB_NO_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_output);
}

#define DIRECT_MAX 96 /* bytes: a call of memcpy() costs as much as copying these */

/*
 * A small record of a known size goes to the buffer piece by piece, its head without having been in the slot:
 *
 *	r0 = ringbuf_reserve(r1, size); if (!r0) goto drop
 *	*r0 = head, values; submit(r0, NO_WAKEUP)
 */
static void write_direct(dt_tr *t, uint32_t size, uint32_t drop)
{
	dt_code *c = t->c;

	movi(c, R2, (int32_t)size);
	movi(c, R3, 0);
	helper(c, BPF_FUNC_ringbuf_reserve);
	jmpi(c, BPF_JEQ, R0, 0, drop);
	sti(c, 4, R0, (int)offsetof(struct dt_rec, clause), (int32_t)t->clause);
	ld(c, 4, R1, R6, S_PROBE);
	st(c, 4, R0, (int)offsetof(struct dt_rec, probe), R1);
	ld(c, 8, R1, R6, S_TIME);
	st(c, 8, R0, (int)offsetof(struct dt_rec, time), R1);
	sti(c, 4, R0, (int)offsetof(struct dt_rec, spec), 0);
	sti(c, 2, R0, (int)offsetof(struct dt_rec, type), REC_DATA);
	st(c, 2, R0, (int)offsetof(struct dt_rec, cpu), R8);
	/* Not in words: a load of more bytes than were just stored has to wait until they are in the cache. */
	for (uint32_t at = sizeof(struct dt_rec); at < size; at += 4) {
		ld(c, 4, R1, R6, (int)(t->at->record + at));
		st(c, 4, R0, (int)at, R1);
	}
	mov(c, R1, R0);
	movi(c, R2, BPF_RB_NO_WAKEUP);
	helper(c, BPF_FUNC_ringbuf_submit);
}

/*
 * The record goes to the ring buffer; if that is full, it is a drop. The size is a constant, or (0) in r7.
 */
static void write_record(dt_tr *t, uint32_t size, bool direct)
{
	dt_code *c = t->c;
	uint32_t drop = dt_code_label(c), done = dt_code_label(c);
	bool wakes = dt_layout_wakes_early(t->plan, t->need) && !dt_kind_is_tracer(t->prog_kind);

	ld(c, 4, R8, R6, S_CPU);
	if (!size)
		jmpi(c, BPF_JGT, R7, (int32_t)t->at->record_size, drop);
	dt_tr_map_of_cpu(t, t->maps->ring, t->maps->nrings, t->maps->rings, drop);
	mov(c, R9, R1);
	if (t->plan->buffers.lossless && !dt_kind_is_tracer(t->prog_kind)) {
		dt_tr_make_room(t, drop);
		mov(c, R1, R9);
	}
	if (direct) {
		write_direct(t, size, drop);
	} else {
		copy_record(t, size);
		jmpi(c, BPF_JNE, R0, 0, drop);
	}
	if (wakes && t->plan->buffers.eager)
		wake_when_asleep(t, done);
	if (wakes)
		wake_when_filling(t, size, done);
	else
		ja(c, done);
	dt_code_place(c, drop);
	if (t->plan->buffers.policy == DT_BUFPOLICY_FILL) {
		dt_tr_cpu_find(t, done);
		buffer_is_full(t, R0);
	} else {
		dt_tr_count(t, CPU_DROPS);
	}
	dt_code_place(c, done);
}

/* output(slot, size): the record goes to the ring buffer of the CPU */
void dt_tr_output_function(dt_tr *t)
{
	dt_code *c = t->c;

	if (!t->func.output)
		return;
	dt_code_func_begin_global(c, t->func.output, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	write_record(t, 0, false);
	movi(c, R0, 0);
	leave(c);
}

/* A clause that is a part of main (and so has the CPU's row on the stack) writes a record of a known size itself. */
static bool writes_itself(const dt_tr *t, uint32_t size)
{
	return t->inside && size && !t->plan->buffers.lossless && t->plan->buffers.policy != DT_BUFPOLICY_RING;
}

bool dt_tr_output_direct(dt_tr *t, uint32_t size)
{
	if (!writes_itself(t, size) || t->need->is.spec || size > DIRECT_MAX || size % 4 || t->at->record + size > DT_SLOT_FAR)
		return false;
	dt_tr_time(t);
	write_record(t, size, true);
	return true;
}

void dt_tr_output(dt_tr *t, uint32_t size)
{
	if (t->plan->buffers.policy == DT_BUFPOLICY_RING)
		call_output(t, &t->func.tail, "tail", size);
	else if (writes_itself(t, size))
		write_record(t, size, false);
	else
		call_output(t, &t->func.output, "output", size);
}

/* ---- small buffers ---- */

/*
 * A buffer of less than 64 KB, and every buffer of the fill policy, is counted to the byte, as the
 * interpreter and DTrace do: space for the record is reserved before the clause runs, and a clause
 * without space does not run at all. Ring buffers come in pages and have their own headers, so the
 * bytes are counted separately: in the CPU's row, which the consumer lowers again when it has taken
 * a record. Larger buffers are not counted: the kernel says when they are full. With the ring
 * policy (tail.c) none ever is.
 */
static void call_reserve(dt_tr *t, uint32_t *func, const char *name)
{
	if (!*func)
		*func = dt_code_func_new(t->c, name);
	dt_code_call(t->c, *func);
}

void dt_tr_reserve(dt_tr *t, uint32_t cost)
{
	uint64_t limit = t->prog_kind == PK_END
			     ? t->plan->buffers.size
			     : t->plan->buffers.size - t->plan->buffers.end_reserve;

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

	ld(c, 4, R2, R6, S_CPU);
	dt_tr_row(t, t->maps->cpus, R2, t->plan->ncpus, CPU_SIZE, none);
}

void dt_tr_cpu_row(dt_tr *t, uint32_t none)
{
	dt_tr_cpu_find(t, none);
	mov(t->c, R9, R0);
}

/* reserve(slot, cost, limit): 1, or 0 and a drop (fill: the buffer is full) */
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
		ld(c, 8, R1, R9, CPU_FULL);
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
		buffer_is_full(t, R9);
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
