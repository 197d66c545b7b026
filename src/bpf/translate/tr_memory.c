/*
 * tr_memory: scratch, and writing through addresses.
 *
 * In DIF an address is a number. The probe_read helpers read through a number; writing needs a
 * pointer that the verifier trusts. So for each region a program may write (the scratch of the
 * slot, objects among clause-locals, globals, thread-locals, array elements) the number is turned
 * into an offset from the region's start, compared with its size, and added to a real pointer.
 *
 * The verifier knows a variable offset and a variable size only by their maximum, and requires the
 * sum of both to be inside the region. The emitted comparison is exact; to satisfy the verifier,
 * each region is followed by unused space of the same size.
 *
 * This file emits functions, once per program: store_1 .. store_8, copy, count. Where thread-local
 * variables are those of a thread that the event names (dt_attach.task_arg) they get its context as
 * a last argument.
 */
#include "bpf/translate/translate.h"

enum { DONE = 0, BAD_TARGET = 1, BAD_ALIGN = 2, BAD_SOURCE = 3 };

/* ---- scratch ---- */

/*
 *	r0 = align(slot->used, 8); if (r0 > SIZE || r1 > SIZE - r0) NOSCRATCH; slot->used = r0 + r1
 */
void dt_tr_alloc(dt_tr *t, bool zero)
{
	uint32_t size = t->at->scratch_size, no = dt_tr_fault_label(t, DT_FLT_NOSCRATCH);
	dt_code *c = t->c;

	dt_tr_needs(t, scratch);
	dt_tr_reads(t, used);
	ld(c, 8, R0, R6, S_USED);
	alui(c, BPF_ADD, R0, 7);
	alui(c, BPF_AND, R0, -8);
	jmpi(c, BPF_JGT, R0, (int32_t)size, no);
	movi(c, R2, (int32_t)size);
	alu(c, BPF_SUB, R2, R0);
	jmp(c, BPF_JGT, R1, R2, no);
	jmpi(c, BPF_JGT, R1, (int32_t)size,
	     no); /* the same condition, in a form that the verifier understands */
	mov(c, R2, R0);
	alu(c, BPF_ADD, R2, R1);
	st(c, 8, R6, S_USED, R2);
	if (!zero)
		return;
	mov(c, R8, R0);
	mov(c, R2, R1);
	dt_slot_lea(c, R1, t->at->scratch);
	alu(c, BPF_ADD, R1, R8);
	map_value(c, R3, t->maps->rodata, t->at->zeros);
	helper(c, BPF_FUNC_probe_read_kernel);
	mov(c, R0, R8);
}

void dt_tr_alloc_const(dt_tr *t, uint64_t n, bool zero)
{
	movq(t->c, R1, n);
	dt_tr_alloc(t, zero);
}

/* ---- counting losses ---- */

void dt_tr_count(dt_tr *t, uint32_t counter)
{
	if (!t->func.count)
		t->func.count = dt_code_func_new(t->c, "count");
	mov(t->c, R1, R6);
	movi(t->c, R2, (int32_t)counter);
	dt_code_call(t->c, t->func.count);
}

/* count(slot, counter): atomically add 1 to a counter of the CPU */
static void count_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t out = dt_code_label(c);

	dt_code_func_begin_global(c, t->func.count, 2);
	mov(c, R6, R2);
	ld(c, 4, R2, R1, S_CPU);
	dt_tr_row(t, t->maps->cpus, R2, t->plan->ncpus, CPU_SIZE, out);
	jmpi(c, BPF_JGT, R6, CPU_SIZE - 8, out);
	alui(c, BPF_AND, R6, -8); /* always true, but the verifier must know */
	alu(c, BPF_ADD, R0, R6);
	movi(c, R1, 1);
	atomic(c, BPF_ADD, R0, 0, R1);
	dt_code_place(c, out);
	movi(c, R0, 0);
	leave(c);
}

/* ---- regions ---- */

