/*
 * call: the call instruction. One row per subroutine: a text of lib.c, or a function here.
 *
 * Arguments are the tuple values in the slot. A row of lib.c may have defaults for omitted
 * arguments, and a bound: the maximum length of its result.
 */
#include "bpf/translate/translate.h"

static void tuple(dt_tr *t, int to, uint32_t i)
{
	if (i < t->now.ntuple)
		ld(t->c, 8, to, R6, S_TUPLE + (int)i * 8);
	else
		movi(t->c, to, 0);
}

static void set_number(dt_tr *t, uint32_t rd)
{
	dt_tr_set(t, rd, R0, NUMBER);
}

/* rd = address of byte r0 of scratch */
static void set_scratch(dt_tr *t, uint32_t rd, dt_tr_val v)
{
	dt_slot_lea(t->c, R1, t->at->scratch);
	alu(t->c, BPF_ADD, R1, R0);
	dt_tr_set(t, rd, R1, v);
}

/* ---- subroutines of lib.c ---- */

#define NO_DEFAULT INT64_MIN
enum bound { B_NONE, B_STRSIZE, B_ARG0, B_SUM, B_NUMBER, B_IP, B_LINK, B_INSIDE };

static const struct lib_row {
	uint32_t id;
	const char *fn;
	uint32_t nargs;
	int64_t defaults[4]; /* for omitted arguments */
	enum bound bound;    /* B_NONE: a number */
} lib_rows[] = {
    {DT_SUBR_STRLEN, "strlen", 1, {0}, B_NONE},
    {DT_SUBR_STRJOIN, "strjoin", 2, {0}, B_SUM},
    {DT_SUBR_STRCHR, "strchr", 2, {0}, B_ARG0},
    {DT_SUBR_STRRCHR, "strrchr", 2, {0}, B_ARG0},
    {DT_SUBR_STRSTR, "strstr", 2, {0}, B_ARG0},
    {DT_SUBR_INDEX, "index", 3, {0, 0, 0}, B_NONE},
    {DT_SUBR_RINDEX, "rindex", 3, {0, 0, INT32_MAX}, B_NONE},
    {DT_SUBR_STRTOK, "strtok", 2, {0}, B_STRSIZE},
    {DT_SUBR_LLTOSTR, "lltostr", 2, {0, 10}, B_NUMBER},
    {DT_SUBR_STRTOLL, "strtoll", 2, {0, 10}, B_NONE},
    {DT_SUBR_MEMSTR, "memstr", 3, {0}, B_STRSIZE},
    {DT_SUBR_BASENAME, "basename", 1, {0}, B_ARG0},
    {DT_SUBR_DIRNAME, "dirname", 1, {0}, B_ARG0},
    {DT_SUBR_CLEANPATH, "cleanpath", 1, {0}, B_STRSIZE},
    {DT_SUBR_INET_NTOA, "inet4", 1, {0}, B_IP},
    {DT_SUBR_INET_NTOA6, "inet6short", 2, {0, 0}, B_IP},
    {DT_SUBR_LINK_NTOP, "link", 2, {0}, B_LINK},
    {DT_SUBR_JSON, "json", 2, {0}, B_ARG0},
    {DT_SUBR_SPECULATION, "speculation", 1, {0}, B_NONE},
    {DT_SUBR_STRCASECMP, "strcasecmp", 2, {0}, B_NONE},
    {DT_SUBR_STARTS_WITH, "starts_with", 2, {0}, B_NONE},
    {DT_SUBR_STRREPLACE, "strreplace", 3, {0}, B_STRSIZE},
    {DT_SUBR_STRFIELD, "strfield", 3, {0}, B_ARG0},
    {DT_SUBR_HEXSTR, "hexstr", 2, {0}, B_STRSIZE},
    {DT_SUBR_STRHASH, "strhash", 1, {0}, B_NONE},
    {DT_SUBR_DENTRY_PATH, "path", 4, {0}, B_STRSIZE},
};

static dt_tr_val result(const dt_tr *t, enum bound b)
{
	dt_tr_val v = {.kind = V_STRING};
	uint32_t n = t->now.ntuple ? dt_tr_bound(t, &t->now.tuple[0]) : 0;

	switch (b) {
	case B_NONE: return NUMBER;
	case B_ARG0: v.bound = n < 2 ? 2 : n; break; /* at least "." */
	case B_SUM:
		v.bound = t->now.ntuple > 1 ? n + dt_tr_bound(t, &t->now.tuple[1]) - 1 : 0;
		break;
	case B_NUMBER: v.bound = 68; break;
	case B_IP: v.bound = 46; break;
	case B_LINK: v.bound = 60; break;
	default: break;
	}
	return v;
}

