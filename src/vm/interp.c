/*
 * interp: the opcodes.
 *
 * Every branch goes forward, so a run ends after at most d->len instructions; the verifier has
 * checked that, and register numbers and table indices. The loop below still relies on none of it:
 * a register field is 8 bits and there are 256 registers here (in a target process eight, taken modulo), table indices are checked, a branch
 * that is not forward is an illegal operation, and running past the end returns 0.
 *
 * Where C leaves a result undefined, this is the reference:
 *   - arithmetic wraps; INT64_MIN / -1 is INT64_MIN and its remainder 0; division by 0 is a fault
 *   - shifts use the low 6 bits of the count
 *   - registers are 0 when a DIFO begins
 *   - cmp sets n and v so that n xor v is the true signed comparison over the whole 64-bit range
 */
#include "vm/machine.h"

struct flags {
	bool n, z, v, c;
};

uint64_t dt_vm_fault(dt_vm *vm, uint32_t code, uint64_t value)
{
	if (!vm->faulted) {
		vm->faulted = true;
		vm->fault = (dt_fault){.offset = -1, .code = code, .value = value};
	}
	return 0;
}

/* ---- arithmetic ---- */

static uint64_t divide(dt_vm *vm, uint32_t op, uint64_t a, uint64_t b)
{
	if (b == 0)
		return dt_vm_fault(vm, DT_FLT_DIVZERO, 0);
	if (b == UINT64_MAX && (op == DT_OP_SDIV || op == DT_OP_SREM))
		return op == DT_OP_SDIV ? 0 - a : 0; /* by -1: the CPU would trap on INT64_MIN */
	switch (op) {
	case DT_OP_SDIV: return (uint64_t)((int64_t)a / (int64_t)b);
	case DT_OP_UDIV: return a / b;
	case DT_OP_SREM: return (uint64_t)((int64_t)a % (int64_t)b);
	default: return a % b;
	}
}

static uint64_t shift_right_signed(uint64_t a, uint32_t by)
{
	return by && a >> 63 ? a >> by | ~(UINT64_MAX >> by) : a >> by;
}

static struct flags compare(uint64_t a, uint64_t b)
{
	uint64_t r = a - b;

	return (struct flags){
	    .n = r >> 63, .z = r == 0, .v = ((a ^ b) & (a ^ r)) >> 63, .c = a < b};
}

static struct flags compare_strings(dt_vm *vm, uint64_t a, uint64_t b)
{
	dt_vm_str s = {"", 0}, t = {"", 0};
	int r;

	if ((a && !dt_vm_string(vm, a, vm->strsize, &s)) ||
	    (b && !dt_vm_string(vm, b, vm->strsize, &t)))
		return (struct flags){0};
	r = memcmp(s.p, t.p, s.n < t.n ? s.n : t.n);
	if (r == 0)
		r = s.n < t.n ? -1 : s.n > t.n;
	return (struct flags){.n = r < 0, .z = r == 0};
}

static bool branch_taken(uint32_t op, const struct flags *f)
{
	bool less = f->n != f->v;

	switch (op) {
	case DT_OP_BA: return true;
	case DT_OP_BE: return f->z;
	case DT_OP_BNE: return !f->z;
	case DT_OP_BG: return !f->z && !less;
	case DT_OP_BGU: return !f->c && !f->z;
	case DT_OP_BGE: return !less;
	case DT_OP_BGEU: return !f->c;
	case DT_OP_BL: return less;
	case DT_OP_BLU: return f->c;
	case DT_OP_BLE: return f->z || less;
	default: return f->c || f->z; /* bleu */
	}
}

/* ---- loads and stores ---- */

/* The seven loads of each family come in this order: sb sh sw ub uh uw x. */
static const struct {
	uint8_t size;
	bool is_signed;
} load_kinds[7] = {{1, true}, {2, true}, {4, true}, {1, false}, {2, false}, {4, false}, {8, false}};

static uint64_t extend(const void *p, uint32_t size, bool is_signed)
{
	uint64_t v = 0;

	switch (size) {
	case 1: v = *(const uint8_t *)p; break;
	case 2: {
		uint16_t h;
		memcpy(&h, p, 2);
		v = h;
		break;
	}
	case 4: {
		uint32_t w;
		memcpy(&w, p, 4);
		v = w;
		break;
	}
	default: memcpy(&v, p, 8); return v;
	}
	if (is_signed && v >> (size * 8 - 1))
		v |= UINT64_MAX << (size * 8);
	return v;
}

static uint64_t load(dt_vm *vm, uint32_t kind, uint64_t addr)
{
	uint32_t size = load_kinds[kind].size;
	const void *p = dt_vm_readable(vm, addr, size);

	return p ? extend(p, size, load_kinds[kind].is_signed) : 0;
}

static uint64_t load_user(dt_vm *vm, uint32_t kind, uint64_t addr)
{
	uint32_t size = load_kinds[kind].size;
	uint64_t raw = 0;

	return dt_vm_load_user(vm, addr, &raw, size)
		   ? extend(&raw, size, load_kinds[kind].is_signed)
		   : 0;
}

