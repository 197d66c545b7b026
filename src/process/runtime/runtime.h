/*
 * runtime: what runs in the target: the interpreter (src/vm) compiled once more without a C library, and these files in
 * place of those that need one.
 *
 *   rt_fire.c     a probe has been reached
 *   rt_record.c   buffers of records
 *   rt_spec.c     speculations
 *   rt_agg.c      aggregations
 *   rt_life.c     what the process does with itself: proc
 *   rt_stack.c    stacks
 *   rt_native.c   what machine code calls
 *   rt_builtin.c  built-in variables, subroutines
 *   rt_libc.c     the few functions of the C library that the interpreter calls
 *   src/arch/CPU/host_enter.S  the code that every probe runs: saves registers, and calls dt_rt_fire()
 *
 * No allocation, no locks but that of the pool of associative arrays, no registers but general ones; about 2 KB of the
 * thread's stack. System calls only for what needs them: user memory, a thread whose id is not known, waking dtrace.
 */
#ifndef DT_RUNTIME_H
#define DT_RUNTIME_H

#include "process/exchange.h"

extern struct dt_pe_anchor dt_rt_anchor;

/* ---- host_enter.S ---- */
long dt_rt_syscall(long number, long a, long b, long c, long d, long e, long f);
uint32_t dt_rt_thread_word(int32_t at); /* at the thread pointer plus this */
uint32_t dt_rt_ask_cpu(void);

static inline uint32_t dt_rt_cpu(void)
{
	uint32_t cpu = dt_rt_anchor.cpu_at ? dt_rt_thread_word(dt_rt_anchor.cpu_at) : UINT32_MAX;

	return (int32_t)cpu >= 0 ? cpu : dt_rt_ask_cpu(); /* this thread may have none */
}

/* ---- helpers.def: rt_native.c, rt_agg.c, rt_record.c ---- */
void dt_rt_n_fault(struct dt_pe_slot *s, uint32_t code, int32_t offset);
uint64_t dt_rt_n_timestamp(struct dt_pe_slot *s);
uint64_t *dt_rt_n_row(struct dt_pe_slot *s, const struct dt_pe_keys *k); /* its value; NULL: a drop */
void dt_rt_n_quantize(uint64_t *words, int64_t value);
void dt_rt_n_value(uint64_t *words, const dt_agg *agg, int64_t value);
bool dt_rt_n_room(struct dt_pe_slot *s, uint64_t cost);
uint8_t *dt_rt_n_record(struct dt_pe_slot *s, const struct dt_vm_ecb *x); /* a record begins: its data; NULL: a drop */
void dt_rt_n_added(struct dt_pe_slot *s);				    /* it is complete */

/* ---- rt_record.c ---- */
void dt_rt_added(struct dt_pe_slot *s, const dt_vm_rec *r); /* dt_vm_new_record() made it, and it is complete */
bool dt_rt_fits(const struct dt_pe_slot *s, uint64_t cost);
void dt_rt_add_copy(struct dt_pe_slot *s, const struct dt_pe_entry *x, uint64_t timestamp);

/* ---- rt_stack.c ---- */
uint32_t dt_rt_stack(dt_vm *vm, uint64_t *frames, uint32_t n); /* how many there are, up to n; frames NULL: only that */

/* ---- rt_spec.c ---- */
void dt_rt_spec_leave(struct dt_pe_slot *s); /* the clause has ended */
void dt_rt_spec_left(struct dt_pe_slot *s);  /* the firing will not end */

/* ---- rt_fire.c ---- */
void dt_rt_fire(const struct dt_pe_site *site, struct dt_pe_frame *frame);
void dt_rt_wake(void);
void dt_rt_begin(struct dt_pe_slot *s); /* a firing, without arguments; then its clauses: */
void dt_rt_run(struct dt_pe_slot *s, const struct dt_pe_list *list);

/* ---- rt_life.c ---- */
void dt_rt_life(struct dt_pe_slot *s, const struct dt_pe_site *site, const struct dt_pe_frame *frame, uint64_t number);

static inline struct dt_pe_slot *dt_rt_slot(const dt_vm_engine *e)
{
	return (struct dt_pe_slot *)(void *)((char *)(uintptr_t)e - offsetof(struct dt_pe_slot, e));
}

/* The program counter at the probe. */
static inline uint64_t dt_rt_pc(const struct dt_pe_slot *s)
{
	const char *at = (const char *)s->regs + dt_rt_anchor.shared->pc_at;

	return s->site->samples ? *(const uint64_t *)(const void *)at : s->site->at;
}

static inline uint64_t dt_rt_sp(const struct dt_pe_slot *s)
{
	return dt_vm_addr(s->regs) + dt_rt_anchor.shared->stack_at + (s->site->samples ? 8 : 0);
}

static inline const struct dt_pe_slot *dt_rt_slot_of(const dt_vm *vm)
{
	return dt_rt_slot((const dt_vm_engine *)(const void *)vm); /* its first member */
}

#endif