enum region { REGION_SCRATCH, REGION_LOCALS, REGION_GLOBALS, REGION_THREADS, NREGIONS };

static uint32_t refs_size(const struct dt_scope_place *s)
{
	return s->size - s->refs;
}

static uint32_t region_size(const dt_tr *t, enum region r)
{
	switch (r) {
	case REGION_SCRATCH: return t->at->scratch_size;
	case REGION_LOCALS: return t->at->local_refs_size;
	case REGION_GLOBALS: return refs_size(&t->at->vars[DT_SCOPE_GLOBAL]);
	case REGION_THREADS: return refs_size(&t->at->vars[DT_SCOPE_THREAD]);
	case NREGIONS: break;
	}
	return 0;
}

enum {
	CONTEXT_AT = -56
}; /* in the frame of store and copy; does not overlap what dt_tr_read() and thread.c keep there */

/* Only a static function, which the kernel verifies with each caller, can take the context. */
static void begin(dt_tr *t, uint32_t func, uint32_t nargs)
{
	if (!t->task_arg) {
		dt_code_func_begin_global(t->c, func, nargs);
		return;
	}
	dt_code_func_begin(t->c, func);
	st(t->c, 8, R10, CONTEXT_AT, R5);
}

static void call(dt_tr *t, uint32_t func)
{
	if (t->task_arg)
		mov(t->c, R5, R7);
	dt_code_call(t->c, func);
}

/* The object of the thread, to r0. The address that is wanted is in S_VALUE as well as in r7. */
static void thread_object(dt_tr *t)
{
	if (t->task_arg)
		ld(t->c, 8, R7, R10, CONTEXT_AT);
	dt_thread_value(t, false);
	if (t->task_arg)
		ld(t->c, 8, R7, R6, S_VALUE);
}

/* r9 = pointer to the region's start; `next` when the thread has none */
static void region_base(dt_tr *t, enum region r, uint32_t next)
{
	switch (r) {
	case REGION_SCRATCH: dt_slot_lea(t->c, R9, t->at->scratch); break;
	case REGION_LOCALS: dt_slot_lea(t->c, R9, t->at->local_refs); break;
	case REGION_GLOBALS:
		map_value(t->c, R9, t->maps->globals, t->at->vars[DT_SCOPE_GLOBAL].refs);
		break;
	case REGION_THREADS:
		thread_object(t);
		jmpi(t->c, BPF_JEQ, R0, 0, next);
		mov(t->c, R9, R0);
		alui(t->c, BPF_ADD, R9, (int32_t)t->at->vars[DT_SCOPE_THREAD].refs);
		break;
	case NREGIONS: break;
	}
}

/*
 * r7 is the address, r8 the number of bytes. If they are in the region, r9 points there and control
 * continues; if they begin elsewhere, to `next`; if they begin inside and extend past the end, to
 * `bad`.
 */
static void region_find(dt_tr *t, enum region r, uint32_t next, uint32_t bad)
{
	uint32_t size = region_size(t, r);
	dt_code *c = t->c;

	region_base(t, r, next);
	st(c, 8, R6, S_SELF, R9);
	ld(c, 8, R1, R6, S_SELF);
	mov(c, R0, R7);
	alu(c, BPF_SUB, R0, R1);
	if (r == REGION_SCRATCH) {
		dt_tr_reads(t, used);
		ld(c, 8, R2, R6, S_USED);
	} else {
		movi(c, R2, (int32_t)size);
	}
	jmp(c, BPF_JGE, R0, R2, next);
	alu(c, BPF_SUB, R2, R0);
	jmp(c, BPF_JLT, R2, R8, bad);
	jmpi(c, BPF_JGT, R0, (int32_t)size, bad); /* for the verifier, as is the next */
	jmpi(c, BPF_JGT, R8, (int32_t)size, bad);
	alu(c, BPF_ADD, R9, R0);
}

