/*
 * vm_asm: a DIFO by hand, for the tests of the interpreter.
 *
 *	struct prog p = new_prog();
 *	set(&p, 1, 40);
 *	set(&p, 2, 2);
 *	emit(&p, DT_I_FMT(DT_OP_ADD, 1, 2, 3));
 *	CHECK(result(&p, 3) == 42);
 *
 * Every program is verified before it is run, unless it asks not to be.
 */
#ifndef VM_ASM_H
#define VM_ASM_H

#include <stdio.h>
#include <stdlib.h>

#include "vm/machine.h"

#define UNUSED_OK __attribute__((unused))

struct prog {
	dt_instr t[512];
	uint32_t n;
	uint64_t ints[64];
	uint32_t nints;
	char str[2048];
	uint32_t nstr;
	dt_difvar vars[8];
	uint32_t nvars;
	size_t strsize, scratch, dynvarsize;
	bool unverified;
	dt_fault fault; /* of the last run; offset -2: none */
	char text[1024];
};

static const dt_diftype number_type = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 8};

static dt_diftype UNUSED_OK string_type(uint32_t size)
{
	return (dt_diftype){.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = size};
}

static struct prog UNUSED_OK new_prog(void)
{
	return (struct prog){.nstr = 1, .strsize = 256, .scratch = 65536, .dynvarsize = 65536};
}

static void UNUSED_OK emit(struct prog *p, dt_instr i)
{
	if (p->n == DT_NELEM(p->t))
		abort();
	p->t[p->n++] = i;
}

static void UNUSED_OK set(struct prog *p, uint32_t reg, uint64_t value)
{
	if (p->nints == DT_NELEM(p->ints))
		abort();
	p->ints[p->nints] = value;
	emit(p, DT_I_IDX(DT_OP_SETX, p->nints++, reg));
}

/* NULL: address 0. */
static void UNUSED_OK sets(struct prog *p, uint32_t reg, const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;

	if (!s) {
		emit(p, DT_I_FMT(DT_OP_MOV, 0, 0, reg));
		return;
	}
	if (p->nstr + n > sizeof(p->str))
		abort();
	memcpy(p->str + p->nstr, s, n);
	emit(p, DT_I_IDX(DT_OP_SETS, p->nstr, reg));
	p->nstr += (uint32_t)n;
}

static void UNUSED_OK variable(struct prog *p, uint32_t id, uint8_t scope, uint8_t kind,
			       dt_diftype type)
{
	p->vars[p->nvars++] = (dt_difvar){.id = id,
					  .kind = kind,
					  .scope = scope,
					  .flags = DT_VARF_READ | DT_VARF_WRITE,
					  .type = type};
}

static void UNUSED_OK ret(struct prog *p, uint32_t reg)
{
	emit(p, DT_I_FMT(DT_OP_RET, 0, 0, reg));
}

static dt_difo UNUSED_OK difo(struct prog *p)
{
	dt_difo d = {.text = p->t,
		     .len = p->n,
		     .inttab = p->ints,
		     .intlen = p->nints,
		     .strtab = p->str,
		     .strlen = p->nstr,
		     .vars = p->vars,
		     .nvars = p->nvars,
		     .rtype = number_type};
	struct dt_verify_opts o = {0};
	dt_error err = {0};

	if (!p->unverified && dt_difo_verify(&d, &o, &err) < 0)
		printf("not verified: %s\n", err.text), exit(1);
	return d;
}

static void UNUSED_OK open_machine(struct prog *p, dt_difo *d, dt_vm *vm, dt_vm_firing *f)
{
	const dt_difo *list = d;
	struct dt_vm_config c = {.strsize = p->strsize,
				 .scratch = p->scratch,
				 .dynvarsize = p->dynvarsize,
				 .difos = &list,
				 .ndifos = 1};
	dt_error err;

	*d = difo(p);
	if (dt_vm_init(vm, &c, &err) < 0 || !dt_vm_firing_init(vm, f))
		abort();
	vm->fire = f;
}

static void UNUSED_OK close_machine(dt_vm *vm, dt_vm_firing *f)
{
	free(f->strtok);
	dt_vm_fini(vm);
}

/* Run as it stands; the value, with p->fault and, if it is an address of text, p->text. */
static uint64_t UNUSED_OK run_text(struct prog *p, bool want_text)
{
	dt_vm_firing f;
	uint64_t v;
	dt_difo d;
	dt_vm vm;

	open_machine(p, &d, &vm, &f);
	v = dt_vm_run(&vm, &d);
	p->fault = vm.faulted ? vm.fault : (dt_fault){.offset = -2};
	if (want_text && v)
		dt_vm_copy(&vm, v, p->text, sizeof(p->text), true, false);
	close_machine(&vm, &f);
	return v;
}

static uint64_t UNUSED_OK run(struct prog *p)
{
	if (!p->n || DT_I_OP(p->t[p->n - 1]) != DT_OP_RET)
		ret(p, 0);
	return run_text(p, false);
}

static bool UNUSED_OK faulted(const struct prog *p)
{
	return p->fault.offset != -2;
}

static bool UNUSED_OK faults(struct prog *p, uint32_t code, uint64_t value)
{
	run(p);
	return faulted(p) && p->fault.code == code && p->fault.value == value;
}

static uint64_t UNUSED_OK result(struct prog *p, uint32_t reg)
{
	ret(p, reg);
	return run_text(p, false);
}

/* What the address in reg points to; NULL for address 0 or a fault. */
static UNUSED_OK const char *text(struct prog *p, uint32_t reg)
{
	ret(p, reg);
	return run_text(p, true) && !faulted(p) ? p->text : NULL;
}

#endif
