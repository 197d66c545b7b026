/*
 * tr_value: strings, by what is known about them.
 *
 * A DIF register holds an address; most of the time the translator also knows what is there: a
 * constant, the execname in the slot, a part of the probe's name, a string of a certain largest
 * size. Keys, records and comparisons use exactly that much.
 */
#include "bpf/translate/translate.h"

#define COMM_SIZE 16

uint32_t dt_tr_bound(const dt_tr *t, const dt_tr_val *v)
{
	uint64_t n = t->plan->strsize;

	switch (v->kind) {
	case V_COMM: n = COMM_SIZE; break;
	case V_TEXT: n = t->ro->data.s ? strlen(t->ro->data.s + v->n) + 1 : 1; break;
	default:
		if (v->bound)
			n = v->bound;
	}
	return (uint32_t)(n < t->plan->strsize ? n : t->plan->strsize);
}

/* Short runs as stores, long ones as a copy from the zeros of rodata. */
void dt_tr_zero(dt_tr *t, uint32_t off, uint32_t size)
{
	uint32_t at = 0;

	if (size > 128) {
		if (t->learn && size > t->learn->is.zeros)
			t->learn->is.zeros = size;
		dt_slot_lea(t->c, R1, off);
		movi(t->c, R2, (int32_t)size);
		map_value(t->c, R3, t->maps->rodata, t->at->zeros);
		helper(t->c, BPF_FUNC_probe_read_kernel);
		return;
	}
	if (size == 0)
		return;
	dt_slot_lea(t->c, R1, off);
	for (; at + 8 <= size; at += 8)
		sti(t->c, 8, R1, (int)at, 0);
	for (; at + 4 <= size; at += 4)
		sti(t->c, 4, R1, (int)at, 0);
	for (; at < size; at++)
		sti(t->c, 1, R1, (int)at, 0);
}

/* Constant bytes: *(u64 *)(slot + off) = "abcdefgh" ... */
static void put_text(dt_tr *t, const char *s, uint32_t off, uint32_t size)
{
	char bytes[64] = {0};
	size_t n = strlen(s);
	uint32_t at = 0;
	uint64_t word;
	uint32_t half;

	memcpy(bytes, s, n < size ? n : size - 1);
	dt_slot_lea(t->c, R1, off);
	for (; at + 8 <= size; at += 8) {
		memcpy(&word, bytes + at, 8);
		movq(t->c, R2, word);
		st(t->c, 8, R1, (int)at, R2);
	}
	for (; at + 4 <= size; at += 4) {
		memcpy(&half, bytes + at, 4);
		sti(t->c, 4, R1, (int)at, (int32_t)half);
	}
	for (; at < size; at++)
		sti(t->c, 1, R1, (int)at, bytes[at]);
}

/* The 16 bytes of the command name, which the kernel pads with zeros itself. */
static void put_comm(dt_tr *t, uint64_t from, uint32_t off, uint32_t size)
{
	dt_slot_lea(t->c, R1, off);
	for (uint32_t at = 0; at < COMM_SIZE && at + 4 <= size;) {
		uint32_t n = at + 8 <= size ? 8 : 4;

		ld(t->c, n, R2, R6, (int)(from + at));
		st(t->c, n, R1, (int)at, R2);
		at += n;
	}
	if (size > COMM_SIZE)
		dt_tr_zero(t, off + COMM_SIZE, size - COMM_SIZE);
}

