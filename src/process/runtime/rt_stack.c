/*
 * rt_stack: walks the stack of the thread at a probe, by the same tables as the kernel engine (elf/cfi.h), which dtrace has put
 * into shared memory (pe_unwind.c).
 *
 * A word of the stack is loaded directly where that is known to be safe: between the stack pointer and the end of the stack
 * that the thread runs on, of which every page has been read once by the kernel for us. The end is that of the first thread's
 * stack, or the thread pointer, which C libraries put at the upper end of the stacks that they make: what lies between is
 * there as long as the thread runs on it. Everything else is read by the kernel, which fails where a load would crash: other
 * stacks (of signals, of coroutines), damaged chains.
 *
 * Where a frame has no row (code made at run time, a library loaded later), one step is made by the frame pointer.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "process/runtime/runtime.h"

#define PAGE	  4096ull
#define STACK_MAX (8ull << 20)
#define BATCH	  16
#define LOST	  1 /* a place of a register */

struct walk {
	struct dt_pe_slot *s;
	const struct dt_pe_shared *sh;
	const struct dt_pe_code *code;
	uint64_t pc, sp, fp, base;
	uint64_t fp_at, base_at; /* where they are; 0: here; LOST */
	uint64_t signal;	 /* the registers that a signal has saved ... */
	bool innermost, back;	 /* ... or those of the probe are known; pc is a return address */
};

/* ---- memory ---- */

static long read_other(const struct iovec *to, uint64_t nto, const struct iovec *from, uint64_t nfrom)
{
	return process_vm_readv(0, to, nto, from, nfrom, 0);
}

static bool read_bytes(uint64_t at, void *to, uint64_t n)
{
	struct iovec local = {to, n}, remote = {(void *)(uintptr_t)at, n};

	return read_other(&local, 1, &remote, 1) == (long)n;
}

/* Can every page be read? */
static bool is_there(uint64_t from, uint64_t to)
{
	struct iovec remote[BATCH];
	uint8_t bytes[BATCH];

	for (from &= ~(PAGE - 1); from < to;) {
		struct iovec local = {bytes, 0};

		for (; local.iov_len < BATCH && from < to; from += PAGE)
			remote[local.iov_len++] = (struct iovec){(void *)(uintptr_t)from, 1};
		if (read_other(&local, 1, remote, local.iov_len) != (long)local.iov_len)
			return false;
	}
	return true;
}

static uint64_t thread_pointer(void)
{
	return dt_rt_anchor.tid_at ? dt_rt_thread_word(0) | (uint64_t)dt_rt_thread_word(4) << 32 : 0;
}

/* The stack pointer is at a place that it has not been at before. */
static __attribute__((noinline)) void find_stack(struct dt_pe_slot *s, uint64_t sp)
{
	uint64_t end = dt_rt_anchor.shared->stack_end, known = s->stack_end;

	if (sp / PAGE == s->stack_bad / PAGE)
		return;
	if (end - sp > STACK_MAX)
		end = thread_pointer();
	if (end - sp > STACK_MAX || !is_there(sp, known == end && s->stack_start > sp ? s->stack_start : end)) {
		s->stack_bad = sp;
		s->stack_start = s->stack_end = 0;
		return;
	}
	s->stack_start = sp & ~(PAGE - 1);
	s->stack_end = end;
}

static __attribute__((noinline)) bool slow_word(struct dt_pe_slot *s, uint64_t at, uint64_t *to)
{
	uint64_t n = PAGE - at % PAGE;

	if (at - s->window_at > sizeof(s->window) - 8 || !s->window_size || at - s->window_at > s->window_size - 8) {
		n = n < 8 ? 8 : n > sizeof(s->window) ? sizeof(s->window) : n;
		s->window_size = 0;
		if (!read_bytes(at, s->window, n))
			return false;
		s->window_at = at;
		s->window_size = n;
	}
	memcpy(to, s->window + (at - s->window_at), 8);
	return true;
}

static inline bool word(const struct walk *w, uint64_t at, uint64_t *to)
{
	const struct dt_pe_slot *s = w->s;

	if (__builtin_expect(at >= s->stack_start && at + 8 <= s->stack_end && at < at + 8, 1)) {
		*to = *(const uint64_t *)(uintptr_t)at;
		return true;
	}
	return slow_word(w->s, at, to);
}

/* ---- rows ---- */

