/*
 * emit: collects instructions, and computes the distances of jumps and calls.
 */
#include <stdlib.h>

#include "bpf/code/emit.h"

void dt_code_free(dt_code *c)
{
	dt_vec_free(&c->insns);
	dt_vec_free(&c->labels);
	dt_vec_free(&c->fixes);
	dt_vec_free(&c->funcs);
}

void dt_code_insn(dt_code *c, uint8_t code, int dst, int src, int16_t off, int32_t imm)
{
	struct bpf_insn *i = dt_vec_add(&c->insns, NULL);

	i->code = code;
	i->dst_reg = (uint8_t)dst & 15;
	i->src_reg = (uint8_t)src & 15;
	i->off = off;
	i->imm = imm;
}

void dt_code_imm64(dt_code *c, int dst, int src, uint32_t lo, uint32_t hi)
{
	dt_code_insn(c, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, (int32_t)lo);
	dt_code_insn(c, 0, 0, 0, 0, (int32_t)hi);
}

/* ---- functions and labels ---- */

uint32_t dt_code_func_new(dt_code *c, const char *name)
{
	struct dt_code_func *f = dt_vec_add(&c->funcs, NULL);

	f->start = UINT32_MAX;
	strncpy(f->name, name, sizeof(f->name) - 1);
	return c->funcs.n - 1;
}

void dt_code_func_begin(dt_code *c, uint32_t func)
{
	c->funcs.v[func].start = c->placed = c->insns.n;
}

void dt_code_func_begin_global(dt_code *c, uint32_t func, uint32_t nargs)
{
	uint32_t have = dt_code_label(c);

	dt_code_func_begin(c, func);
	c->funcs.v[func].nargs = nargs;
	jmpi(c, BPF_JNE, R1, 0, have);
	movi(c, R0, 0);
	leave(c);
	dt_code_place(c, have);
}

uint32_t dt_code_label(dt_code *c)
{
	*dt_vec_add(&c->labels, NULL) = UINT32_MAX;
	return c->labels.n - 1;
}

void dt_code_place(dt_code *c, uint32_t label)
{
	c->labels.v[label] = c->placed = c->insns.n;
}

bool dt_code_is_target(const dt_code *c, uint32_t label)
{
	for (uint32_t i = c->fixes.n; i-- > 0;)
		if (!c->fixes.v[i].is_call && c->fixes.v[i].target == label)
			return true;
	return false;
}

/* ---- what must be fixed later ---- */

static void fix(dt_code *c, uint32_t target, bool is_call)
{
	*dt_vec_add(&c->fixes, NULL) =
	    (struct dt_code_fix){.insn = c->insns.n, .target = target, .is_call = is_call};
}

void dt_code_jump(dt_code *c, int op, int dst, int src, uint32_t label)
{
	fix(c, label, false);
	dt_code_insn(c, (uint8_t)(BPF_JMP | op | BPF_X), dst, src, 0, 0);
}

void dt_code_jumpi(dt_code *c, int op, int dst, int32_t n, uint32_t label)
{
	fix(c, label, false);
	dt_code_insn(c, (uint8_t)(BPF_JMP | op | BPF_K), dst, 0, 0, n);
}

void dt_code_may_goto(dt_code *c, uint32_t label)
{
	fix(c, label, false);
	dt_code_insn(c, DT_MAY_GOTO, 0, 0, 0, 0);
}