/* The same for the element of an array that was read last; the arrays are tried by their tags. */
static void element_find(dt_tr *t, int scope, uint32_t id, const struct dt_tr_var *x, uint32_t next,
			 uint32_t bad)
{
	uint32_t size = (uint32_t)dt_align_up(x->v->size, 8);
	dt_code *c = t->c;

	ld(c, 4, R1, R6, S_ARRAY);
	jmpi(c, BPF_JNE, R1, (int32_t)dt_tr_array_tag(scope, id), next);
	dt_tr_element(t, x, t->at->last_key);
	jmpi(c, BPF_JEQ, R0, 0, next);
	mov(c, R9, R0);
	alui(c, BPF_ADD, R9, 8);
	st(c, 8, R6, S_SELF, R9);
	ld(c, 8, R1, R6, S_SELF);
	mov(c, R0, R7);
	alu(c, BPF_SUB, R0, R1);
	jmpi(c, BPF_JGE, R0, (int32_t)size, next);
	movi(c, R2, (int32_t)size);
	alu(c, BPF_SUB, R2, R0);
	jmp(c, BPF_JLT, R2, R8, bad);
	jmpi(c, BPF_JGT, R8, (int32_t)size, bad);
	alu(c, BPF_ADD, R9, R0);
}

/* Array number i of the scope, if its elements are objects that can be written to. */
static bool element_array(const dt_tr *t, int scope, uint32_t i, struct dt_tr_var *x)
{
	*x = dt_tr_var_find(t, scope, i + DT_VAR_USER_MIN);
	return x->v && t->need->is.element && x->array && x->v->byref && !x->v->string &&
	       x->fd >= 0;
}

static void leave_with(dt_code *c, int result)
{
	movi(c, R0, result);
	leave(c);
}

/*
 * A store or a copy. `use` emits what is done with the target, which r9 points to, and leaves the
 * function; r7 is its address, r8 the number of bytes.
 */
struct target {
	void (*use)(dt_tr *t, const struct target *a);
	uint32_t size;		     /* of a store; 0: r8 is set already */
	int read;		     /* of a copy: the helper */
	uint32_t bad, align, source; /* labels */
};

/* Try every place that may be written: the regions, then the elements of arrays. */
static void each_target(dt_tr *t, const struct target *a)
{
	dt_code *c = t->c;

	for (int r = 0; r < NREGIONS; r++) {
		uint32_t next = dt_code_label(c);

		if (region_size(t, (enum region)r) < (a->size ? a->size : 1))
			continue;
		if (a->size)
			movi(c, R8, (int32_t)a->size);
		region_find(t, (enum region)r, next, a->bad);
		a->use(t, a);
		dt_code_place(c, next);
	}
	for (int scope = DT_SCOPE_GLOBAL; scope <= DT_SCOPE_THREAD; scope++)
		for (uint32_t i = 0; i < t->plan->vars[scope].n; i++) {
			struct dt_tr_var x;
			uint32_t next;

			if (!element_array(t, scope, i, &x))
				continue;
			next = dt_code_label(c);
			if (a->size)
				movi(c, R8, (int32_t)a->size);
			element_find(t, scope, i + DT_VAR_USER_MIN, &x, next, a->bad);
			a->use(t, a);
			dt_code_place(c, next);
		}
	dt_code_place(c, a->bad);
	leave_with(c, BAD_TARGET);
}

static void store_to(dt_tr *t, const struct target *a)
{
	if (a->size > 1)
		jmpi(t->c, BPF_JSET, R7, (int32_t)a->size - 1, a->align);
	ld(t->c, 8, R1, R6, S_TMP);
	st(t->c, a->size, R9, 0, R1);
	leave_with(t->c, DONE);
}

/* store_N(slot, address, value) */
static void store_function(dt_tr *t, uint32_t func, uint32_t size)
{
	dt_code *c = t->c;
	struct target a = {
	    .use = store_to, .size = size, .bad = dt_code_label(c), .align = dt_code_label(c)};

	begin(t, func, 3);
	mov(c, R6, R1);
	mov(c, R7, R2);
	st(c, 8, R6, S_TMP, R3);
	each_target(t, &a);
	if (size > 1) {
		dt_code_place(c, a.align);
		leave_with(c, BAD_ALIGN);
	}
}