static bool lib_subr(dt_tr *t, uint32_t subr, uint32_t rd)
{
	const struct lib_row *r = NULL;
	uint32_t args;

	for (size_t i = 0; i < DT_NELEM(lib_rows); i++)
		if (lib_rows[i].id == subr)
			r = &lib_rows[i];
	if (!r)
		return false;
	args = dt_tr_sub_args(t, r->fn);
	dt_tr_here(t);
	for (uint32_t i = 0; i < r->nargs; i++) {
		if (i < t->now.ntuple)
			ld(t->c, 8, R0, R6, S_TUPLE + (int)i * 8);
		else
			movq(t->c, R0, (uint64_t)r->defaults[i]);
		st(t->c, 8, R6, (int)(args + i * 8), R0);
	}
	dt_tr_sub_run(t, r->fn);
	dt_tr_set(t, rd, R0, result(t, r->bound));
	return true;
}

static void flip_case(dt_tr *t, uint32_t rd, char first, char last)
{
	uint32_t args = dt_tr_sub_args(t, "flipcase");

	dt_tr_here(t);
	tuple(t, R0, 0);
	st(t->c, 8, R6, (int)args, R0);
	sti(t->c, 8, R6, (int)args + 8, first);
	sti(t->c, 8, R6, (int)args + 16, last);
	dt_tr_sub_run(t, "flipcase");
	dt_tr_set(t, rd, R0, result(t, B_ARG0));
}

static void substr(dt_tr *t, uint32_t rd)
{
	uint32_t args = dt_tr_sub_args(t, "substr");

	dt_tr_here(t);
	for (uint32_t i = 0; i < 3; i++) {
		tuple(t, R0, i);
		st(t->c, 8, R6, (int)(args + i * 8), R0);
	}
	sti(t->c, 8, R6, (int)args + 24, t->now.ntuple > 2);
	dt_tr_sub_run(t, "substr");
	dt_tr_set(t, rd, R0, result(t, B_ARG0));
}

/* inet_ntop(family, address): the family is nearly always a constant */
static void inet_ntop(dt_tr *t, uint32_t rd)
{
	uint32_t four = dt_tr_sub_args(t, "inet4"), six = dt_tr_sub_args(t, "inet6");
	uint32_t is_six = dt_code_label(t->c), done = dt_code_label(t->c);

	dt_tr_here(t);
	tuple(t, R1, 0);
	alui(t->c, BPF_LSH, R1, 32);
	alui(t->c, BPF_RSH, R1, 32);
	tuple(t, R0, 1);
	jmpi(t->c, BPF_JEQ, R1, 10, is_six);
	jmpi(t->c, BPF_JNE, R1, 2, dt_tr_fault_label(t, DT_FLT_ILLOP));
	st(t->c, 8, R6, (int)four, R0);
	dt_tr_sub_run(t, "inet4");
	ja(t->c, done);
	dt_code_place(t->c, is_six);
	st(t->c, 8, R6, (int)six, R0);
	dt_tr_sub_run(t, "inet6");
	dt_code_place(t->c, done);
	dt_tr_set(t, rd, R0, result(t, B_IP));
}

static void progenyof(dt_tr *t, uint32_t rd)
{
	bool ns = t->plan->features.pidns_ino != 0;
	uint32_t args = dt_tr_sub_args(t, ns ? "progenyof_ns" : "progenyof"), parent, tgid;

	if (dt_tr_field(t, "task_struct", "real_parent", &parent) < 0 ||
	    dt_tr_field(t, "task_struct", "tgid", &tgid) < 0)
		return;
	dt_tr_here(t);
	if (ns) { /* pids are those that ps shows here */
		dt_tr_task(t, false);
		st(t->c, 8, R6, (int)args, R0);
		if (dt_tr_pidns_args(t, args) < 0)
			return;
		tuple(t, R0, 0);
		st(t->c, 8, R6, (int)args + 56, R0);
		sti(t->c, 8, R6, (int)args + 64, (int32_t)parent);
		dt_tr_sub_run(t, "progenyof_ns");
		set_number(t, rd);
		return;
	}
	tuple(t, R0, 0);
	st(t->c, 8, R6, (int)args, R0);
	dt_tr_task(t, false);
	st(t->c, 8, R6, (int)args + 8, R0);
	sti(t->c, 8, R6, (int)args + 16, (int32_t)parent);
	sti(t->c, 8, R6, (int)args + 24, (int32_t)tgid);
	dt_tr_sub_run(t, "progenyof");
	set_number(t, rd);
}

