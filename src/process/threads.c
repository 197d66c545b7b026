/*
 * threads: where the threads of a stopped target are, and moving those that are at an instruction that is replaced.
 *
 * A thread is where its registers are, and where each signal handler that it is in will return to: the kernel has saved the
 * registers on the stack, in a form that can be recognized. Other words on the stack do not matter: many are left from earlier
 * calls. But the runtime calls the clock of the vdso: there the address it returns to is near.
 */
#include <stdlib.h>
#include <sys/ptrace.h>

#include "arch/remote.h"
#include "arch/trap.h"
#include "process/process.h"

#define STACK_MAX (256u << 10)
#define NEAR	  (1u << 10) /* bytes of the stack that the clock may use */

/* ---- restartable sequences ---- */

#define GET_RSEQ      ((enum __ptrace_request)0x420f) /* PTRACE_GET_RSEQ_CONFIGURATION, which not every header has */
#define RSEQ_SEQUENCE 8				      /* struct rseq: rseq_cs */

uint64_t dt_pe_rseq(pid_t tid)
{
	struct {
		uint64_t pointer;
		uint32_t size, signature, flags, pad;
	} c = {0};

	return ptrace(GET_RSEQ, tid, sizeof(c), &c) < 0 ? 0 : c.pointer;
}

uint64_t dt_pe_sequence(const struct dt_pe_target *t, pid_t tid)
{
	uint64_t at = dt_pe_rseq(tid), sequence = 0;

	return at && dt_pe_read(t, at + RSEQ_SEQUENCE, &sequence, sizeof(sequence)) == sizeof(sequence) ? sequence : 0;
}

/* ---- where they are ---- */

struct context {
	pid_t tid;
	uint64_t pc, sp;
	uint64_t saved; /* where on the stack the pc is; 0: it is in the thread's register */
};
typedef DT_VEC(struct context) contexts;

static void add_saved(const struct dt_pe_target *t, contexts *all, pid_t tid, uint64_t sp, uint64_t *stack)
{
	uint64_t start = sp & ~7ull;
	size_t n = dt_pe_read(t, start, stack, STACK_MAX) / 8;
	struct dt_trap_regs regs;

	for (size_t i = 0; i < n; i++)
		if (dt_trap_saved(stack, n, i, &regs))
			*dt_vec_add(all, NULL) = (struct context){tid, regs.pc, regs.sp, start + i * 8};
}

/* False: some thread sleeps in the kernel, and what it will do then is not known. */
static bool find_contexts(const struct dt_pe_target *t, contexts *all)
{
	uint64_t *stack = dt_xmalloc(STACK_MAX);
	bool known = true;

	for (uint32_t i = 0; i < t->hold->threads.n; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];
		struct dt_trap_regs regs;

		known = known && x->stopped;
		if (!x->stopped || dt_trap_regs(x->tid, &regs) < 0)
			continue;
		*dt_vec_add(all, NULL) = (struct context){x->tid, regs.pc, regs.sp, 0};
		add_saved(t, all, x->tid, regs.sp, stack);
	}
	free(stack);
	return known;
}

/* ---- moving ---- */

/* The patch that an address is in, or of whose stub. They are sorted by address; stubs are not. */
static const dt_patch *patch_around(const struct dt_pe_target *t, uint64_t pc, bool stub)
{
	uint32_t lo = 0, hi = t->places->n;

	for (uint32_t i = 0; stub && i < t->places->n; i++)
		if (pc - t->places->v[i]->patch.stub < t->places->v[i]->patch.code_size)
			return &t->places->v[i]->patch;
	while (!stub && lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const dt_patch *p = &t->places->v[mid]->patch;

		if (pc - p->at < p->size)
			return p;
		if (pc < p->at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static void move(const struct dt_pe_target *t, const struct context *c, uint64_t pc)
{
	if (c->saved)
		dt_pe_write(t, c->saved, &pc, sizeof(pc));
	else
		dt_trap_set_pc(c->tid, pc);
}

void dt_pe_threads_move(const struct dt_pe_target *t, bool out)
{
	contexts all = {0};

	find_contexts(t, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		const struct context *c = &all.v[i];
		const dt_patch *p = patch_around(t, c->pc, out);

		for (uint32_t k = 0; p && k < p->nmoved; k++) {
			uint64_t from = p->at + p->moved[k].from, to = p->stub + p->moved[k].to;

			if (out && c->pc == to)
				move(t, c, from);
			else if (!out && c->pc == from && k > 0)
				move(t, c, to);
		}
	}
	dt_vec_free(&all);
}

/* ---- who is inside ---- */

/* Also: in the code of a system call that was not finished. */
bool dt_pe_target_is_inside(const struct dt_pe_target *t, uint64_t pc)
{
	const struct dt_pe_remains *in = t->in;

	if ((in->base && pc - in->base < in->base_size) || pc - in->code < DT_REMOTE_CODE)
		return true;
	for (uint32_t i = 0; i < in->nareas; i++)
		if (in->areas[i].start && pc - in->areas[i].start < in->areas[i].size)
			return true;
	return false;
}

static bool will_return(const struct dt_pe_target *t, const struct context *c)
{
	uint64_t words[NEAR / 8];
	size_t n = c->pc - t->in->vdso < t->in->vdso_size ? dt_pe_read(t, c->sp & ~7ull, words, sizeof(words)) / 8 : 0;

	for (size_t i = 0; i < n; i++)
		if (dt_pe_target_is_inside(t, words[i]))
			return true;
	return false;
}

bool dt_pe_threads_inside(const struct dt_pe_target *t)
{
	contexts all = {0};
	bool inside = !find_contexts(t, &all);

	for (uint32_t i = 0; i < all.n && !inside; i++)
		inside = dt_pe_target_is_inside(t, all.v[i].pc) || will_return(t, &all.v[i]);
	dt_vec_free(&all);
	return inside;
}