/* ---- reading ---- */

/* In the frame of the function: the arguments of a read, while it is tried again. */
enum { AGAIN_TO = -16, AGAIN_SIZE = -24, AGAIN_FROM = -32, AGAIN_BYTE = -40 };

/* Bring in the page of the user address in r3. */
static void touch(dt_code *c)
{
	mov(c, R1, R10);
	alui(c, BPF_ADD, R1, AGAIN_BYTE);
	movi(c, R2, 1);
	helper(c, BPF_FUNC_copy_from_user);
}

/* Have the pages brought in (of a string: of its first byte and of the last that there may be). */
static void wait_and_read(dt_tr *t, int read)
{
	dt_code *c = t->c;

	if (t->learn)
		t->learn->waiting = true;
	c->sleeps = true;
	if (read == BPF_FUNC_probe_read_user_str) {
		ld(c, 8, R3, R10, AGAIN_FROM);
		touch(c);
		ld(c, 8, R3, R10, AGAIN_FROM);
		ld(c, 8, R1, R10, AGAIN_SIZE);
		alu(c, BPF_ADD, R3, R1);
		alui(c, BPF_SUB, R3, 1);
		touch(c);
	} else {
		read = BPF_FUNC_copy_from_user;
	}
	ld(c, 8, R1, R10, AGAIN_TO);
	ld(c, 8, R2, R10, AGAIN_SIZE);
	ld(c, 8, R3, R10, AGAIN_FROM);
	helper(c, read);
}

/* Have them found where the kernel keeps them; `done` with r0 < 0 when they are not there. */
static void find_and_read(dt_tr *t, bool string, uint32_t done)
{
	dt_code *c = t->c;

	ld(c, 8, R2, R10, AGAIN_FROM);
	ld(c, 8, R3, R10, AGAIN_SIZE);
	dt_tr_absent(t, string);
	mov(c, R3, R0);
	movi(c, R0, -1);
	jmpi(c, BPF_JEQ, R3, 0, done);
	ld(c, 8, R1, R10, AGAIN_TO);
	ld(c, 8, R2, R10, AGAIN_SIZE);
	helper(c, string ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel);
}

/*
 * Helpers that read never wait for a page: memory that a program has not touched yet, or that was
 * swapped out, cannot be read. A program at a probe in a process may wait; others can search for
 * the page themselves (absent.c). Both happen only after the first attempt has failed.
 */
void dt_tr_read(dt_tr *t, int read)
{
	bool string = read == BPF_FUNC_probe_read_user_str,
	     user = string || read == BPF_FUNC_probe_read_user;
	bool waits = dt_kind_of(t->prog_kind)->waits;
	dt_code *c = t->c;
	uint32_t done;

	if (!user || !(waits || dt_tr_absent_can(t))) {
		helper(c, read);
		return;
	}
	done = dt_code_label(c);
	st(c, 8, R10, AGAIN_TO, R1);
	st(c, 8, R10, AGAIN_SIZE, R2);
	st(c, 8, R10, AGAIN_FROM, R3);
	helper(c, read);
	jmpi(c, BPF_JSGE, R0, 0, done);
	if (waits)
		wait_and_read(t, read);
	else
		find_and_read(t, string, done);
	dt_code_place(c, done);
}

static void copy_to(dt_tr *t, const struct target *a)
{
	mov(t->c, R1, R9);
	mov(t->c, R2, R8);
	ld(t->c, 8, R3, R6, S_TMP);
	dt_tr_read(t, a->read);
	jmpi(t->c, BPF_JNE, R0, 0, a->source);
	leave_with(t->c, DONE);
}