static void d_path(dt_tr *t, uint32_t rd)
{
	uint32_t args = dt_tr_sub_args(t, "d_path");

	dt_tr_here(t);
	tuple(t, R0, 0);
	st(t->c, 8, R6, (int)args, R0);
	dt_tr_task(t, false);
	st(t->c, 8, R6, (int)args + 8, R0);
	dt_tr_sub_run(t, "d_path");
	dt_tr_set(t, rd, R0, result(t, B_STRSIZE));
}

/* ---- scratch and user memory ---- */

/* r1 bytes for alloca() or copyin(): option scratchsize may forbid it. r1 is kept. */
static void give(dt_tr *t)
{
	uint32_t no = dt_tr_fault_label(t, DT_FLT_NOSCRATCH);
	uint64_t most = dt_opt_scratch(t->plan->opts);
	dt_code *c = t->c;

	dt_tr_needs(t, memory);
	if (!most)
		return;
	jmpi(c, BPF_JGT, R1, (int32_t)most, no);
	ld(c, 8, R2, R6, S_GIVEN);
	alu(c, BPF_ADD, R2, R1);
	jmpi(c, BPF_JGT, R2, (int32_t)most, no);
	st(c, 8, R6, S_GIVEN, R2);
}

static void alloca_(dt_tr *t, uint32_t rd)
{
	dt_tr_here(t);
	tuple(t, R1, 0);
	give(t);
	dt_tr_alloc(t, true);
	set_scratch(t, rd, NUMBER);
}

/* r0 = offset, r9 = size: read them from the user address in tuple 0 */
static void read_user(dt_tr *t, int read)
{
	dt_code *c = t->c;

	mov(c, R8, R0);
	dt_slot_lea(c, R1, t->at->scratch);
	alu(c, BPF_ADD, R1, R8);
	mov(c, R2, R9);
	tuple(t, R3, 0);
	st(c, 8, R6, S_FVALUE, R3);
	dt_tr_user_memory(t);
	dt_tr_read(t, read);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	mov(c, R0, R8);
}

/* With a NUL after it: stringof(copyin(p, n)) is a common way to write copyinstr(p, n), and must
 * end there. */
static void copyin(dt_tr *t, uint32_t rd)
{
	dt_code *c = t->c;

	dt_tr_here(t);
	tuple(t, R1, 1);
	give(t);
	dt_tr_alloc(t, false);
	ld(c, 8, R2, R6, S_USED);
	alui(c, BPF_ADD, R2, 1);
	st(c, 8, R6, S_USED, R2);
	mov(c, R9, R1);
	read_user(t, BPF_FUNC_probe_read_user);
	dt_slot_lea(c, R1, t->at->scratch);
	alu(c, BPF_ADD, R1, R8);
	alu(c, BPF_ADD, R1, R9);
	sti(c, 1, R1, 0, 0);
	set_scratch(t, rd, NUMBER);
}

static void copyinstr(dt_tr *t, uint32_t rd)
{
	dt_code *c = t->c;
	uint32_t whole = dt_code_label(c);

	dt_tr_needs(t, scratch);
	dt_tr_here(t);
	movi(c, R1, (int32_t)t->plan->strsize);
	if (t->now.ntuple > 1) {
		tuple(t, R2, 1);
		jmpi(c, BPF_JGE, R2, (int32_t)t->plan->strsize - 1, whole);
		mov(c, R1, R2);
		alui(c, BPF_ADD, R1, 1);
		dt_code_place(c, whole);
	}
	dt_tr_alloc(t, false);
	mov(c, R9, R1);
	read_user(t, BPF_FUNC_probe_read_user_str);
	set_scratch(t, rd, (dt_tr_val){.kind = V_STRING});
}

static void memref(dt_tr *t, uint32_t rd)
{
	dt_tr_here(t);
	dt_tr_needs(t, memory);
	dt_tr_alloc_const(t, 16, false);
	dt_slot_lea(t->c, R1, t->at->scratch);
	alu(t->c, BPF_ADD, R1, R0);
	tuple(t, R2, 0);
	st(t->c, 8, R1, 0, R2);
	tuple(t, R2, 1);
	st(t->c, 8, R1, 8, R2);
	dt_tr_set(t, rd, R1, NUMBER);
}

