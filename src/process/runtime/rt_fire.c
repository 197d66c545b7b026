/*
 * rt_fire: a thread has reached a probe.
 *
 * Each thread has a slot of its own: a machine, a buffer, aggregations. A signal handler that reaches a probe while its
 * thread is in one finds the slot busy: that firing is lost and counted, as is one of a thread that was created without a
 * thread pointer of its own and fires together with its creator.
 *
 * A handler may leave a firing for ever (siglongjmp). The firing had put a token on the stack, before it took the slot; when
 * that has been overwritten, or another firing has a frame at the same place, the slot is free again. A handler may come between
 * any two instructions of this: it finds a free slot, or one whose owner has its token.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "process/runtime/runtime.h"

#define SEARCH	   8	    /* slots that may be a thread's */
#define GATE_NS	   20000000 /* a turn at a gate ... */
#define GATE_TURNS 50	    /* ... and how many, a second */

void dt_rt_wake(void)
{
	struct dt_pe_shared *sh = dt_rt_anchor.shared;

	__atomic_add_fetch(&sh->wake, 1, __ATOMIC_SEQ_CST);
	dt_rt_syscall(SYS_futex, (long)&sh->wake, FUTEX_WAKE, 1, 0, 0, 0);
}

static uint32_t thread_id(void)
{
	if (dt_rt_anchor.tid_at)
		return dt_rt_thread_word((int32_t)dt_rt_anchor.tid_at);
	return (uint32_t)dt_rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* The lock of associative arrays: dynvar.c. */
static void give_back(dt_vm *vm)
{
	uint32_t mine = vm->number + 1;

	if (vm->dyn.state)
		__atomic_compare_exchange_n(&vm->dyn.state->lock, &mine, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (vm->own.state)
		vm->own.state->lock = 0;
}

/* A thread that has ended leaves its slot to the next one, with its records and aggregations; its variables are gone. */
static bool take_slot(struct dt_pe_slot *s, uint32_t tid)
{
	uint32_t owner = __atomic_load_n(&s->tid, __ATOMIC_SEQ_CST);
	long pid = dt_rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	if (owner == DT_PE_TAKEN || dt_rt_syscall(SYS_tgkill, pid, (long)owner, 0, 0, 0, 0) != -ESRCH ||
	    !__atomic_compare_exchange_n(&s->tid, &owner, DT_PE_TAKEN, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	dt_rt_spec_left(s);
	give_back(&s->e.vm);
	s->own_state = (dt_vm_dynstate){0};
	if (s->e.vm.own.nchunks)
		memset(s->e.vm.own.buckets, 0, s->e.vm.own.nbuckets * sizeof(uint32_t));
	memset(s->e.vm.own.direct, 0, s->e.vm.threads.n * sizeof(uint64_t));
	s->call_at = 0;
	s->stack_start = s->stack_end = s->stack_bad = 0;
	__atomic_store_n(&s->busy, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->tid, tid, __ATOMIC_SEQ_CST);
	return true;
}

static __attribute__((noinline)) struct dt_pe_slot *search_slot(struct dt_pe_shared *sh, uint32_t tid)
{
	uint32_t mask = sh->nslots - 1;

	for (uint32_t i = 0; i < SEARCH; i++) {
		struct dt_pe_slot *s = &sh->slots[(tid + i) & mask];

		if (__atomic_load_n(&s->tid, __ATOMIC_RELAXED) == tid)
			return s;
	}
	for (uint32_t i = 0; i < SEARCH; i++) {
		struct dt_pe_slot *s = &sh->slots[(tid + i) & mask];
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&s->tid, &none, tid, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return s;
	}
	for (uint32_t i = 0; i < SEARCH; i++)
		if (take_slot(&sh->slots[(tid + i) & mask], tid))
			return &sh->slots[(tid + i) & mask];
	__atomic_add_fetch(&sh->no_slot, 1, __ATOMIC_RELAXED);
	return NULL;
}

static struct dt_pe_slot *find_slot(struct dt_pe_shared *sh, uint32_t tid)
{
	struct dt_pe_slot *s = &sh->slots[tid & (sh->nslots - 1)];

	return __builtin_expect(__atomic_load_n(&s->tid, __ATOMIC_RELAXED) == tid, 1) ? s : search_slot(sh, tid);
}

/* Where it was put may have been unmapped since then. */
static __attribute__((noinline)) bool was_left(uint64_t owner)
{
	uint64_t token = 0;
	struct {
		void *p;
		size_t n;
	} to = {&token, sizeof(token)}, from = {(void *)(uintptr_t)(owner + offsetof(struct dt_pe_frame, token)), sizeof(token)};
	long pid = dt_rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	return dt_rt_syscall(SYS_process_vm_readv, pid, (long)&to, 1, (long)&from, 1, 0) != sizeof(token) || token != DT_PE_TOKEN;
}

/* The slot was taken by a firing that is interrupted, or was left. */
static __attribute__((noinline)) bool take_over(struct dt_pe_slot *s, struct dt_pe_frame *frame, uint64_t owner)
{
	if (owner != (uint64_t)(uintptr_t)frame && !was_left(owner)) {
		__atomic_store_n(&s->busy, owner, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&s->nested, 1, __ATOMIC_RELAXED);
		frame->token = 0;
		return false;
	}
	dt_rt_spec_left(s);
	give_back(&s->e.vm);
	return true;
}

static bool enter(struct dt_pe_slot *s, struct dt_pe_frame *frame)
{
	uint64_t owner;

	frame->token = DT_PE_TOKEN;
	owner = __atomic_exchange_n(&s->busy, (uint64_t)(uintptr_t)frame, __ATOMIC_SEQ_CST);
	return __builtin_expect(!owner, 1) || take_over(s, frame, owner);
}

static void leave(struct dt_pe_slot *s, struct dt_pe_frame *frame)
{
	frame->token = 0;
	s->done++;
	__atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
}

/* ---- the clauses ---- */

static __attribute__((noinline)) void native_fault(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t action)
{
	dt_vm_firing *f = e->vm.fire;

	f->probe = x->ecb->probe;
	f->epid = x->ecb->epid;
	e->vm.fault.epid = f->epid;
	e->vm.fault.action = (uint32_t)action;
	dt_vm_report_fault(e, x);
}

static void run_native(struct dt_pe_slot *s, const struct dt_pe_frame *frame, const struct dt_vm_ecb *x, uint64_t code)
{
	uint64_t result = ((dt_pe_code *)(uintptr_t)code)(s, frame, x);

	if (__builtin_expect(result != 0, 0))
		native_fault(&s->e, x, result - 1);
}

/* code: NULL: there is none. */
static void run_all(dt_vm_engine *e, dt_vm_firing *f, const struct dt_vm_ecb *const *ecbs, uint32_t n, const uint64_t *code)
{
	uint32_t source = UINT32_MAX;

	for (uint32_t i = 0; i < n && !e->exiting; i++) {
		const struct dt_vm_ecb *x = ecbs[i];
		enum dt_vm_outcome outcome;

		f->probe = x->ecb->probe;
		f->epid = x->ecb->epid;
		if (code && code[i]) {
			run_native(dt_rt_slot(e), dt_rt_slot(e)->regs, x, code[i]);
			continue;
		}
		if (x->ecb->clause->source != source)
			e->vm.given = 0;
		source = x->ecb->clause->source;
		outcome = dt_vm_do_ecb(e, x);
		dt_rt_spec_leave(dt_rt_slot(e));
		if (outcome == DT_VM_FAULTED)
			dt_vm_report_fault(e, x);
	}
}

static void begin(dt_vm_firing *f, uint32_t cpu)
{
	f->cpu = cpu;
	f->timestamp = f->walltimestamp = 0;
	f->strtok_live = false;
}

void dt_vm_report_fault(dt_vm_engine *e, const struct dt_vm_ecb *x)
{
	const struct dt_pe_shared *sh = dt_rt_anchor.shared;
	dt_vm_firing *outer = e->vm.fire, *f = &e->firing[1];
	const dt_fault fault = e->vm.fault;

	if (x->probe == DT_VM_ERROR) {
		e->dbl_errors++;
		return;
	}
	if (dt_vm_has_room(e, x, DT_FAULT_COST)) {
		dt_vm_rec *r = dt_vm_new_record(e, x, DT_FAULT_COST, 0);

		r->is_fault = true;
		r->fault = fault;
		dt_vm_buf_add(&e->principal, r);
	}
	begin(f, outer->cpu);
	f->timestamp = outer->timestamp; /* records of a thread are in order of time */
	memset(f->args, 0, sizeof(f->args));
	f->args[1] = fault.epid;
	f->args[2] = fault.action;
	f->args[3] = (uint64_t)(int64_t)fault.offset;
	f->args[4] = fault.code;
	f->args[5] = fault.value;
	e->vm.fire = f;
	run_all(e, f, sh->errors, sh->nerrors, NULL);
	e->vm.fire = outer;
}

/* Arguments, and the condition of a probe that has one. False: it does not fire. */
static bool set_args(dt_vm_engine *e, const struct dt_pe_site *site, const struct dt_pe_frame *r, dt_vm_firing *f)
{
	const struct dt_pe_shared *sh = dt_rt_anchor.shared;
	const dt_prologue *p = site->prologue;
	uint64_t computed[DT_ATTACH_ARGS];

	if (site->samples) {
		memset(f->args, 0, sizeof(f->args));
		f->args[1] = site->begins ? 0 : dt_rt_pc(dt_rt_slot(e)); /* arg0 is one of the kernel */
	} else if (site->call == DT_PE_CALL) {
		memset(f->args, 0, sizeof(f->args));
		for (uint32_t i = 0; i < DT_NELEM(sh->call_arg); i++)
			f->args[i] = r->word[sh->call_arg[i] - 1];
	} else if (site->call == DT_PE_CALLED) {
		memset(f->args, 0, sizeof(f->args));
		f->args[0] = f->args[1] = r->word[sh->result - 1];
	} else if (site->is_return) {
		memset(f->args + 2, 0, sizeof(f->args) - 2 * sizeof(f->args[0]));
		f->args[0] = site->number;
		f->args[1] = r->word[sh->result - 1];
	} else {
		for (uint32_t i = 0; i < DT_NELEM(sh->arg); i++)
			f->args[i] = r->word[sh->arg[i] - 1];
	}
	if (!p)
		return true;
	if (p->when && !dt_vm_run(&e->vm, p->when))
		return false;
	if (p->own)
		return true;
	for (uint32_t i = 0; i < DT_ATTACH_ARGS; i++)
		computed[i] = p->arg[i] ? dt_vm_run(&e->vm, p->arg[i]) : 0;
	memcpy(f->args, computed, sizeof(computed));
	return true;
}

/* Some clause has called exit(): is this thread the first? */
static __attribute__((noinline)) void end_tracing(struct dt_pe_shared *sh, dt_vm_engine *e)
{
	uint32_t none = 0;

	e->exiting = false; /* of this thread */
	if (__atomic_compare_exchange_n(&sh->exiting, &none, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		sh->exit_status = e->exit_status;
		__atomic_store_n(&sh->live, 0, __ATOMIC_SEQ_CST);
		dt_rt_wake();
	}
}

/* A new thread comes back from the call that another one has made; a child of vfork() has made others meanwhile. */
static uint64_t number_of_fork(const struct dt_pe_site *site, const struct dt_pe_frame *frame)
{
	switch ((int64_t)frame->word[dt_rt_anchor.shared->result - 1] < 0 ? UINT32_MAX : site->call_number) {
	case SYS_clone:
	case SYS_clone3:
#ifdef SYS_vfork
	case SYS_vfork:
#endif
		return site->call_number;
	default: return UINT64_MAX;
	}
}

/* The system call that begins or ends here; UINT64_MAX: not known, dtrace has come in the middle of it. */
static uint64_t call_number(struct dt_pe_slot *s, const struct dt_pe_site *site, const struct dt_pe_frame *frame)
{
	bool known = s->call_at == site->call_at;

	if (site->call == DT_PE_CALLED) {
		s->call_at = 0;
		return known ? s->call_number : number_of_fork(site, frame);
	}
	s->call_at = site->call_at;
	return s->call_number = (uint32_t)frame->word[dt_rt_anchor.shared->call_number - 1];
}

void dt_rt_begin(struct dt_pe_slot *s)
{
	begin(&s->e.firing[0], dt_rt_cpu());
	dt_vm_scratch_reset(&s->e.vm);
	memset(s->e.firing[0].args, 0, sizeof(s->e.firing[0].args));
}

void dt_rt_run(struct dt_pe_slot *s, const struct dt_pe_list *list)
{
	run_all(&s->e, &s->e.firing[0], list->v, list->n, NULL);
}

static __attribute__((noinline)) void fire_call(struct dt_pe_slot *s, const struct dt_pe_site *site, struct dt_pe_frame *frame)
{
	const struct dt_pe_shared *sh = dt_rt_anchor.shared;
	uint64_t number = call_number(s, site, frame);
	const struct dt_pe_calls *c = number < sh->ncalls ? &sh->calls[number] : NULL;
	bool after = site->call == DT_PE_CALLED;
	dt_vm_engine *e = &s->e;

	if (sh->lives)
		dt_rt_life(s, site, frame, number);
	if (!c || !c->n[after] || e->exiting)
		return;
	begin(&e->firing[0], dt_rt_cpu());
	dt_vm_scratch_reset(&e->vm);
	if (set_args(e, site, frame, &e->firing[0]))
		run_all(e, &e->firing[0], c->ecbs[after], c->n[after], NULL);
}

static __attribute__((noinline)) void fire(struct dt_pe_slot *s, const struct dt_pe_site *site, struct dt_pe_frame *frame)
{
	dt_vm_engine *e = &s->e;
	dt_vm_firing *f = &e->firing[0];

	begin(f, site->shows_cpu ? dt_rt_cpu() : 0);
	dt_vm_scratch_reset(&e->vm);
	if (set_args(e, site, frame, f))
		run_all(e, f, site->ecbs, site->necbs, site->code);
}

/* Machine code that needs nothing of a firing but the time. */
static void fire_lean(struct dt_pe_slot *s, const struct dt_pe_site *site, const struct dt_pe_frame *frame)
{
	s->e.firing[0].timestamp = 0;
	for (uint32_t i = 0; i < site->necbs && !s->e.exiting; i++)
		run_native(s, frame, site->ecbs[i], site->code[i]);
}

/* The dynamic linker has loaded something: its functions are not called before dtrace has seen them. It may not come. */
static __attribute__((noinline)) void wait_at_gate(struct dt_pe_shared *sh)
{
	uint32_t mine = __atomic_add_fetch(&sh->arrived, 1, __ATOMIC_SEQ_CST), now;
	const struct timespec turn = {.tv_nsec = GATE_NS};

	dt_rt_wake();
	for (uint32_t i = 0; i < GATE_TURNS; i++) {
		now = __atomic_load_n(&sh->admitted, __ATOMIC_SEQ_CST);
		if ((int32_t)(now - mine) >= 0 || !__atomic_load_n(&sh->waits, __ATOMIC_SEQ_CST) || !__atomic_load_n(&sh->live, __ATOMIC_SEQ_CST))
			return;
		dt_rt_syscall(SYS_futex, (long)&sh->admitted, FUTEX_WAIT, now, (long)&turn, 0, 0);
	}
	__atomic_store_n(&sh->waits, 0, __ATOMIC_SEQ_CST);
}

static void fire_in_slot(const struct dt_pe_site *site, struct dt_pe_frame *frame, struct dt_pe_shared *sh)
{
	struct dt_pe_slot *s = find_slot(sh, thread_id());

	if (!s || !enter(s, frame))
		return;
	if (__atomic_load_n(&sh->live, __ATOMIC_RELAXED)) { /* dtrace may have read what there is, and freed the rest */
		s->site = site;
		s->regs = frame;
		if (site->lean)
			fire_lean(s, site, frame);
		else if (site->call)
			fire_call(s, site, frame);
		else
			fire(s, site, frame);
		if (__builtin_expect(s->e.exiting, 0))
			end_tracing(sh, &s->e);
	}
	leave(s, frame);
}

void dt_rt_fire(const struct dt_pe_site *site, struct dt_pe_frame *frame)
{
	struct dt_pe_shared *sh = dt_rt_anchor.shared;

	if (!__atomic_load_n(&sh->live, __ATOMIC_RELAXED))
		return;
	if (__builtin_expect(site->gate, 0)) {
		if (site->necbs)
			fire_in_slot(site, frame, sh);
		wait_at_gate(sh);
		return;
	}
	fire_in_slot(site, frame, sh);
}