/* copy(slot, from, size, to), from kernel or from user memory */
static void copy_function(dt_tr *t, uint32_t func, int read)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);
	struct target a = {
	    .use = copy_to, .read = read, .bad = dt_code_label(c), .source = dt_code_label(c)};

	begin(t, func, 4);
	mov(c, R6, R1);
	st(c, 8, R6, S_TMP, R2);
	mov(c, R8, R3);
	mov(c, R7, R4);
	jmpi(c, BPF_JEQ, R8, 0, done);
	each_target(t, &a);
	dt_code_place(c, a.source);
	leave_with(c, BAD_SOURCE);
	dt_code_place(c, done);
	leave_with(c, DONE);
}

/* ---- calls of them ---- */

/* After store or copy: r0 is the result; the target address is in S_VALUE, the source in S_TMP.
 */
static void check_result(dt_tr *t, bool copy)
{
	dt_code *c = t->c;
	uint32_t ok = dt_code_label(c);

	jmpi(c, BPF_JEQ, R0, DONE, ok);
	ld(c, 8, R1, R6, S_VALUE);
	st(c, 8, R6, S_FVALUE, R1);
	if (copy) {
		jmpi(c, BPF_JNE, R0, BAD_SOURCE, dt_tr_fault_label(t, DT_FLT_BADADDR));
		ld(c, 8, R1, R6, S_TMP);
		st(c, 8, R6, S_FVALUE, R1);
	} else {
		jmpi(c, BPF_JEQ, R0, BAD_ALIGN, dt_tr_fault_label(t, DT_FLT_BADALIGN));
	}
	ja(c, dt_tr_fault_label(t, DT_FLT_BADADDR));
	dt_code_place(c, ok);
}

void dt_tr_store(dt_tr *t, uint32_t size, uint32_t value_reg, uint32_t addr_reg)
{
	uint32_t *func = &t->func.store[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];

	if (!*func)
		*func = dt_code_func_new(t->c, "store");
	dt_tr_here(t);
	mov(t->c, R1, R6);
	dt_tr_get(t, R2, addr_reg);
	dt_tr_get(t, R3, value_reg);
	st(t->c, 8, R6, S_VALUE, R2);
	call(t, *func);
	check_result(t, false);
}

/* r2 = from, r3 = size, r4 = to */
static void call_copy(dt_tr *t, bool user)
{
	uint32_t *func = &t->func.copy[user];

	if (!*func)
		*func = dt_code_func_new(t->c, user ? "copy_user" : "copy");
	if (user && !dt_kind_of(t->prog_kind)->waits)
		dt_tr_absent_can(
		    t); /* functions that it calls must be requested before it is emitted */
	mov(t->c, R1, R6);
	st(t->c, 8, R6, S_VALUE, R4);
	call(t, *func);
	check_result(t, true);
}

void dt_tr_copy(dt_tr *t, uint32_t from_reg, uint32_t size_reg, uint32_t to_reg)
{
	dt_tr_here(t);
	dt_tr_get(t, R2, from_reg);
	dt_tr_get(t, R3, size_reg);
	dt_tr_get(t, R4, to_reg);
	call_copy(t, false);
}

void dt_tr_copy_tuple(dt_tr *t, uint32_t from, uint32_t size, uint32_t to, bool user)
{
	dt_tr_here(t);
	ld(t->c, 8, R2, R6, S_TUPLE + (int)from * 8);
	st(t->c, 8, R6, S_FVALUE, R2);
	if (user)
		dt_tr_user_memory(t);
	ld(t->c, 8, R3, R6, S_TUPLE + (int)size * 8);
	ld(t->c, 8, R4, R6, S_TUPLE + (int)to * 8);
	call_copy(t, user);
}

void dt_tr_memory_functions(dt_tr *t)
{
	for (uint32_t i = 0; i < 4; i++)
		if (t->func.store[i])
			store_function(t, t->func.store[i], 1u << i);
	if (t->func.copy[0])
		copy_function(t, t->func.copy[0], BPF_FUNC_probe_read_kernel);
	if (t->func.copy[1])
		copy_function(t, t->func.copy[1], BPF_FUNC_probe_read_user);
	if (t->func.count)
		count_function(t);
}
