/*
 * sub_op: the operators of the subroutine language (sub.c).
 *
 * A comparison is not emitted where it is written: it waits in s->test for what is done with its
 * result. A condition jumps by it (dt_sub_jump()), anything else makes 0 or 1 of it
 * (dt_sub_settle()). The kernel follows both ways of each jump, so one jump instead of two makes
 * programs much faster to verify.
 */
#include "bpf/code/sub_private.h"

const struct dt_sub_operator dt_sub_binary[DT_SUB_OPERATORS] = {
    {"||", 0, false, -1},      {"&&", 1, false, -2},	 {"|", 2, false, BPF_OR},
    {"^", 3, false, BPF_XOR},  {"&", 4, false, BPF_AND}, {"==", 5, true, BPF_JEQ},
    {"!=", 5, true, BPF_JNE},  {"<", 6, true, BPF_JLT},	 {"<=", 6, true, BPF_JLE},
    {">", 6, true, BPF_JGT},   {">=", 6, true, BPF_JGE}, {"<<", 7, false, BPF_LSH},
    {">>", 7, false, BPF_RSH}, {"+", 8, false, BPF_ADD}, {"-", 8, false, BPF_SUB},
    {"*", 9, false, BPF_MUL},  {"/", 9, false, BPF_DIV}, {"%", 9, false, BPF_MOD},
};

void dt_sub_apply(struct sub *s, size_t i, const int32_t *constant)
{
	bool shift = dt_sub_binary[i].code == BPF_LSH || dt_sub_binary[i].code == BPF_RSH;

	if (!dt_sub_binary[i].jump && constant) {
		if (*constant || dt_sub_binary[i].code != BPF_ADD)
			alui(s->c, dt_sub_binary[i].code, R0, shift ? *constant & 63 : *constant);
		return;
	}
	if (!dt_sub_binary[i].jump) {
		if (shift)
			alui(s->c, BPF_AND, R1, 63);
		alu(s->c, dt_sub_binary[i].code, R0, R1);
		return;
	}
	s->test = (struct dt_sub_test){dt_sub_binary[i].code, constant, constant ? *constant : 0};
}

/* ---- comparisons ---- */

void dt_sub_test(struct sub *s, int op)
{
	dt_sub_settle(s);
	s->test = (struct dt_sub_test){op, true, 0};
}

static void jump(struct sub *s, int op, int reg, uint32_t to)
{
	if (s->test.constant)
		jmpi(s->c, op, reg, s->test.n, to);
	else
		jmp(s->c, op, reg, R1, to);
	s->test.op = 0;
}

void dt_sub_settle(struct sub *s)
{
	uint32_t done;

	if (!s->test.op)
		return;
	done = dt_code_label(s->c);
	mov(s->c, R2, R0);
	movi(s->c, R0, 1);
	jump(s, s->test.op, R2, done);
	movi(s->c, R0, 0);
	dt_code_place(s->c, done);
}

void dt_sub_jump(struct sub *s, bool truth, uint32_t to)
{
	static const uint8_t opposite[][2] = {
	    {BPF_JEQ, BPF_JNE}, {BPF_JLT, BPF_JGE}, {BPF_JLE, BPF_JGT}};
	int op;

	if (!s->test.op)
		dt_sub_test(s, BPF_JNE);
	op = s->test.op;
	for (size_t i = 0; !truth && i < DT_NELEM(opposite); i++)
		if (op == opposite[i][0] || op == opposite[i][1]) {
			op = opposite[i][op == opposite[i][0]];
			break;
		}
	jump(s, op, R0, to);
}