void dt_code_call(dt_code *c, uint32_t func)
{
	fix(c, func, true);
	dt_code_insn(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

void dt_code_func_addr(dt_code *c, int dst, uint32_t func)
{
	fix(c, func, true);
	dt_code_imm64(c, dst, BPF_PSEUDO_FUNC, 0, 0);
}

/* ---- functions inside others ---- */

void dt_code_leave_to(dt_code *c, uint32_t from, uint32_t label)
{
	for (uint32_t i = from; i < c->insns.n; i++) {
		if (c->insns.v[i].code != (BPF_JMP | BPF_EXIT))
			continue;
		*dt_vec_add(&c->fixes, NULL) = (struct dt_code_fix){.insn = i, .target = label};
		c->insns.v[i] = (struct bpf_insn){.code = BPF_JMP | BPF_JA | BPF_K};
	}
}

/* Stores to the stack, and addresses in it:  rN = r10; rN += offset */
int dt_code_stack_depth(const dt_code *c, uint32_t from)
{
	int depth = 0;

	for (uint32_t i = from; i < c->insns.n; i++) {
		const struct bpf_insn *x = &c->insns.v[i];
		bool store = BPF_CLASS(x->code) == BPF_STX || BPF_CLASS(x->code) == BPF_ST;
		int off = store && x->dst_reg == R10 ? x->off : 0;

		if (x->code == (BPF_ALU64 | BPF_MOV | BPF_X) && x->src_reg == R10)
			off = x[1].imm; /* the next one adds it */
		depth = -off > depth ? -off : depth;
	}
	return (depth + 7) & ~7;
}

/* ---- long jumps ----
 *
 * A jump reaches 32767 instructions, but a clause may be longer. So an island is put within reach
 * of the jump, which normal control flow jumps over: it has one hop to each target of far jumps
 * before it.
 *
 *	  if r0 s< 0 goto hop		(too far to jump to `fault` itself)
 *	  ...
 *	  goto over
 *	hop:  goto fault		(which may need another hop)
 *	over: ...
 */
#define REACH  32000 /* less than a jump can do: islands move what follows them */
#define ISLAND 30000 /* how far away it is put, so that its hops are within reach */

static bool is_far(const dt_code *c, const struct dt_code_fix *f)
{
	return !f->is_call && c->labels.v[f->target] != UINT32_MAX &&
	       c->labels.v[f->target] > f->insn && c->labels.v[f->target] - f->insn > REACH;
}

static bool has_second_half(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Can an instruction be put before this one? Not inside a 64-bit constant, and not where control
 * never reaches. */
static bool is_gap(const dt_code *c, uint32_t at)
{
	const struct bpf_insn *before = &c->insns.v[at - 1];

	return at >= 2 && !has_second_half(before) && before->code != (BPF_JMP | BPF_EXIT) &&
	       before->code != (BPF_JMP | BPF_JA | BPF_K);
}

/* Make room for n instructions at `at`; everything from there on moves. */
static void make_room(dt_code *c, uint32_t at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		dt_code_insn(c, 0, 0, 0, 0, 0);
	memmove(c->insns.v + at + n, c->insns.v + at, (c->insns.n - n - at) * sizeof(*c->insns.v));
	for (uint32_t i = 0; i < c->labels.n; i++)
		if (c->labels.v[i] != UINT32_MAX && c->labels.v[i] >= at)
			c->labels.v[i] += n;
	for (uint32_t i = 0; i < c->funcs.n; i++)
		if (c->funcs.v[i].start != UINT32_MAX && c->funcs.v[i].start >= at)
			c->funcs.v[i].start += n;
	for (uint32_t i = 0; i < c->fixes.n; i++)
		if (c->fixes.v[i].insn >= at)
			c->fixes.v[i].insn += n;
}

/* A hop at `at` to the label. */
static void make_hop(dt_code *c, uint32_t at, uint32_t label)
{
	*dt_vec_add(&c->fixes, NULL) = (struct dt_code_fix){.insn = at, .target = label};
	c->insns.v[at] = (struct bpf_insn){.code = BPF_JMP | BPF_JA | BPF_K};
}

/* An island for the far jumps that begin up to ISLAND before it, the first of which is at `from`.
 */
static void make_island(dt_code *c, uint32_t from)
{
	uint32_t at = from + ISLAND, nfixes = c->fixes.n, over, nlabels = c->labels.n, n = 0;
	uint32_t *hop = dt_xcalloc(nlabels, sizeof(*hop)); /* label -> its hop + 1 */

	while (!is_gap(c, at))
		at--;
	for (uint32_t i = 0; i < nfixes; i++) {
		struct dt_code_fix *f = &c->fixes.v[i];

		if (is_far(c, f) && f->insn >= from && f->insn < at && !hop[f->target])
			hop[f->target] = ++n;
	}
	make_room(c, at, n + 1);
	over = dt_code_label(c);
	c->labels.v[over] = at + n + 1;
	make_hop(c, at, over);
	for (uint32_t label = 0; label < nlabels; label++) {
		uint32_t there;

		if (!hop[label])
			continue;
		there = dt_code_label(c);
		c->labels.v[there] = at + hop[label];
		for (uint32_t i = 0; i < nfixes; i++) {
			struct dt_code_fix *f = &c->fixes.v[i];

			if (f->target == label && is_far(c, f) && f->insn >= from && f->insn < at)
				f->target = there;
		}
		make_hop(c, at + hop[label], label);
	}
	free(hop);
}

static void bridge_far_jumps(dt_code *c)
{
	uint32_t first;

	do {
		first = UINT32_MAX;
		for (uint32_t i = 0; i < c->fixes.n; i++)
			if (is_far(c, &c->fixes.v[i]) && c->fixes.v[i].insn < first)
				first = c->fixes.v[i].insn;
		if (first != UINT32_MAX)
			make_island(c, first);
	} while (first != UINT32_MAX);
}

/* ---- global functions ---- */

/* Is this the call of a map helper whose key lies in the slot?  r2 = r6; r2 += offset; call */
static bool has_key_in_slot(const dt_code *c, uint32_t at)
{
	const struct bpf_insn *x = &c->insns.v[at];

	if (x->code != (BPF_JMP | BPF_CALL) || x->src_reg != 0 ||
	    x->imm < BPF_FUNC_map_lookup_elem || x->imm > BPF_FUNC_map_delete_elem)
		return false;
	while (at-- > 0)
		if (c->insns.v[at].code == (BPF_ALU64 | BPF_MOV | BPF_X) &&
		    c->insns.v[at].dst_reg == R2)
			return c->insns.v[at].src_reg == R6;
	return false;
}

/* The function of each instruction. */
static uint32_t *owners(const dt_code *c)
{
	uint32_t *owner = dt_xcalloc(c->insns.n + 1, sizeof(*owner));

	for (uint32_t f = 0; f < c->funcs.n; f++)
		if (c->funcs.v[f].start < c->insns.n)
			owner[c->funcs.v[f].start] = f + 1;
	for (uint32_t i = 0, f = 0; i < c->insns.n; i++) {
		f = owner[i] ? owner[i] - 1 : f;
		owner[i] = f;
	}
	return owner;
}

uint32_t dt_code_frames(const dt_code *c)
{
	uint32_t *owner = owners(c), *frames = dt_xcalloc(c->funcs.n + 1, sizeof(*frames)), most;
	bool again = true;

	while (again && frames[0] < DT_FRAMES_MAX) { /* frames[f]: below f */
		again = false;
		for (uint32_t i = 0; i < c->fixes.n; i++) {
			const struct dt_code_fix *x = &c->fixes.v[i];

			if (x->is_call && frames[owner[x->insn]] <= frames[x->target]) {
				frames[owner[x->insn]] = frames[x->target] + 1;
				again = true;
			}
		}
	}
	most = frames[0] + 1;
	free(owner);
	free(frames);
	return most;
}

/*
 * Up to Linux 6.1 a global function may not use map keys in the slot: there, functions that do, or
 * call one that does, are static.
 */
static void settle_globals(dt_code *c)
{
	uint32_t *owner = owners(c);
	bool again = true;

	for (uint32_t i = 0; i < c->insns.n; i++)
		if (!c->funcs.v[owner[i]].own_slot && has_key_in_slot(c, i))
			c->funcs.v[owner[i]].keys = true;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < c->fixes.n; i++) {
			const struct dt_code_fix *x = &c->fixes.v[i];
			struct dt_code_func *caller = &c->funcs.v[owner[x->insn]];

			if (x->is_call && c->funcs.v[x->target].keys && !caller->keys &&
			    !caller->own_slot)
				caller->keys = again = true;
		}
	}
	for (uint32_t f = 0; f < c->funcs.n && !c->memory_keys; f++)
		if (c->funcs.v[f].keys)
			c->funcs.v[f].nargs = 0;
	free(owner);
}

int dt_code_finish(dt_code *c)
{
	settle_globals(c);
	bridge_far_jumps(c);
	for (uint32_t i = 0; i < c->fixes.n && !c->problem; i++) {
		const struct dt_code_fix *f = &c->fixes.v[i];
		uint32_t to = f->is_call ? c->funcs.v[f->target].start : c->labels.v[f->target];
		int64_t distance = (int64_t)to - f->insn - 1;

		if (to == UINT32_MAX)
			c->problem = "internal: a jump or call without a target";
		else if (f->is_call)
			c->insns.v[f->insn].imm = (int32_t)distance;
		else if (distance != (int16_t)distance)
			c->problem = "a clause is too large for the kernel";
		else
			c->insns.v[f->insn].off = (int16_t)distance;
	}
	return c->problem ? -1 : 0;
}