static void store(dt_vm *vm, uint32_t size, uint64_t addr, uint64_t value)
{
	void *p = dt_vm_writable(vm, addr, size);
	uint8_t b = (uint8_t)value;
	uint16_t h = (uint16_t)value;
	uint32_t w = (uint32_t)value;

	if (!p)
		return;
	if (addr & (size - 1)) {
		dt_vm_fault(vm, DT_FLT_BADALIGN, addr);
		return;
	}
	memcpy(p,
	       size == 1   ? (void *)&b
	       : size == 2 ? (void *)&h
	       : size == 4 ? (void *)&w
			   : (void *)&value,
	       size);
}

static void copy_block(dt_vm *vm, uint64_t from, uint64_t to, uint64_t n)
{
	void *t = dt_vm_writable(vm, to, n);
	const void *f = t ? dt_vm_readable(vm, from, n) : NULL;

	if (f && n)
		memmove(t, f, n);
}

/* ---- tuples ---- */

struct tuple {
	dt_vm_arg v[DT_DIF_NTREGS];
	uint32_t n;
};

static void push(dt_vm *vm, struct tuple *t, dt_vm_arg a)
{
	if (t->n == DT_DIF_NTREGS)
		dt_vm_fault(vm, DT_FLT_TUPOFLOW, 0);
	else
		t->v[t->n++] = a;
}

static uint64_t call(dt_vm *vm, uint32_t subr, struct tuple *t)
{
	memset(t->v + t->n, 0, (DT_DIF_NTREGS - t->n) * sizeof(t->v[0]));
	return dt_vm_call(vm, subr, t->v, t->n);
}

/* A function calls none, so this goes no deeper. The caller's offset becomes that of a fault. */
static uint64_t call_function(dt_vm *vm, const dt_difo *d, uint32_t n, struct tuple *t)
{
	t->n = 0;
	if (n >= d->nfunctions || d->functions[n]->nfunctions)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	return dt_vm_run(vm, d->functions[n]);
}

/* ---- one instruction ---- */

struct run {
	uint64_t reg[DT_VM_NREGS];
	struct flags flags;
	struct tuple tuple;
	uint32_t pc; /* of the next instruction */
	bool done;
	uint64_t result;
};

/* Variables; the instruction's index field is the id, its last register the value. */
static void variable(dt_vm *vm, struct run *r, uint32_t op, uint32_t id, uint64_t *rd)
{
	const struct tuple *t = &r->tuple;

	switch (op) {
	case DT_OP_LDGS:
		*rd = id < DT_VAR_USER_MIN ? dt_vm_builtin(vm, id)
					   : dt_vm_var_load(&vm->globals, id);
		break;
	case DT_OP_STGS: dt_vm_var_store(vm, &vm->globals, id, *rd); break;
	case DT_OP_LDLS: *rd = dt_vm_var_load(&vm->locals, id); break;
	case DT_OP_STLS: dt_vm_var_store(vm, &vm->locals, id, *rd); break;
	case DT_OP_LDTS: *rd = dt_vm_dyn_load(vm, id, true, NULL, 0); break;
	case DT_OP_STTS: dt_vm_dyn_store(vm, id, true, NULL, 0, *rd); break;
	case DT_OP_LDGAA: *rd = dt_vm_dyn_load(vm, id, false, t->v, t->n); break;
	case DT_OP_STGAA: dt_vm_dyn_store(vm, id, false, t->v, t->n, *rd); break;
	case DT_OP_LDTAA: *rd = dt_vm_dyn_load(vm, id, true, t->v, t->n); break;
	case DT_OP_STTAA: dt_vm_dyn_store(vm, id, true, t->v, t->n, *rd); break;
	}
}

static void arithmetic(dt_vm *vm, uint32_t op, uint64_t a, uint64_t b, uint64_t *rd)
{
	switch (op) {
	case DT_OP_OR: *rd = a | b; break;
	case DT_OP_XOR: *rd = a ^ b; break;
	case DT_OP_AND: *rd = a & b; break;
	case DT_OP_SLL: *rd = a << (b & 63); break;
	case DT_OP_SRL: *rd = a >> (b & 63); break;
	case DT_OP_SRA: *rd = shift_right_signed(a, b & 63); break;
	case DT_OP_SUB: *rd = a - b; break;
	case DT_OP_ADD: *rd = a + b; break;
	case DT_OP_MUL: *rd = a * b; break;
	case DT_OP_NOT: *rd = ~a; break;
	case DT_OP_MOV: *rd = a; break;
	default: *rd = divide(vm, op, a, b); break;
	}
}

