/*
 * tr_stack: stacks: of the kernel by its helpers, of user code by our own walker (unwind.c).
 */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "bpf/translate/translate.h"

/* A program sees what called it on the stack: clause (unless that is a part of main), main, and then
 *
 *	at a tracepoint		bpf_trace_runN
 *	at one that may sleep	bpf_trace_runN, __bpf_trace_EVENT (which elsewhere jumps to the former; dt_arch.keeps_frames: never)
 *	called by a function	the trampoline
 *
 * on some CPUs also the helper. All others begin where the CPU was interrupted. If an event has several programs, or where
 * calls are not patched, __traceiter_EVENT calls them, else the function with the event. (Where the event is in the same file
 * as its __traceiter_EVENT, the compiler may have made that a part of the function.) */
#define OWN_FRAMES 3

static const char *only_event(const dt_tr *t) /* NULL: there are several */
{
	const dt_plan *plan = t->plan;
	const char *event = NULL;

	if (dt_kind_is_syscall(t->prog_kind))
		return dt_kind_of(t->prog_kind)->tracepoint;
	for (uint32_t i = 0; i < plan->probes.n; i++) {
		if (!dt_plan_serves(plan, dt_tr_prog(t), i))
			continue;
		if (event && strcmp(event, plan->probes.v[i].at.event) != 0)
			return NULL;
		event = plan->probes.v[i].at.event;
	}
	return event;
}

static uint64_t find_iterator(const dt_tr *t, const char *event)
{
	uint64_t addr = 0;
	char *name;

	if (!event || t->direct)
		return 0;
	name = dt_xasprintf("__traceiter_%s", event);
	dt_ksym_by_name(dt_kfuncs_ksyms(t->plan->kfuncs), NULL, name, &addr);
	free(name);
	return addr;
}

/* The function that calls the programs of an event one after the other; 0: it is not known. While learning, any address
 * will do. */
static uint64_t iterator(dt_tr *t)
{
	if (t->learn)
		return UINT64_MAX;
	if (!t->iterator_known)
		t->iterator = find_iterator(t, only_event(t));
	t->iterator_known = true;
	return t->iterator;
}

/* Are these tracepoints called where the kernel may sleep (Linux 6.13)? */
static bool may_sleep(const dt_tr *t)
{
	return dt_kind_is_syscall(t->prog_kind) && t->plan->types &&
	       dt_type_lookup(t->plan->types, "vmlinux", DT_NS_STRUCT, "tracepoint_ext");
}

static int32_t own_frames(const dt_tr *t)
{
	const dt_arch *a = dt_arch_host();

	return OWN_FRAMES - t->inside + a->helper_frames + (may_sleep(t) || (!t->direct && a->keeps_frames));
}

static bool has_stack(const dt_tr *t)
{
	return !dt_kind_is_tracer(t->kind);
}

/* The stack of another thread: where it left the CPU, in the kernel. */
static void read_task_stack(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R1, R0);
	dt_slot_lea(c, R2, off);
	movi(c, R3, (int32_t)size);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_get_task_stack);
}

#define RETURN_PROBES 4 /* of one function, that had their turn before us */

/*
 * r0 = the return address, which is in a register at the entry of a function. A kretprobe that has had its turn before us has
 * replaced it; the thread has a list of what they replaced, the last one first. The word at slot + off is ours.
 */
static void return_address(dt_tr *t, uint32_t off)
{
	const dt_arch *a = dt_arch_host();
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c), list, link, saved;
	uint64_t trampoline = UINT64_MAX; /* while learning, any address will do */

	ld(c, 8, R0, R7, DT_REG_AT(dt_arch_dwarf(a, a->unwind.ra)));
	if ((t->learn || dt_ksym_by_name(dt_kfuncs_ksyms(t->plan->kfuncs), NULL, "__kretprobe_trampoline", &trampoline)) &&
	    dt_tr_find_field(t->plan, "task_struct", "kretprobe_instances.first", &list) &&
	    dt_tr_find_field(t->plan, "kretprobe_instance", "llist.next", &link) &&
	    dt_tr_find_field(t->plan, "kretprobe_instance", "ret_addr", &saved)) {
		movq(c, R1, trampoline);
		jmp(c, BPF_JNE, R0, R1, done);
		helper(c, BPF_FUNC_get_current_task);
		mov(c, R3, R0);
		alui(c, BPF_ADD, R3, (int32_t)list);
		for (int i = 0; i < RETURN_PROBES; i++) {
			dt_tr_peek(t, 8);
			dt_slot_lea(c, R1, off);
			st(c, 8, R1, 0, R0);
			mov(c, R3, R0);
			alui(c, BPF_ADD, R3, (int32_t)saved - (int32_t)link);
			dt_tr_peek(t, 8);
			movq(c, R1, trampoline);
			jmp(c, BPF_JNE, R0, R1, done);
			dt_slot_lea(c, R3, off);
			ld(c, 8, R3, R3, 0);
		}
	}
	dt_code_place(c, done);
}

/* There the kernel's walk misses the caller, since it follows frame pointers. So its frames go one word further up, and the
 * return address, which is where the first one belongs, between the first two. */
static void add_caller(dt_tr *t, uint32_t off)
{
	dt_code *c = t->c;
	uint32_t failed = dt_code_label(c);

	jmpi(c, BPF_JSLT, R0, 8, failed);
	dt_slot_lea(c, R3, off);
	ld(c, 8, R1, R3, 0);
	ld(c, 8, R2, R3, 8);
	st(c, 8, R3, 0, R2);
	st(c, 8, R3, 8, R1);
	alui(c, BPF_ADD, R0, 8);
	dt_code_place(c, failed);
}

