/*
 * thread: where the thread-local variables of a thread are.
 *
 * All variables of a session are one object per thread. It is in task storage, which the kernel
 * finds in a few nanoseconds and frees with the thread. But the kernel does not create an object
 * while it is already inside task storage on this CPU, for any program of any tracer. A firing gets
 * there when it interrupts another one: a clock event, or a probe at a lock that creating an object
 * waits for. Before Linux 6.2 the object is not even found in that case.
 *
 * So there is a second place, which never refuses: a table without locks. An entry belongs to the
 * thread whose address is in its first word, written by compare-and-exchange; there are a few
 * candidate entries for each thread. A thread that has one keeps its variables there until it
 * exits, whatever is in task storage. control->aside counts the threads with an entry, so while
 * there are none the table costs nothing:
 *
 *	if (control->aside && (p = entry(task))) goto have
 *	p = task_storage_get(task, make ? CREATE : 0)
 *	if (make && !p) p = make_entry(task)
 *	if (make && p && control->aside) look again: a firing that came in between has made one
 *
 * Where task storage cannot be relied on at all (before Linux 6.2) there is only the table, and it is larger.
 */
#include "bpf/translate/translate.h"

#define PLACES 8 /* where the entry of a thread can be, from its first place on */
#define GOLDEN 0x9e3779b97f4a7c15ull

enum { KEY = -4, NUMBER_AT = -48 }; /* on the stack; the latter of the caller */

/* ---- the table ---- */

/* r9 = first place of the thread in r7 */
static void first_place(dt_tr *t)
{
	dt_code *c = t->c;

	mov(c, R9, R7);
	movq(c, R1, GOLDEN);
	alu(c, BPF_MUL, R9, R1);
	alui(c, BPF_RSH, R9, 64 - (int32_t)t->at->aside_bits);
}

/* r0 = entry at place r9 + i, whose number is *(u32 *)key then; goto next: there is none */
static void place(dt_tr *t, int32_t i, uint32_t next)
{
	dt_code *c = t->c;

	mov(c, R1, R9);
	alui(c, BPF_ADD, R1, i);
	alui(c, BPF_AND, R1, (1 << t->at->aside_bits) - 1);
	dt_tr_entry(t, t->maps->aside, R1, KEY, next);
}

/* r0 = the entry of the thread in r7, and goto found, if there is one */
static void find(dt_tr *t, uint32_t found)
{
	dt_code *c = t->c;

	first_place(t);
	for (int32_t i = 0; i < PLACES; i++) {
		uint32_t next = dt_code_label(c);

		place(t, i, next);
		ld(c, 8, R1, R0, 0);
		jmp(c, BPF_JEQ, R1, R7, found);
		dt_code_place(c, next);
	}
}

static void add_aside(dt_tr *t, int32_t n)
{
	dt_code *c = t->c;

	map_value(c, R1, t->maps->control, CTL_ASIDE);
	movi(c, R2, n);
	atomic(c, BPF_ADD, R1, 0, R2);
}

/* Make one; its number is at key then. Entries are counted before they are made, so a count of 0
 * can be relied on. */
static void claim(dt_tr *t, uint32_t found)
{
	dt_code *c = t->c;
	uint32_t other = dt_code_label(c), full = dt_code_label(c);

	add_aside(t, 1);
	for (int32_t i = 0; i < PLACES; i++) {
		uint32_t next = dt_code_label(c);

		place(t, i, next);
		mov(c, R2, R0);
		movi(c, R0, 0);
		atomic(c, BPF_CMPXCHG, R2, 0, R7);
		jmpi(c, BPF_JEQ, R0, 0, found);
		jmp(c, BPF_JEQ, R0, R7, other); /* by a firing that came in between */
		dt_code_place(c, next);
	}
	sti(c, 4, R10, KEY, -1);
	ja(c, full);
	dt_code_place(c, other);
	dt_code_place(c, full);
	add_aside(t, -1);
}

/* aside(slot, task, make): the number of its entry, plus 1; 0: none */
static void aside_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t found = dt_code_label(c), none = dt_code_label(c);

	dt_code_func_begin_global(c, t->func.aside, 3);
	mov(c, R7, R2);
	mov(c, R8, R3);
	find(t, found);
	jmpi(c, BPF_JEQ, R8, 0, none);
	claim(t, found);
	dt_code_place(c, found);
	ld(c, 4, R0, R10, KEY);
	alui(c, BPF_ADD, R0, 1);
	mov32(c, R0, R0);
	leave(c);
	dt_code_place(c, none);
	movi(c, R0, 0);
	leave(c);
}

void dt_thread_functions(dt_tr *t)
{
	if (t->func.aside)
		aside_function(t);
}