/*
 * copyout(from, to, n): the bytes go to scratch first, because the helper needs a verified pointer.
 * Kernels in lockdown refuse the helper; load.c reports that.
 */
static void copyout(dt_tr *t, uint32_t rd, bool string)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c), cut = dt_code_label(c);

	dt_tr_needs(t, memory);
	dt_tr_here(t);
	if (string) {
		dt_tr_alloc_const(t, t->plan->strsize, false);
		mov(c, R8, R0);
		dt_slot_lea(c, R1, t->at->scratch);
		alu(c, BPF_ADD, R1, R8);
		movi(c, R2, (int32_t)t->plan->strsize);
	} else {
		tuple(t, R1, 2);
		dt_tr_alloc(t, false);
		mov(c, R8, R0);
		mov(c, R2, R1);
		dt_slot_lea(c, R1, t->at->scratch);
		alu(c, BPF_ADD, R1, R8);
		mov(c, R9, R2);
	}
	tuple(t, R3, 0);
	st(c, 8, R6, S_FVALUE, R3);
	helper(c, string ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	if (string) { /* at most as many bytes as requested */
		mov(c, R9, R0);
		tuple(t, R1, 2);
		jmp(c, BPF_JLE, R9, R1, cut);
		mov(c, R9, R1);
		dt_code_place(c, cut);
	}
	jmpi(c, BPF_JLT, R9, 1, done); /* Linux 6.1 does not see from != 0 that it is at least 1 */
	jmpi(c, BPF_JGT, R9, (int32_t)t->at->scratch_size, done);
	tuple(t, R1, 1);
	st(c, 8, R6, S_FVALUE, R1);
	dt_tr_user_memory(t);
	dt_slot_lea(c, R2, t->at->scratch);
	alu(c, BPF_ADD, R2, R8);
	mov(c, R3, R9);
	helper(c, BPF_FUNC_probe_write_user);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	dt_code_place(c, done);
	movi(c, R0, 0);
	set_number(t, rd);
}

#define PACKET_MAX 65535

static void skbcopy(dt_tr *t, uint32_t rd)
{
	const dt_tr_val *size = &t->now.tuple[1];

	if (t->now.ntuple < 2 || size->kind != V_CONST || size->n == 0 || (uint64_t)size->n > PACKET_MAX) {
		dt_tr_here(t);
		ja(t->c, dt_tr_fault_label(t, DT_FLT_ILLOP));
		t->reachable = false;
		return;
	}
	dt_tr_packet_copy(t, (uint32_t)size->n);
	set_scratch(t, rd, NUMBER);
}

/* ---- numbers ---- */

static void byte_order(dt_tr *t, uint32_t rd, int bits)
{
	tuple(t, R0, 0);
	/* Reverses the bytes on little-endian machines, cuts on all. */
	dt_code_insn(t->c, BPF_ALU | BPF_END | BPF_TO_BE, R0, 0, 0, bits);
	set_number(t, rd);
}

/* the first if first op second, else the second */
static void select_one(dt_tr *t, uint32_t rd, int op)
{
	uint32_t done = dt_code_label(t->c);

	tuple(t, R0, 0);
	tuple(t, R1, 1);
	jmp(t->c, op, R0, R1, done);
	mov(t->c, R0, R1);
	dt_code_place(t->c, done);
	set_number(t, rd);
}

static void device(dt_tr *t, uint32_t rd, int shift, int32_t mask)
{
	tuple(t, R0, 0);
	alui(t->c, BPF_RSH, R0, shift);
	alui(t->c, BPF_AND, R0, mask);
	set_number(t, rd);
}

/* ---- kernel objects ---- */

/* r0 = a member of the object whose address is tuple 0; BADADDR */
static void member(dt_tr *t, const char *type, const char *path, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t off = 0;

	if (dt_tr_field(t, type, path, &off) < 0)
		return;
	dt_tr_here(t);
	tuple(t, R3, 0);
	st(c, 8, R6, S_FVALUE, R3);
	alui(c, BPF_ADD, R3, (int32_t)off);
	dt_slot_lea(c, R1, S_TMP);
	movi(c, R2, (int32_t)size);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	ld(c, size, R0, R6, S_TMP);
}

