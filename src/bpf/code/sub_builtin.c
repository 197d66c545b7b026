/*
 * sub_builtin: the built-in functions of the subroutine language (sub.c): reading memory, making
 * strings, speculations.
 */
#include "engine/engine.h"
#include "bpf/code/sub_private.h"

/* ---- faults inside a subroutine ---- */

static void fault_if(struct sub *s, int op, int reg, int32_t n, uint32_t code, bool clear)
{
	uint32_t ok = dt_code_label(s->c), yes = dt_code_label(s->c);

	jmpi(s->c, op, reg, n, yes);
	ja(s->c, ok);
	dt_code_place(s->c, yes);
	sti(s->c, 4, R6, S_FAULT, (int32_t)code + 1);
	if (clear)
		sti(s->c, 8, R6, S_FVALUE, 0);
	s->stops = true;
	ja(s->c, s->stop);
	dt_code_place(s->c, ok);
}

void dt_sub_stop_if_faulted(struct sub *s)
{
	ld(s->c, 4, R1, R6, S_FAULT);
	s->stops = true;
	jmpi(s->c, BPF_JNE, R1, 0, s->stop);
}

/* ---- intrinsics: arguments are in temps from `a` on, the result goes to r0 ---- */

static void in_str(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_code *c = s->c;

	ld(c, 8, R3, R6, dt_sub_temp(s, a));
	st(c, 8, R6, S_FVALUE, R3);
	dt_slot_lea(c, R1, b->off);
	movi(c, R2, (int32_t)(b->size < s->lib->strsize ? b->size : s->lib->strsize));
	helper(c, BPF_FUNC_probe_read_kernel_str);
	fault_if(s, BPF_JSLT, R0, 0, DT_FLT_BADADDR, false);
	alui(c, BPF_SUB, R0, 1);
}

/* mem(BUF, offset, address, n) */
static void in_mem(struct sub *s, const struct dt_sub_buffer *b, uint32_t a, int read)
{
	dt_code *c = s->c;
	uint32_t skip = dt_code_label(c);

	ld(c, 8, R1, R6, dt_sub_temp(s, a));
	ld(c, 8, R3, R6, dt_sub_temp(s, a + 1));
	ld(c, 8, R2, R6, dt_sub_temp(s, a + 2));
	st(c, 8, R6, S_FVALUE, R3);
	movi(c, R0, 0);
	jmpi(c, BPF_JGT, R1, (int32_t)b->size, skip);
	jmpi(c, BPF_JGT, R2, (int32_t)b->size, skip);
	mov(c, R4, R1);
	alu(c, BPF_ADD, R4, R2);
	jmpi(c, BPF_JGT, R4, (int32_t)b->size, skip);
	alui(c, BPF_ADD, R1, (int32_t)b->off);
	alu(c, BPF_ADD, R1, R6);
	s->lib->read(s->lib->arg, read);
	dt_code_place(c, skip);
	fault_if(s, BPF_JNE, R0, 0, DT_FLT_BADADDR, false);
}

static void in_kmem(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	in_mem(s, b, a, BPF_FUNC_probe_read_kernel);
}

static void in_umem(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	in_mem(s, b, a, BPF_FUNC_probe_read_user);
}

/* make(BUF, start, n): a new string of n characters in scratch; its address */
static void in_make(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_code *c = s->c;
	uint32_t fits = dt_code_label(c), strsize = s->lib->strsize;

	s->lib->uses_scratch = true;
	ld(c, 8, R0, R6, S_USED);
	alui(c, BPF_ADD, R0, 7);
	alui(c, BPF_AND, R0, -8);
	fault_if(s, BPF_JGT, R0, (int32_t)(s->lib->scratch.size - strsize), DT_FLT_NOSCRATCH, true);
	ld(c, 8, R2, R6, dt_sub_temp(s, a + 1));
	jmpi(c, BPF_JLT, R2, (int32_t)strsize, fits);
	movi(c, R2, (int32_t)strsize - 1);
	dt_code_place(c, fits);
	mov(c, R1, R0);
	alu(c, BPF_ADD, R1, R2);
	alui(c, BPF_ADD, R1, 1);
	st(c, 8, R6, S_USED, R1);
	dt_slot_lea(c, R8, s->lib->scratch.off);
	alu(c, BPF_ADD, R8, R0);
	mov(c, R9, R2);
	dt_slot_lea(c, R3, b->off);
	st(c, 8, R6, S_SELF, R3);
	ld(c, 8, R3, R6, S_SELF);
	ld(c, 8, R4, R6, dt_sub_temp(s, a));
	alu(c, BPF_ADD, R3, R4);
	mov(c, R1, R8);
	helper(c, BPF_FUNC_probe_read_kernel);
	st(c, 8, R6, S_SELF, R8);
	alu(c, BPF_ADD, R8, R9);
	sti(c, 1, R8, 0, 0);
	ld(c, 8, R0, R6, S_SELF);
}