/* ---- the object of a thread ---- */

/* r0 = the object in the table, goto done; goto none: there is no entry. The address of the thread comes first as a number. */
static void entry(dt_tr *t, bool make, uint32_t none, uint32_t done)
{
	dt_code *c = t->c;

	if (!t->func.aside)
		t->func.aside = dt_code_func_new(c, "aside");
	dt_tr_task(t, false);
	mov(c, R2, R0);
	mov(c, R1, R6);
	movi(c, R3, make);
	dt_code_call(c, t->func.aside);
	jmpi(c, BPF_JEQ, R0, 0, none);
	alui(c, BPF_SUB, R0, 1);
	st(c, 4, R10, NUMBER_AT, R0);
	map(c, R1, t->maps->aside);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, NUMBER_AT);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, done);
	alui(c, BPF_ADD, R0, ASIDE_OWNER);
	ja(c, done);
}

static void storage(dt_tr *t, bool make)
{
	dt_code *c = t->c;

	dt_tr_task(t, true);
	mov(c, R2, R0);
	map(c, R1, t->maps->threads);
	movi(c, R3, 0);
	movi(c, R4, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	helper(c, BPF_FUNC_task_storage_get);
}

static void if_none_aside(dt_tr *t, uint32_t label)
{
	map_value(t->c, R1, t->maps->control, CTL_ASIDE);
	ld(t->c, 8, R1, R1, 0);
	jmpi(t->c, BPF_JEQ, R1, 0, label);
}

/* The firing that has just made the object in task storage may have been interrupted by one that has made an entry. */
static void look_again(dt_tr *t, uint32_t done)
{
	uint32_t none = dt_code_label(t->c);

	if_none_aside(t, done);
	entry(t, false, none, done);
	dt_code_place(t->c, none);
	storage(t, false);
	ja(t->c, done);
}

void dt_thread_value(dt_tr *t, bool make)
{
	dt_code *c = t->c;
	uint32_t usual = dt_code_label(c), none = dt_code_label(c), done = dt_code_label(c);

	dt_tr_needs(t, task_storage);
	if (!dt_layout_has_storage(t->at, t->plan)) {
		entry(t, make, none, done);
	} else {
		if_none_aside(t, usual);
		entry(t, false, usual, done);
		dt_code_place(c, usual);
		storage(t, make);
	}
	if (dt_layout_has_storage(t->at, t->plan) && make) {
		uint32_t refused = dt_code_label(c);

		jmpi(c, BPF_JEQ, R0, 0, refused);
		look_again(t, done);
		dt_code_place(c, refused);
		entry(t, true, none, done);
	}
	if (!dt_layout_has_storage(t->at, t->plan) || make) {
		dt_code_place(c, none);
		movi(c, R0, 0);
	}
	dt_code_place(c, done);
}

/* ---- the program at sched_process_free ---- */

#define STORES 512 /* above this many, one copy is better */

/* The variables in the entry at r8 become 0. The helper is not available in lockdown
 * (confidentiality). */
static void zero_entry(dt_tr *t)
{
	uint32_t size = t->at->vars[DT_SCOPE_THREAD].size;
	dt_code *c = t->c;

	if (size <= STORES * 8) {
		for (uint32_t i = 0; i < size; i += 8)
			sti(c, 8, R8, (int)(ASIDE_OWNER + i), 0);
		return;
	}
	mov(c, R1, R8);
	alui(c, BPF_ADD, R1, ASIDE_OWNER);
	movi(c, R2, (int32_t)size);
	map_value(c, R3, t->maps->rodata, t->at->zeros);
	helper(c, BPF_FUNC_probe_read_kernel);
}

/*
 * At sched_process_free the entry of a thread that has exited is freed, and zeroed for the next one. Its address can belong to another
 * thread soon, so the same is done at task_newtask: there are kernels that do not run programs while certain processes have
 * the CPU (that of some virtual machines protects process 1 in this way), so that the end of a thread may not be seen.
 */
int dt_thread_free_code(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t found = dt_code_label(c), out = dt_code_label(c);

	dt_code_func_begin(c, dt_code_func_new(c, "aside"));
	ld(c, 8, R7, R1, 0);
	map_value(c, R1, t->maps->control, CTL_ASIDE);
	ld(c, 8, R1, R1, 0);
	jmpi(c, BPF_JEQ, R1, 0, out);
	find(t, found);
	ja(c, out);
	dt_code_place(c, found);
	mov(c, R8, R0);
	zero_entry(t);
	movi(c, R1, 0);
	atomic(c, BPF_XCHG, R8, 0, R1);
	add_aside(t, -1);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
	return 0;
}