/* r0 = r0 op n ? 1 : 0 */
static void test(dt_tr *t, int op, int32_t n)
{
	uint32_t done = dt_code_label(t->c);

	mov(t->c, R1, R0);
	movi(t->c, R0, 1);
	jmpi(t->c, op, R1, n, done);
	movi(t->c, R0, 0);
	dt_code_place(t->c, done);
}

/* The low three bits of mutex.owner are flags, the rest is the task. */
static void mutex_owner(dt_tr *t)
{
	member(t, "mutex", "owner", 8);
	alui(t->c, BPF_AND, R0, -8);
}

static void mutex_owned(dt_tr *t)
{
	mutex_owner(t);
	st(t->c, 8, R6, S_VALUE, R0);
	dt_tr_task(t, false);
	ld(t->c, 8, R1, R6, S_VALUE);
	alu(t->c, BPF_XOR, R0, R1);
	test(t, BPF_JEQ, 0);
}

/* r0 = xchg(&control->claims[hash(key)], key) != key: exactly one of several concurrent callers
 * gets a key */
static void claim(dt_tr *t)
{
	dt_code *c = t->c;

	tuple(t, R0, 0);
	movq(c, R2, 0x9e3779b97f4a7c15);
	alu(c, BPF_MUL, R2, R0);
	alui(c, BPF_RSH, R2, 56);
	alui(c, BPF_LSH, R2, 3);
	map_value(c, R3, t->maps->control, CTL_CLAIMS);
	alu(c, BPF_ADD, R3, R2);
	mov(c, R1, R0);
	atomic(c, BPF_XCHG, R3, 0, R1);
	alu(c, BPF_XOR, R0, R1);
	test(t, BPF_JNE, 0);
}

static void task_pid(dt_tr *t, bool thread)
{
	if (!t->plan->features.pidns_ino) {
		member(t, "task_struct", thread ? "pid" : "tgid", 4);
		return;
	}
	dt_tr_here(t);
	tuple(t, R0, 0);
	dt_tr_pid_of(t, thread);
}

static void getf(dt_tr *t)
{
	static const char *const path[][2] = {
	    {"task_struct", "files"}, {"files_struct", "fdt"}, {"fdtable", "fd"}};
	dt_code *c = t->c;
	uint32_t max, out = dt_code_label(c);

	if (dt_tr_field(t, "fdtable", "max_fds", &max) < 0)
		return;
	dt_tr_task(t, false);
	for (size_t i = 0; i < DT_NELEM(path); i++) {
		uint32_t off;

		if (dt_tr_field(t, path[i][0], path[i][1], &off) < 0)
			return;
		if (i == 2) { /* the table's size, before the table */
			st(c, 8, R6, S_VALUE, R0);
			mov(c, R3, R0);
			alui(c, BPF_ADD, R3, (int32_t)max);
			dt_tr_peek(t, 4);
			mov(c, R1, R0);
			movi(c, R0, 0);
			tuple(t, R2, 0);
			jmp(c, BPF_JGE, R2, R1, out);
			ld(c, 8, R0, R6, S_VALUE);
		}
		mov(c, R3, R0);
		alui(c, BPF_ADD, R3, (int32_t)off);
		dt_tr_peek(t, 8);
	}
	mov(c, R3, R0);
	tuple(t, R1, 0);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R3, R1);
	dt_tr_peek(t, 8);
	dt_code_place(c, out);
}

