/* native: machine code for DIF gives what the interpreter gives: the same values, variables and faults, for random programs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "process/compile.h"
#include "unit.h"

#define VARS	 4
#define LEN_MAX	 40
#define PROGRAMS 20000
#define FAULTED	 0x1000 /* + offset: what the function returns then */

static uint64_t seed = 1;
static uint32_t unknown;

static uint32_t any(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static uint64_t number(void)
{
	static const uint64_t special[] = {0, 1, 2, 63, 64, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, 0x80000000u};

	return any(2) ? special[any(DT_NELEM(special))] : (uint64_t)any(UINT32_MAX) << any(40);
}

/* ---- random DIF: arithmetic, comparisons with branches, variables, arguments ---- */

static dt_instr arithmetic(void)
{
	static const uint8_t ops[] = {DT_OP_OR, DT_OP_XOR, DT_OP_AND, DT_OP_SLL, DT_OP_SRL, DT_OP_SUB, DT_OP_ADD, DT_OP_MUL,
				      DT_OP_SDIV, DT_OP_UDIV, DT_OP_SREM, DT_OP_UREM, DT_OP_SRA, DT_OP_NOT, DT_OP_MOV};

	return DT_I_FMT(ops[any(DT_NELEM(ops))], any(8), any(8), any(8));
}

static dt_instr variable(void)
{
	static const uint8_t ops[] = {DT_OP_LDGS, DT_OP_STGS, DT_OP_LDLS, DT_OP_STLS, DT_OP_LDTS, DT_OP_STTS, DT_OP_LDGS};
	uint32_t k = any(DT_NELEM(ops)), id = k == 6 ? DT_VAR_ARG0 + any(6) : DT_VAR_USER_MIN + any(VARS);

	return (uint32_t)ops[k] << 24 | id << 8 | any(8);
}

static void generate(dt_difo *d, uint64_t *ints)
{
	static const uint8_t after_tst[] = {DT_OP_BE, DT_OP_BNE, DT_OP_BGU, DT_OP_BLEU};

	d->len = 0;
	d->intlen = 8;
	for (uint32_t i = 0; i < d->intlen; i++)
		ints[i] = number();
	for (uint32_t n = 5 + any(LEN_MAX - 12); d->len < n;) {
		uint32_t kind = any(10);

		if (kind < 2) {
			d->text[d->len++] = (uint32_t)DT_OP_SETX << 24 | any(8) << 8 | any(8);
		} else if (kind < 4) {
			d->text[d->len++] = variable();
		} else if (kind < 5) {
			bool tst = any(3) == 0;
			uint32_t target = d->len + 2 + any(n + 5 - d->len);

			d->text[d->len++] = tst ? DT_I_FMT(DT_OP_TST, any(8), 0, 0) : DT_I_FMT(DT_OP_CMP, any(8), any(8), 0);
			d->text[d->len++] = (uint32_t)(tst ? after_tst[any(4)] : DT_OP_BA + any(11)) << 24 | target;
		} else {
			d->text[d->len++] = arithmetic();
		}
	}
	for (uint32_t i = 0; i < 8; i++) /* branches lead here as well */
		d->text[d->len++] = i < 7 ? arithmetic() : (uint32_t)DT_OP_RET << 24 | any(8);
}

/* ---- both ---- */

static uint8_t *memory; /* of the code */

static uint64_t run_native(struct dt_pe_compiler *c, const dt_difo *d, struct dt_pe_slot *s, const struct dt_pe_frame *frame, bool *known)
{
	uint32_t kept = 0, end;

	*known = dt_pe_difo_known(c, d, &kept);
	if (!*known)
		return 0;
	c->n.size = c->faults.n = 0;
	c->op->begin(&c->n, kept);
	dt_pe_difo(c, d);
	end = dt_native_label(&c->n);
	c->op->branch(&c->n, DT_N_ALWAYS, end);
	for (uint32_t i = 0; i < c->faults.n; i++) {
		c->op->set(&c->n, c->faults.v[i].label);
		c->op->constant(&c->n, DT_N_T0, FAULTED + (uint64_t)c->faults.v[i].offset);
		c->op->store(&c->n, DT_N_BASE, offsetof(struct dt_pe_slot, nested), DT_N_T0, 8);
		c->op->branch(&c->n, DT_N_ALWAYS, end);
	}
	c->op->set(&c->n, end);
	c->op->end(&c->n);
	CHECK(!c->n.failed);
	s->nested = 0;
	mprotect(memory, 65536, PROT_READ | PROT_EXEC);
	uint64_t v = ((dt_pe_code *)(uintptr_t)memory)(s, frame, NULL);
	mprotect(memory, 65536, PROT_READ | PROT_WRITE);
	return v;
}

static void check(struct dt_pe_compiler *c, dt_vm_engine *host, struct dt_pe_slot *s)
{
	static dt_vm_var types[VARS];
	uint64_t words[DT_PE_REGS] = {0}, values[2][3][VARS], ints[8], want, got;
	dt_instr text[LEN_MAX + 8];
	dt_difo d = {.text = text, .inttab = ints};
	struct dt_pe_frame *frame = (struct dt_pe_frame *)(void *)words;
	dt_vm_firing f = {0};
	dt_vm *vm = &host->vm;
	bool known;

	generate(&d, ints);
	for (uint32_t i = 0; i < 6; i++)
		f.args[i] = frame->word[c->p->shared->arg[i] - 1] = number();
	for (uint32_t i = 0; i < 3 * VARS; i++)
		values[0][i / VARS][i % VARS] = values[1][i / VARS][i % VARS] = number();
	vm->fire = &f;
	vm->globals = (dt_vm_scope){.v = types, .n = VARS, .values = values[1][0]};
	vm->locals = (dt_vm_scope){.v = types, .n = VARS, .values = values[1][1]};
	vm->threads = (dt_vm_scope){.v = types, .n = VARS};
	vm->own = (dt_vm_dynvars){.nchunks = 1, .direct = values[1][2]};
	s->e.vm.locals.values = values[1][1];
	s->e.vm.own.direct = values[1][2];
	got = run_native(c, &d, s, frame, &known);
	unknown += !known; /* a branch leads to another one */
	if (!known)
		return;
	vm->globals.values = values[0][0];
	vm->locals.values = values[0][1];
	vm->own.direct = values[0][2];
	want = dt_vm_run(vm, &d);
	if (vm->faulted)
		CHECK(s->nested == FAULTED + (uint64_t)vm->fault.offset);
	else
		CHECK(s->nested == 0 && got == want);
	CHECK(memcmp(values[0], values[1], sizeof(values[0])) == 0);
}

int main(void)
{
	static dt_vm_engine host;
	static dt_pe p;
	static struct dt_pe_slot slot;
	static struct dt_pe_shared shared = {.arg = {1, 2, 3, 4, 5, 6}};
	struct dt_pe_compiler c = {.op = dt_native_host(), .p = &p};

	if (!c.op)
		return unit_done();
	memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	p.host = &host;
	p.shared = &shared;
	c.n = (dt_native){.at = (uint64_t)(uintptr_t)memory, .code = memory, .cap = 65536};
	for (int i = 0; i < PROGRAMS; i++)
		check(&c, &host, &slot);
	CHECK(unknown < PROGRAMS / 2);

	/* flags of another comparison, or that of tst with a sign, are not known */
	dt_instr text[] = {DT_I_FMT(DT_OP_TST, 1, 0, 0), (uint32_t)DT_OP_BL << 24 | 2, (uint32_t)DT_OP_RET << 24};
	uint32_t kept = 0;
	CHECK(!dt_pe_difo_known(&c, &(dt_difo){.text = text, .len = 3}, &kept));
	text[0] = (uint32_t)DT_OP_NOP << 24;
	CHECK(!dt_pe_difo_known(&c, &(dt_difo){.text = text, .len = 3}, &kept));
	munmap(memory, 65536);
	c.n.code = NULL;
	dt_native_free(&c.n);
	dt_vec_free(&c.faults);
	return unit_done();
}
