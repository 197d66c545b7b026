/*
 * Any bytes as a DIFO: the verifier refuses it, or the interpreter runs it to a value or a fault.
 * Nothing else may happen: no crash, no read or write outside what the program may use, no endless
 * run.
 *
 * Input: 1 byte strsize choice, 1 byte each for how many integers, string bytes, variables; the
 * integers (8 bytes each), the string table (made to begin and end with NUL), the variables (4
 * bytes each: id, scope and kind, type, size), and what is left as instructions. Most random words
 * are not instructions, so operands are adjusted: registers to 0..7, indices into the tables,
 * branches forward; one bit of the first byte turns that off and lets the verifier see raw words.
 */
#include <stdlib.h>

#include "vm/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p;
	size_t n;
};

static uint8_t byte(struct input *in)
{
	if (in->n == 0)
		return 0;
	in->n--;
	return *in->p++;
}

static uint64_t word(struct input *in, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | byte(in);
	return v;
}

static dt_difvar variable(struct input *in)
{
	uint8_t id = byte(in) % 8, how = byte(in), type = byte(in), size = byte(in);
	dt_difvar v = {.id = DT_VAR_USER_MIN + id,
		       .kind = how & 1,
		       .scope = (how >> 1) % 3,
		       .flags = DT_VARF_READ | DT_VARF_WRITE};

	switch (type % 3) {
	case 0: v.type = (dt_diftype){.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 8}; break;
	case 1:
		v.type = (dt_diftype){.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = size};
		break;
	case 2:
		v.type = (dt_diftype){.kind = DT_TYPE_CTF,
				      .ckind = DT_K_STRUCT,
				      .flags = type & 4 ? DT_TF_BYREF : DT_TF_BYUREF,
				      .size = size};
		break;
	}
	return v;
}

/* The nearest instruction that the verifier would accept. */
static dt_instr bend(const dt_difo *d, uint32_t pc, uint32_t len, uint32_t w)
{
	uint32_t op = (w >> 24) % (DT_OP_MAX + 1), r1 = w >> 16 & 7, r2 = w >> 8 & 7, rd = w & 7;
	uint32_t index = w >> 8 & 0xffff, to = rd ? rd : 1;

	if (!dt_op_table[op].name)
		return DT_I_FMT(DT_OP_NOP, 0, 0, 0);
	switch (dt_op_table[op].format) {
	case DT_F_RRR: return DT_I_FMT(op, r1, r2, to);
	case DT_F_RR:
	case DT_F_LOAD:
	case DT_F_STORE: return DT_I_FMT(op, r1, 0, to);
	case DT_F_CMP: return DT_I_FMT(op, r1, r2, 0);
	case DT_F_TST: return DT_I_FMT(op, r1, 0, 0);
	case DT_F_BRANCH: return DT_I_BR(op, pc + 1 + index % (len - pc - 1));
	case DT_F_SETX: return DT_I_IDX(op, d->intlen ? index % d->intlen : 0, to);
	case DT_F_SETS: return DT_I_IDX(op, index % d->strlen, to);
	case DT_F_LDV:
		if (op == DT_OP_LDGS && index & 0x8000)
			return DT_I_IDX(op, DT_VAR_SCALAR_MIN + index % 0x24, to);
		return DT_I_IDX(op, DT_VAR_USER_MIN + index % 9, to);
	case DT_F_STV: return DT_I_IDX(op, DT_VAR_USER_MIN + index % 9, rd);
	case DT_F_LDA: return DT_I_FMT(op, r1 & 3, r2, to);
	case DT_F_CALL: return DT_I_IDX(op, index & 0x100 ? index % 261 : index % 49, to);
	case DT_F_PUSHTV: return DT_I_FMT(op, DT_TYPE_CTF, 0, rd);
	case DT_F_PUSHTR: return DT_I_FMT(op, r1 & 1, r2, rd);
	case DT_F_RET: return DT_I_FMT(op, 0, 0, rd);
	default: return DT_I_FMT(DT_OP_NOP, 0, 0, 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t strsizes[] = {1, 2, 8, 256};
	struct input in = {data, size};
	uint8_t how = byte(&in);
	dt_difo d = {.intlen = byte(&in) % 32,
		     .strlen = 2 + byte(&in),
		     .nvars = byte(&in) % 9,
		     .rtype = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 8}};
	struct dt_verify_opts opts = {0};
	dt_error err;
	dt_fault fault;

	d.inttab = calloc(d.intlen + 1, sizeof(*d.inttab));
	d.strtab = calloc(d.strlen, 1);
	d.vars = calloc(d.nvars + 1, sizeof(*d.vars));
	for (uint32_t i = 0; i < d.intlen; i++) /* small numbers are the interesting ones */
		d.inttab[i] = how & 4 ? word(&in, 8) : word(&in, 2);
	for (uint32_t i = 1; i + 1 < d.strlen; i++)
		d.strtab[i] = (char)byte(&in);
	for (uint32_t i = 0; i < d.nvars; i++)
		d.vars[i] = variable(&in);
	d.len = (uint32_t)(in.n / 4 + 1);
	d.text = calloc(d.len, sizeof(*d.text));
	for (uint32_t i = 0; i + 1 < d.len; i++) {
		uint32_t w = (uint32_t)word(&in, 4);

		d.text[i] = how & 8 ? w : bend(&d, i, d.len, w);
	}
	d.text[d.len - 1] = DT_I_FMT(DT_OP_RET, 0, 0, 1);
	if (dt_difo_verify(&d, &opts, &err) == 0)
		dt_vm_eval(&d, strsizes[how & 3], &fault);
	free(d.text);
	free(d.vars);
	free(d.strtab);
	free(d.inttab);
	return 0;
}