static void step(dt_vm *vm, const dt_difo *d, struct run *r, dt_instr i)
{
	uint32_t op = DT_I_OP(i), r2 = DT_I_R2(i), index = DT_I_INDEX(i);
	uint64_t a = r->reg[DT_I_R1(i) % DT_VM_NREGS], b = r->reg[r2 % DT_VM_NREGS], *rd = &r->reg[DT_I_RD(i) % DT_VM_NREGS];
	void *p;

	switch (op) {
	case DT_OP_OR ... DT_OP_MOV:
	case DT_OP_SRA: arithmetic(vm, op, a, b, rd); break;
	case DT_OP_CMP: r->flags = compare(a, b); break;
	case DT_OP_TST: r->flags = (struct flags){.z = a == 0}; break;
	case DT_OP_SCMP: r->flags = compare_strings(vm, a, b); break;
	case DT_OP_BA ... DT_OP_BLEU:
		if (!branch_taken(op, &r->flags))
			break;
		if (DT_I_LABEL(i) < r->pc) /* pc is already past this instruction */
			dt_vm_fault(vm, DT_FLT_ILLOP, 0);
		else
			r->pc = DT_I_LABEL(i);
		break;
	case DT_OP_LDSB ... DT_OP_LDX: *rd = load(vm, op - DT_OP_LDSB, a); break;
	case DT_OP_RLDSB ... DT_OP_RLDX: *rd = load(vm, op - DT_OP_RLDSB, a); break;
	case DT_OP_ULDSB ... DT_OP_ULDX: *rd = load_user(vm, op - DT_OP_ULDSB, a); break;
	case DT_OP_STB ... DT_OP_STX: store(vm, 1u << (op - DT_OP_STB), *rd, a); break;
	case DT_OP_RET:
		r->result = *rd;
		r->done = true;
		break;
	case DT_OP_NOP: break;
	case DT_OP_SETX:
		*rd = index < d->intlen ? d->inttab[index] : dt_vm_fault(vm, DT_FLT_ILLOP, 0);
		break;
	case DT_OP_SETS:
		*rd = index < d->strlen ? dt_vm_addr(d->strtab + index)
					: dt_vm_fault(vm, DT_FLT_ILLOP, 0);
		break;
	case DT_OP_LDGA: *rd = dt_vm_builtin_array(vm, DT_I_R1(i), b); break;
	case DT_OP_LDGS:
	case DT_OP_STGS:
	case DT_OP_LDTS:
	case DT_OP_STTS:
	case DT_OP_LDGAA ... DT_OP_STLS: variable(vm, r, op, index, rd); break;
	case DT_OP_CALL:
		*rd = index < DT_CALL_FUNCTION ? call(vm, index, &r->tuple)
					       : call_function(vm, d, index - DT_CALL_FUNCTION, &r->tuple);
		break;
	case DT_OP_PUSHTR: push(vm, &r->tuple, (dt_vm_arg){DT_I_TYPE(i), true, *rd, b}); break;
	case DT_OP_PUSHTV: push(vm, &r->tuple, (dt_vm_arg){DT_TYPE_CTF, false, *rd, 8}); break;
	case DT_OP_POPTS: r->tuple.n -= r->tuple.n > 0; break;
	case DT_OP_FLUSHTS: r->tuple.n = 0; break;
	case DT_OP_ALLOCS:
		p = dt_vm_alloc(vm, a);
		*rd = p ? dt_vm_addr(p) : 0;
		break;
	case DT_OP_COPYS: copy_block(vm, a, *rd, b); break;
	default: /* ldta (no thread-local arrays exist), stga (no registers to write), xlate, xlarg
		  */
		dt_vm_fault(vm, DT_FLT_ILLOP, 0);
		break;
	}
	r->reg[0] = 0;
}

/* Most DIFOs are a constant or a variable: two instructions. */
static bool is_short(const dt_difo *d)
{
	uint32_t op = DT_I_OP(d->text[0]), index = DT_I_INDEX(d->text[0]), rd = DT_I_RD(d->text[0]);

	return d->len == 2 && rd && DT_I_OP(d->text[1]) == DT_OP_RET && DT_I_RD(d->text[1]) == rd &&
	       ((op == DT_OP_SETX && index < d->intlen) || (op == DT_OP_LDGS && index >= DT_VAR_ARG0 && index <= DT_VAR_ARG9));
}

static uint64_t run_short(dt_vm *vm, const dt_difo *d)
{
	uint32_t index = DT_I_INDEX(d->text[0]);
	uint64_t value;

	vm->faulted = false;
	if (DT_I_OP(d->text[0]) == DT_OP_SETX)
		return d->inttab[index];
	value = dt_vm_builtin(vm, index);
	vm->fault.offset = vm->faulted ? 0 : vm->fault.offset;
	return value;
}

uint64_t dt_vm_run(dt_vm *vm, const dt_difo *d)
{
	struct run r;

	if (is_short(d))
		return run_short(vm, d);
	memset(r.reg, 0, sizeof(r.reg));
	r.flags = (struct flags){0};
	r.tuple.n = r.pc = 0;
	r.done = false;
	r.result = 0;
	vm->faulted = false;
	while (r.pc < d->len && !r.done) {
		uint32_t at = r.pc++;

		step(vm, d, &r, d->text[at]);
		if (vm->faulted) {
			vm->fault.offset = (int32_t)(at * sizeof(dt_instr));
			return 0;
		}
	}
	return r.result;
}