void dt_tr_put_string(dt_tr *t, const dt_tr_val *v, uint32_t off, uint32_t size, bool pad)
{
	dt_code *c = t->c;

	if (v->kind == V_COMM && size >= COMM_SIZE && t->plan->strsize >= COMM_SIZE) {
		put_comm(t, v->n, off, size);
		return;
	}
	if (v->kind == V_TEXT && size <= 64) {
		put_text(t, t->ro->data.s + v->n, off, size);
		return;
	}
	st(c, 8, R6, S_FVALUE, R3);
	if (pad)
		dt_tr_zero(t, off, size);
	dt_slot_lea(c, R1, off);
	movi(c, R2, (int32_t)size);
	ld(c, 8, R3, R6, S_FVALUE);
	helper(c, BPF_FUNC_probe_read_kernel_str);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

/* ---- comparison ---- */

/* execname against a constant, for equality: r0 = 0 when the same. Two or fewer 64-bit compares. */
static void compare_comm(dt_tr *t, uint64_t from, const char *s)
{
	dt_code *c = t->c;
	uint32_t differ = dt_code_label(c), done = dt_code_label(c);
	char bytes[COMM_SIZE] = {0};
	size_t n = strlen(s);
	uint64_t word;

	if (n >= COMM_SIZE) {
		movi(c, R0, 1);
		return;
	}
	memcpy(bytes, s, n);
	for (size_t at = 0; at < n + 1; at += 8) { /* with the NUL; all after it is zero */
		memcpy(&word, bytes + at, 8);
		ld(c, 8, R1, R6, (int)(from + at));
		movq(c, R2, word);
		jmp(c, BPF_JNE, R1, R2, differ);
	}
	movi(c, R0, 0);
	ja(c, done);
	dt_code_place(c, differ);
	movi(c, R0, 1);
	dt_code_place(c, done);
}

/* A string (address in r3; 0 is the empty string) against a constant: the kernel compares. */
static void compare_text(dt_tr *t, uint32_t reg, uint64_t text, bool swapped)
{
	dt_code *c = t->c;
	uint32_t empty = dt_code_label(c), have = dt_code_label(c);

	dt_tr_needs(t, strings);
	dt_tr_here(t);
	dt_tr_get(t, R3, reg);
	jmpi(c, BPF_JEQ, R3, 0, empty);
	st(c, 8, R6, S_FVALUE, R3);
	dt_slot_lea(c, R1, t->at->buf[0]);
	movi(c, R2, (int32_t)t->plan->strsize);
	helper(c, BPF_FUNC_probe_read_kernel_str);
	jmpi(c, BPF_JSLT, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	ja(c, have);
	dt_code_place(c, empty);
	dt_slot_lea(c, R1, t->at->buf[0]);
	sti(c, 1, R1, 0, 0);
	dt_code_place(c, have);
	dt_slot_lea(c, R1, t->at->buf[0]);
	movi(c, R2, (int32_t)t->plan->strsize);
	map_value(c, R3, t->maps->rodata, (uint32_t)text);
	helper(c, BPF_FUNC_strncmp);
	alui(c, BPF_LSH, R0, 32); /* the helper returns an int */
	alui(c, BPF_ARSH, R0, 32);
	if (swapped)
		dt_code_insn(c, BPF_ALU64 | BPF_NEG, R0, 0, 0, 0);
}

static bool is_null(const dt_tr *t, uint32_t reg)
{
	return reg == 0 || (t->now.reg[reg].kind == V_CONST && t->now.reg[reg].n == 0);
}

/* A string against NULL, which is the empty string: r0 = its first character, 0 if it is NULL */
static void compare_null(dt_tr *t, uint32_t reg, bool swapped)
{
	dt_code *c = t->c;
	uint32_t done = dt_code_label(c);

	dt_tr_here(t);
	dt_tr_get(t, R3, reg);
	movi(c, R0, 0);
	jmpi(c, BPF_JEQ, R3, 0, done);
	st(c, 8, R6, S_FVALUE, R3);
	dt_slot_lea(c, R1, S_TMP);
	movi(c, R2, 1);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
	ld(c, 1, R0, R6, S_TMP);
	if (swapped)
		dt_code_insn(c, BPF_ALU64 | BPF_NEG, R0, 0, 0, 0);
	dt_code_place(c, done);
}

void dt_tr_compare(dt_tr *t, uint32_t a, uint32_t b, bool equal)
{
	const dt_tr_val *x = &t->now.reg[a], *y = &t->now.reg[b];
	bool swapped = x->kind == V_TEXT;
	const dt_tr_val *text = swapped ? x : y, *other = swapped ? y : x;
	const char *s;

	if (is_null(t, a) || is_null(t, b)) {
		compare_null(t, is_null(t, b) ? a : b, !is_null(t, b));
		return;
	}
	if (text->kind == V_TEXT) {
		s = t->ro->data.s + text->n;
		if (equal && other->kind == V_COMM && t->plan->strsize >= COMM_SIZE) {
			compare_comm(t, other->n, s);
			return;
		}
		if (strlen(s) < t->plan->strsize) {
			compare_text(t, swapped ? b : a, text->n, swapped);
			return;
		}
	}
	uint32_t args = dt_tr_sub_args(t, "compare");

	dt_tr_here(t);
	dt_tr_get(t, R0, a);
	st(t->c, 8, R6, (int)args, R0);
	dt_tr_get(t, R0, b);
	st(t->c, 8, R6, (int)args + 8, R0);
	dt_tr_sub_run(t, "compare");
}