/* addr(BUF) */
static void in_addr(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	(void)a;
	dt_slot_lea(s->c, R1, b->off);
	st(s->c, 8, R6, S_SELF, R1);
	ld(s->c, 8, R0, R6, S_SELF);
}

/* known(BUF), size(BUF): the words after G or P; know(BUF, x, n) sets them */
static void word(struct sub *s, const struct dt_sub_buffer *b, uint32_t which)
{
	dt_slot_lea(s->c, R1, b->off + b->size + 8 + which * 8);
	ld(s->c, 8, R0, R1, 0);
}

static void in_known(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	(void)a;
	word(s, b, 0);
}

static void in_size(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	(void)a;
	word(s, b, 1);
}

static void in_know(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_slot_lea(s->c, R1, b->off + b->size + 8);
	for (uint32_t i = 0; i < 2; i++) {
		ld(s->c, 8, R0, R6, dt_sub_temp(s, a + i));
		st(s->c, 8, R1, (int)i * 8, R0);
	}
}

/* room(n): n new bytes of scratch; their offset in S */
static void in_room(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_code *c = s->c;
	uint32_t size = s->lib->scratch.size;

	(void)b;
	s->lib->uses_scratch = s->lib->uses_memory = true;
	ld(c, 8, R0, R6, S_USED);
	alui(c, BPF_ADD, R0, 7);
	alui(c, BPF_AND, R0, -8);
	fault_if(s, BPF_JGT, R0, (int32_t)size, DT_FLT_NOSCRATCH, true);
	ld(c, 8, R1, R6, dt_sub_temp(s, a));
	fault_if(s, BPF_JGT, R1, (int32_t)size, DT_FLT_NOSCRATCH, true);
	alu(c, BPF_ADD, R1, R0);
	fault_if(s, BPF_JGT, R1, (int32_t)size, DT_FLT_NOSCRATCH, true);
	st(c, 8, R6, S_USED, R1);
}

static void in_slt(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_code *c = s->c;
	uint32_t done = dt_code_label(c);

	(void)b;
	ld(c, 8, R1, R6, dt_sub_temp(s, a));
	ld(c, 8, R2, R6, dt_sub_temp(s, a + 1));
	movi(c, R0, 1);
	jmp(c, BPF_JSLT, R1, R2, done);
	movi(c, R0, 0);
	dt_code_place(c, done);
}

/* sext(x): the low 32 bits, with their sign */
static void in_sext(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	(void)b;
	ld(s->c, 8, R0, R6, dt_sub_temp(s, a));
	alui(s->c, BPF_LSH, R0, 32);
	alui(s->c, BPF_ARSH, R0, 32);
}

/* take(i): claim speculation i; 1 when it was free */
static void in_take(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	dt_code *c = s->c;
	uint32_t out = dt_code_label(c);

	(void)b;
	movi(c, R0, 0);
	ld(c, 8, R1, R6, dt_sub_temp(s, a));
	jmpi(c, BPF_JGE, R1, (int32_t)s->lib->nspecs, out);
	alui(c, BPF_LSH, R1, 3);
	map_value(c, R2, s->lib->fd_specs, 0);
	alu(c, BPF_ADD, R2, R1);
	ld(c, 8, R0, R2, 0); /* bit 0: in use; the rest counts the uses */
	mov(c, R3, R0);
	alui(c, BPF_AND, R0, 1);
	alui(c, BPF_XOR, R0, 1);
	jmpi(c, BPF_JEQ, R0, 0, out);
	mov(c, R0, R3);
	alui(c, BPF_ADD, R3, 3);
	mov(c, R4, R0);
	atomic(c, BPF_CMPXCHG, R2, 0, R3);
	mov(c, R1, R0);
	movi(c, R0, 1);
	jmp(c, BPF_JEQ, R1, R4, out);
	movi(c, R0, 0);
	dt_code_place(c, out);
}

static void in_now(struct sub *s, const struct dt_sub_buffer *b, uint32_t a)
{
	(void)b, (void)a;
	helper(s->c, BPF_FUNC_ktime_get_ns);
}

static const struct dt_sub_builtin builtins[] = {
    {"str", true, 1, in_str},	{"mem", true, 3, in_kmem},   {"umem", true, 3, in_umem},
    {"make", true, 2, in_make}, {"addr", true, 0, in_addr},  {"room", false, 1, in_room},
    {"slt", false, 2, in_slt},	{"sext", false, 1, in_sext}, {"take", false, 1, in_take},
    {"now", false, 0, in_now},	{"known", true, 0, in_known}, {"size", true, 0, in_size},
    {"know", true, 2, in_know},
};

const struct dt_sub_builtin *dt_sub_builtin_find(const char *name)
{
	for (size_t i = 0; i < DT_NELEM(builtins); i++)
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	return NULL;
}
