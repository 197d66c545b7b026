/*
 * sub_op: the operators of the subroutine language (sub.c).
 */
#include "bpf/code/sub_private.h"

void dt_sub_truth(struct sub *s, int op)
{
	uint32_t done = dt_code_label(s->c);

	mov(s->c, R1, R0);
	movi(s->c, R0, 1);
	jmpi(s->c, op, R1, 0, done);
	movi(s->c, R0, 0);
	dt_code_place(s->c, done);
}

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
	uint32_t done;

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
	done = dt_code_label(s->c);
	mov(s->c, R2, R0);
	movi(s->c, R0, 1);
	if (constant)
		jmpi(s->c, dt_sub_binary[i].code, R2, *constant, done);
	else
		jmp(s->c, dt_sub_binary[i].code, R2, R1, done);
	movi(s->c, R0, 0);
	dt_code_place(s->c, done);
}