static const struct dt_pe_code_map *map_of(const struct dt_pe_code *code, uint64_t pc)
{
	uint32_t lo = 0, hi = code ? code->n : 0;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (pc < code->v[mid].start)
			hi = mid;
		else if (pc >= code->v[mid].end)
			lo = mid + 1;
		else
			return &code->v[mid];
	}
	return NULL;
}

static __attribute__((noinline)) const dt_unwind_row *search_row(const struct dt_pe_code *code, uint64_t pc)
{
	const struct dt_pe_code_map *m = map_of(code, pc);
	uint64_t at = m ? pc - m->start + m->offset : 0, block = at >> DT_PE_BLOCK_BITS;
	uint32_t lo, n;

	if (!m || !m->nrows || block >= m->nblocks)
		return NULL;
	lo = m->index[block];
	n = m->index[block + 1] - lo + 1;
	while (n > 1) {
		uint32_t half = n / 2;

		if (m->rows[lo + half].pc <= at) {
			lo += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return m->rows[lo].pc <= at ? &m->rows[lo] : NULL;
}

static const dt_unwind_row *row_of(const struct walk *w)
{
	uint64_t pc = w->pc - w->back;
	struct dt_pe_seen *seen = &w->s->seen[(pc ^ pc >> 8) % DT_PE_SEEN];

	if (__builtin_expect(seen->pc != pc, 0)) {
		seen->row = search_row(w->code, pc);
		seen->pc = pc;
	}
	return seen->row;
}

/* ---- one step ---- */

static bool resolve(const struct walk *w, uint64_t *value, uint64_t *at)
{
	if (!*at)
		return true;
	if (*at == LOST || !word(w, *at, value))
		return false;
	*at = 0;
	return true;
}

/* Any register: known in the innermost frame, and in the one that a signal interrupted. */
static bool any_register(const struct walk *w, uint32_t reg, uint64_t *value)
{
	const struct dt_pe_shared *sh = w->sh;

	if (w->innermost) {
		*value = reg == sh->sp ? w->sp : reg < DT_PE_REGS && sh->reg[reg] ? w->s->regs->word[sh->reg[reg] - 1] : 0;
		return reg == sh->sp || (reg < DT_PE_REGS && sh->reg[reg]);
	}
	return w->signal && reg < DT_PE_REGS && sh->saved[reg] && word(w, w->signal + 8 * (sh->saved[reg] - 1ull), value);
}

/* The frame above was interrupted: all its registers are saved, and its pc is exact. */
static bool by_signal(struct walk *w, const dt_unwind_row *r)
{
	const struct dt_pe_shared *sh = w->sh;
	uint64_t sp = 0;

	w->signal = w->sp + (uint64_t)(int64_t)DT_UW_VALUE(r->cfa);
	w->innermost = w->back = false;
	w->fp_at = w->base_at = 0;
	if (!any_register(w, sh->sp, &sp) || !any_register(w, sh->fp, &w->fp) || !any_register(w, sh->base, &w->base) ||
	    !any_register(w, sh->pc, &w->pc))
		return false;
	w->sp = sp;
	return w->pc != 0;
}

static bool frame_address(struct walk *w, const dt_unwind_row *r, uint64_t *cfa)
{
	uint64_t value = 0;

	switch (DT_UW_KIND(r->cfa)) {
	case DT_UW_SP: *cfa = w->sp + (uint64_t)(int64_t)DT_UW_VALUE(r->cfa); return true;
	case DT_UW_FP: *cfa = (uint64_t)(int64_t)DT_UW_VALUE(r->cfa); return resolve(w, &w->fp, &w->fp_at) && (*cfa += w->fp, true);
	case DT_UW_BASE: *cfa = (uint64_t)(int64_t)DT_UW_VALUE(r->cfa); return resolve(w, &w->base, &w->base_at) && (*cfa += w->base, true);
	case DT_UW_REG:
		*cfa = (uint64_t)(int64_t)DT_UW_REG_VALUE(r->cfa);
		return any_register(w, DT_UW_REG_OF(r->cfa), &value) && (*cfa += value, true);
	case DT_UW_SP_DEREF:
	case DT_UW_FP_DEREF:
		if (DT_UW_KIND(r->cfa) == DT_UW_FP_DEREF && !resolve(w, &w->fp, &w->fp_at))
			return false;
		value = DT_UW_KIND(r->cfa) == DT_UW_FP_DEREF ? w->fp : w->sp;
		*cfa = DT_UW_ADD(r->cfa);
		return word(w, value + (uint64_t)(int64_t)DT_UW_DEREF(r->cfa), &value) && (*cfa += value, true);
	case DT_UW_PLT: *cfa = w->sp + 8 + ((int64_t)(w->pc & 15) >= DT_UW_VALUE(r->cfa) ? 8 : 0); return true;
	default: return false; /* END, STOP */
	}
}

static void set_place(uint64_t value, uint64_t *at, int16_t where, uint64_t cfa)
{
	switch (where) {
	case DT_UW_SAME: break;
	case DT_UW_LOST: *at = LOST; break;
	case DT_UW_AT_FP: *at = value; break;
	default: *at = cfa + (uint64_t)((int64_t)where * 8); break;
	}
}

/* Without a row: at the first instruction of a function the return address is on top, elsewhere *fp is the caller's fp. */
static bool by_frame_pointer(struct walk *w, dt_unwind_row *r, uint64_t *cfa)
{
	const struct dt_arch_unwind *u = &w->sh->unwind;

	*r = (dt_unwind_row){0};
	if (w->innermost && w->s->site->is_entry) {
		*cfa = w->sp - (uint64_t)(int64_t)u->ra_at;
		return true;
	}
	if (!resolve(w, &w->fp, &w->fp_at) || w->fp < w->sp)
		return false;
	*cfa = w->fp - (uint64_t)(int64_t)u->fp_at;
	r->fp = (int16_t)(u->fp_at / 8);
	r->base = DT_UW_LOST;
	return true;
}

/* From a frame to its caller; false: there is none. */
static bool step(struct walk *w)
{
	const dt_unwind_row *r = row_of(w);
	dt_unwind_row made;
	uint64_t cfa;

	if (!r || DT_UW_KIND(r->cfa) == DT_UW_NONE) {
		if (!by_frame_pointer(w, &made, &cfa))
			return false;
		r = &made;
	} else if (DT_UW_KIND(r->cfa) == DT_UW_SIGNAL) {
		return by_signal(w, r);
	} else if (!frame_address(w, r, &cfa)) {
		return false;
	}
	if (cfa <= w->sp || !word(w, cfa + (uint64_t)(int64_t)w->sh->unwind.ra_at, &w->pc))
		return false;
	set_place(w->fp, &w->fp_at, r->fp, cfa);
	set_place(w->base, &w->base_at, r->base, cfa);
	w->sp = cfa;
	w->innermost = false;
	w->signal = 0;
	w->back = true;
	return w->pc != 0;
}

/* Rows of code that was mapped before are forgotten. */
static __attribute__((noinline)) void see_code(struct dt_pe_slot *s, uint64_t number)
{
	memset(s->seen, 0, sizeof(s->seen));
	s->seen_number = number;
}

/* How many frames there are, up to n; frames NULL: only count. */
uint32_t dt_rt_stack(dt_vm *vm, uint64_t *frames, uint32_t n)
{
	struct dt_pe_slot *s = dt_rt_slot((dt_vm_engine *)(void *)vm);
	const struct dt_pe_shared *sh = dt_rt_anchor.shared;
	uint64_t number = __atomic_load_n(&sh->code_number, __ATOMIC_ACQUIRE);
	struct walk w = {.s = s, .sh = sh, .pc = dt_rt_pc(s), .sp = dt_rt_sp(s), .innermost = true};
	uint32_t k = 0;

	if (!sh->unwind.ra_at)
		return 0;
	w.fp = s->regs->word[sh->reg[sh->fp] - 1];
	w.base = s->regs->word[sh->reg[sh->base] - 1];
	s->window_size = 0;
	w.code = __atomic_load_n(&sh->code, __ATOMIC_ACQUIRE);
	if (__builtin_expect(s->seen_number != number, 0))
		see_code(s, number);
	if (w.sp - s->stack_start >= s->stack_end - s->stack_start)
		find_stack(s, w.sp);
	while (k < n) {
		if (frames)
			frames[k] = w.pc;
		k++;
		if (k == n || !step(&w))
			break;
	}
	return k;
}

void dt_vm_ustack(dt_vm *vm, uint64_t *frames, uint32_t n)
{
	dt_rt_stack(vm, frames, n);
}