static bool misses_caller(const dt_tr *t, bool user, uint32_t size)
{
	return !user && t->kind == PK_FUNC_ENTRY && dt_tr_has_regs(t) && dt_arch_host()->unwind.ra_at == 0 && size >= 16;
}

static void walk(dt_code *c, uint32_t off, uint32_t size, int32_t flags)
{
	mov(c, R1, R7);
	dt_slot_lea(c, R2, off);
	movi(c, R3, (int32_t)size);
	movi(c, R4, flags);
	helper(c, BPF_FUNC_get_stack);
}

#define ITERATOR_SIZE 256 /* at most; others like it are behind */
#define ITERATORS     32  /* that are compared with, in a program for several events */

/* Once more if the first frame is the function between the event and its programs. */
static void walk_past_ourselves(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);
	uint64_t between = iterator(t);

	walk(c, off, size, own_frames(t));
	if (between) {
		jmpi(c, BPF_JSLT, R0, 8, done);
		dt_slot_lea(c, R1, off);
		ld(c, 8, R1, R1, 0);
		movq(c, R2, between);
		alu(c, BPF_SUB, R1, R2);
		jmpi(c, BPF_JGE, R1, ITERATOR_SIZE, done);
		walk(c, off, size, own_frames(t) + 1);
	}
	dt_code_place(c, done);
}

/* The same in a program for several events, where each has such a function. */
static void walk_past_all(dt_tr *t, uint32_t off, uint32_t size)
{
	const dt_plan *plan = t->plan;
	uint32_t done = dt_code_label(t->c), more = dt_code_label(t->c), n = 0;
	dt_code *c = t->c;

	walk(c, off, size, own_frames(t));
	jmpi(c, BPF_JSLT, R0, 8, done);
	dt_slot_lea(c, R1, off);
	ld(c, 8, R1, R1, 0);
	for (uint32_t i = 0; i < plan->probes.n && n < ITERATORS; i++) {
		uint64_t between = dt_plan_serves(plan, dt_tr_prog(t), i) ? find_iterator(t, plan->probes.v[i].at.event) : 0;

		if (!between)
			continue;
		movq(c, R2, between);
		mov(c, R3, R1);
		alu(c, BPF_SUB, R3, R2);
		jmpi(c, BPF_JLT, R3, ITERATOR_SIZE, more);
		n++;
	}
	ja(c, done);
	dt_code_place(c, more);
	walk(c, off, size, own_frames(t) + 1);
	dt_code_place(c, done);
}

void dt_tr_read_stack(dt_tr *t, bool user, uint32_t off, uint32_t size)
{
	uint32_t room = misses_caller(t, user, size) ? 8 : 0;
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	if (t->task_arg) {
		if (user)
			dt_tr_left_read(t, off, size);
		else
			read_task_stack(t, off, size);
		return;
	}
	if (user && dt_tr_unwind(t, off, size / 8))
		jmpi(c, BPF_JSGE, R0, 0, done);
	if (room) {
		return_address(t, off);
		dt_slot_lea(c, R1, off);
		st(c, 8, R1, 0, R0);
	}
	if (user || dt_tr_has_regs(t))
		walk(c, off + room, size - room, user ? BPF_F_USER_STACK : 0);
	else if (dt_arch_host()->keeps_frames && !t->direct && !only_event(t))
		walk_past_all(t, off, size);
	else
		walk_past_ourselves(t, off, size);
	if (room)
		add_caller(t, off);
	dt_code_place(c, done);
}

#define KERNEL_DEPTH 127   /* what the area in the slot holds */
#define USER_DEPTH   16384 /* our walker counts without storing, 44 ns a frame */

/* r0 = bytes of the stack that is now in the slot's stack area, or 0 */
static void read_stack(dt_tr *t, bool user, uint32_t frames)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c);

	dt_tr_needs(t, stack);
	dt_tr_read_stack(t, user, t->at->stack, frames * 8);
	jmpi(c, BPF_JSGE, R0, 0, ok);
	movi(c, R0, 0);
	dt_code_place(c, ok);
}

static uint32_t depth_limit(const dt_tr *t, uint32_t most)
{
	uint64_t limit = dt_opt(t->plan->opts, DT_O_MAXFRAMES);

	return limit && limit < most ? (uint32_t)limit : most;
}

/* A user stack is as deep as ustack() can walk it. */
void dt_tr_stack_depth(dt_tr *t, bool user)
{
	dt_code *c = t->c;
	uint32_t counted = dt_code_label(c);

	if (!has_stack(t)) {
		movi(c, R0, 0);
		return;
	}
	if (user && !t->task_arg && dt_tr_unwind(t, 0, depth_limit(t, USER_DEPTH)))
		jmpi(c, BPF_JSGE, R0, 0, counted);
	read_stack(t, user, depth_limit(t, KERNEL_DEPTH));
	dt_code_place(c, counted);
	alui(c, BPF_RSH, R0, 3);
}

void dt_tr_caller(dt_tr *t, bool user)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), done = dt_code_label(c);

	if (!has_stack(t)) {
		movi(c, R0, 0);
		return;
	}
	read_stack(t, user, 2);
	jmpi(c, BPF_JLT, R0, 16, none);
	dt_slot_lea(c, R1, t->at->stack);
	ld(c, 8, R0, R1, 8);
	ja(c, done);
	dt_code_place(c, none);
	movi(c, R0, 0);
	dt_code_place(c, done);
}
