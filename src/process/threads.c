/*
 * threads: where the threads of a stopped target are, and moving those that are at an instruction that is replaced.
 *
 * A thread is where its registers are, and where each signal handler that it is in will return to: the kernel has saved the
 * registers on the stack, in a form that can be recognized. Other words on the stack do not matter: many are left from earlier
 * calls. But what is not of a file may return to us: the clock of the vdso, which the runtime calls, and the runtime of another
 * dtrace, which takes samples. There the address is near.
 *
 * A context that a signal handler has left (swapcontext) is not on any of these stacks. If its firing is not over, its slot says so.
 */
#include <stdlib.h>
#include <sys/ptrace.h>

#include "arch/remote.h"
#include "arch/trap.h"
#include "process/process.h"

#define STACK_MAX (256u << 10)
#define STACKS	  4
#define NEAR	  (8u << 10) /* bytes of the stack that such code may use */

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

struct rseq_section { /* the kernel's struct rseq_cs */
	uint32_t version, flags;
	uint64_t start, size, abort;
};

bool dt_pe_in_sequence(const struct dt_pe_target *t, pid_t tid, uint64_t pc)
{
	uint64_t at = dt_pe_rseq(tid), sequence = 0;
	struct rseq_section s;

	return at && dt_pe_read(t, at + RSEQ_SEQUENCE, &sequence, sizeof(sequence)) == sizeof(sequence) && sequence &&
	       dt_pe_read(t, sequence, &s, sizeof(s)) == sizeof(s) && pc - s.start < s.size;
}

/* ---- where they are ---- */

/* Registers that signal handlers will return to: on this stack, and on those that they interrupted, if these are others. */
static void add_saved(const struct dt_pe_target *t, dt_pe_contexts *all, pid_t tid, uint64_t sp, uint64_t *stack)
{
	for (int other = 0; sp && other < STACKS; other++) {
		uint64_t start = sp & ~7ull;
		size_t n = dt_pe_read(t, start, stack, STACK_MAX) / 8;
		struct dt_trap_regs regs;

		sp = 0;
		for (size_t i = 0; i < n; i++) {
			if (!dt_trap_saved(stack, n, i, &regs))
				continue;
			*dt_vec_add(all, NULL) = (struct dt_pe_context){tid, regs.pc, regs.sp, start + i * 8, false};
			if (regs.sp - start >= n * 8)
				sp = regs.sp;
		}
	}
}

bool dt_pe_contexts_find(const struct dt_pe_target *t, dt_pe_contexts *all)
{
	uint64_t *stack = dt_xmalloc(STACK_MAX);
	bool known = true;

	for (uint32_t i = 0; i < t->hold->threads.n; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];
		struct dt_trap_regs regs = {0};

		if (x->stopped ? dt_trap_regs(x->tid, &regs) < 0 : !dt_pe_sleeper(t, x->tid, &regs.pc, &regs.sp)) {
			known = known && x->stopped; /* else it has been killed */
			continue;
		}
		*dt_vec_add(all, NULL) = (struct dt_pe_context){x->tid, regs.pc, regs.sp, 0, !x->stopped};
		add_saved(t, all, x->tid, regs.sp, stack);
	}
	free(stack);
	return known;
}

/* ---- moving ---- */

static void move(const struct dt_pe_target *t, struct dt_pe_context *c, uint64_t pc)
{
	if (c->saved)
		dt_pe_write(t, c->saved, &pc, sizeof(pc));
	else
		dt_trap_set_pc(c->tid, pc);
	c->pc = pc;
}

/* Where it must go: 0: it may stay; UINT64_MAX: there is no such place. */
static uint64_t place_for(const struct dt_pe_context *c, const dt_patch *p, bool out)
{
	bool at = out ? c->pc - p->stub < p->code_size : c->pc != p->at && c->pc - p->at < p->size;

	for (uint32_t k = 0; at && k < p->nmoved; k++) {
		uint64_t from = p->at + p->moved[k].from, to = p->stub + p->moved[k].to;

		if (c->pc == (out ? to : from))
			return out ? from : to;
	}
	return at && !out ? UINT64_MAX : 0;
}

bool dt_pe_contexts_move(const struct dt_pe_target *t, dt_pe_contexts *all, const dt_patch *p, bool out)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct dt_pe_context *c = &all->v[i];
		uint64_t to = place_for(c, p, out);

		if (to && (c->fixed || to == UINT64_MAX) && !out)
			return false;
		if (to && !c->fixed)
			move(t, c, to);
	}
	return true;
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

static bool will_return(const struct dt_pe_target *t, const dt_maps *maps, const struct dt_pe_context *c)
{
	const dt_mapping *m = dt_maps_find(maps, c->pc);
	uint64_t words[NEAR / 8];
	size_t n = m && m->kind == DT_MAP_FILE ? 0 : dt_pe_read(t, c->sp & ~7ull, words, sizeof(words)) / 8;

	for (size_t i = 0; i < n; i++)
		if (dt_pe_target_is_inside(t, words[i]))
			return true;
	return false;
}

static bool is_thread(const struct dt_pe_target *t, uint32_t tid)
{
	for (uint32_t i = 0; i < t->hold->threads.n; i++)
		if ((uint32_t)t->hold->threads.v[i].tid == tid)
			return true;
	return false;
}

/* Has one of them begun a firing that it may come back to? What is read here may be anything. */
static bool is_firing(const struct dt_pe_target *t)
{
	const struct dt_pe_slot *slots;
	struct dt_pe_shared sh;
	uint64_t busy, token;
	uint32_t tid;

	if (!t->in->shared || dt_pe_read(t, t->in->shared, &sh, sizeof(sh)) != sizeof(sh))
		return false;
	slots = sh.slots;
	for (uint32_t i = 0; i < sh.nslots && i < DT_PE_SLOTS; i++) {
		uint64_t at = (uint64_t)(uintptr_t)slots + i * sizeof(*slots);

		if (dt_pe_read(t, at + offsetof(struct dt_pe_slot, busy), &busy, sizeof(busy)) == sizeof(busy) && busy &&
		    dt_pe_read(t, at + offsetof(struct dt_pe_slot, tid), &tid, sizeof(tid)) == sizeof(tid) && is_thread(t, tid) &&
		    dt_pe_read(t, busy + offsetof(struct dt_pe_frame, token), &token, sizeof(token)) == sizeof(token) &&
		    token == DT_PE_TOKEN)
			return true;
	}
	return false;
}

bool dt_pe_threads_inside(const struct dt_pe_target *t)
{
	dt_pe_contexts all = {0};
	dt_error ignored;
	dt_maps *maps = dt_maps_code(t->pid, &ignored);
	bool inside = !dt_pe_contexts_find(t, &all) || !maps || is_firing(t);

	for (uint32_t i = 0; i < all.n && !inside; i++)
		inside = dt_pe_target_is_inside(t, all.v[i].pc) || will_return(t, maps, &all.v[i]);
	dt_vec_free(&all);
	dt_maps_free(maps);
	return inside;
}