static bool kernel_object(dt_tr *t, uint32_t subr)
{
	switch (subr) {
	case DT_SUBR_MUTEX_OWNED: mutex_owned(t); break;
	case DT_SUBR_MUTEX_OWNER: mutex_owner(t); break;
	case DT_SUBR_MUTEX_TYPE_ADAPTIVE:
		member(t, "mutex", "owner", 8);
		movi(t->c, R0, 1);
		break;
	case DT_SUBR_MUTEX_TYPE_SPIN:
		member(t, "mutex", "owner", 8);
		movi(t->c, R0, 0);
		break;
	case DT_SUBR_RW_READ_HELD: /* rw_semaphore.count: bit 0 a writer, from bit 8 on the readers
				    */
	case DT_SUBR_SX_SHARED_HELD:
		member(t, "rw_semaphore", "count", 8);
		alui(t->c, BPF_RSH, R0, 8);
		test(t, BPF_JNE, 0);
		break;
	case DT_SUBR_RW_WRITE_HELD:
	case DT_SUBR_RW_ISWRITER:
	case DT_SUBR_SX_EXCLUSIVE_HELD:
	case DT_SUBR_SX_ISEXCLUSIVE:
		member(t, "rw_semaphore", "count", 8);
		alui(t->c, BPF_AND, R0, 1);
		break;
	case DT_SUBR_MSGDSIZE:
	case DT_SUBR_MSGSIZE: member(t, "sk_buff", "len", 4); break;
	case DT_SUBR_DDI_PATHNAME: member(t, "device", "kobj.name", 8); break;
	case DT_SUBR_GETF: getf(t); break;
	case DT_SUBR_CLAIM: claim(t); break;
	case DT_SUBR_TASKPID:
	case DT_SUBR_TASKTID: task_pid(t, subr == DT_SUBR_TASKTID); break;
	case DT_SUBR_CGROUPAT: dt_tr_cgroup_at(t, S_TUPLE); break;
	default: return false;
	}
	return true;
}

/* ---- all ---- */

static void count_unavailable(dt_tr *t)
{
	uint32_t ok = dt_code_label(t->c);

	st(t->c, 8, R6, S_VALUE, R0);
	jmpi(t->c, BPF_JNE, R0, 0, ok);
	dt_tr_count(t, CPU_SPEC_UNAVAIL);
	dt_code_place(t->c, ok);
}

void dt_tr_subr(dt_tr *t, uint32_t subr, uint32_t rd)
{
	if (subr == DT_SUBR_SPECULATION)
		dt_tr_needs(t, spec);
	if (lib_subr(t, subr, rd)) {
		if (subr == DT_SUBR_SPECULATION)
			count_unavailable(t);
		return;
	}
	if (kernel_object(t, subr)) {
		set_number(t, rd);
		return;
	}
	switch (subr) {
	case DT_SUBR_RAND:
		helper(t->c, BPF_FUNC_get_prandom_u32);
		alui(t->c, BPF_AND, R0, 0x7fffffff);
		set_number(t, rd);
		break;
	case DT_SUBR_TOUPPER: flip_case(t, rd, 'a', 'z'); break;
	case DT_SUBR_TOLOWER: flip_case(t, rd, 'A', 'Z'); break;
	case DT_SUBR_SUBSTR: substr(t, rd); break;
	case DT_SUBR_INET_NTOP: inet_ntop(t, rd); break;
	case DT_SUBR_PROGENYOF: progenyof(t, rd); break;
	case DT_SUBR_D_PATH: d_path(t, rd); break;
	case DT_SUBR_ALLOCA: alloca_(t, rd); break;
	case DT_SUBR_COPYIN: copyin(t, rd); break;
	case DT_SUBR_COPYINSTR: copyinstr(t, rd); break;
	case DT_SUBR_COPYINTO:
		dt_tr_copy_tuple(t, 0, 1, 2, true);
		movi(t->c, R0, 0);
		set_number(t, rd);
		break;
	case DT_SUBR_BCOPY:
		dt_tr_copy_tuple(t, 0, 2, 1, false);
		movi(t->c, R0, 0);
		set_number(t, rd);
		break;
	case DT_SUBR_MEMREF: memref(t, rd); break;
	case DT_SUBR_SKBCOPY: skbcopy(t, rd); break;
	case DT_SUBR_COPYOUT: copyout(t, rd, false); break;
	case DT_SUBR_COPYOUTSTR: copyout(t, rd, true); break;
	case DT_SUBR_HTONS:
	case DT_SUBR_NTOHS: byte_order(t, rd, 16); break;
	case DT_SUBR_HTONL:
	case DT_SUBR_NTOHL: byte_order(t, rd, 32); break;
	case DT_SUBR_HTONLL:
	case DT_SUBR_NTOHLL: byte_order(t, rd, 64); break;
	case DT_SUBR_MIN: select_one(t, rd, BPF_JSLT); break;
	case DT_SUBR_MAX: select_one(t, rd, BPF_JSGT); break;
	case DT_SUBR_GETMAJOR: device(t, rd, 20, 0xfff); break;
	case DT_SUBR_GETMINOR: device(t, rd, 0, 0xfffff); break;
	default:
		dt_tr_here(t);
		ja(t->c, dt_tr_fault_label(t, DT_FLT_ILLOP));
		t->reachable = false;
	}
}
