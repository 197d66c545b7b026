/*
 * tr_early: leaving before anything else is done, where the predicates of all clauses say so.
 *
 *	/pid == 1234/		/execname == "x" && arg0 > 5/		/arg0 == 5/
 *
 * A predicate that begins with such a comparison, and is 0 where that fails, is first tested here: without a slot, and
 * without looking for the probe (for arguments of system calls: after it has been found). What passes is tested again by its clause, which costs a nanosecond or two; what
 * fails, usually most of all firings, costs half as much as with a slot.
 *
 * Only for programs in which a firing has no other effect: a prologue may keep something for the next firing, a buffer
 * that is counted to the byte reserves space before it tests (tr_clause.c), a later program may have more clauses.
 */
#include "arch/arch.h"
#include "bpf/translate/translate.h"

#define COMM_SIZE 16

/* A comparison for equality at the beginning of a DIFO */
struct test {
	uint32_t var;	 /* DT_VAR_PID, DT_VAR_EXECNAME, or an argument */
	uint64_t number; /* what it is compared with ... */
	const char *text;
};

/* ---- what a DIFO is worth if something is known ---- */

struct known {
	uint64_t reg[DT_DIF_NREGS], a, b; /* a, b: what was compared */
	uint32_t regs;			  /* bit n: reg[n] is known */
	bool compared;			  /* a and b are */
	bool no_thread;			  /* thread-local variables are 0 */
};

static void know(struct known *k, uint32_t rd, bool known, uint64_t n)
{
	if (!rd || rd >= DT_DIF_NREGS)
		return;
	k->reg[rd] = n;
	k->regs = (k->regs & ~(1u << rd)) | (uint32_t)known << rd;
}

static bool is_known(const struct known *k, uint32_t r)
{
	return r < DT_DIF_NREGS && k->regs >> r & 1;
}

static bool is_taken(uint32_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DT_OP_BE: return a == b;
	case DT_OP_BNE: return a != b;
	case DT_OP_BG: return sa > sb;
	case DT_OP_BGU: return a > b;
	case DT_OP_BGE: return sa >= sb;
	case DT_OP_BGEU: return a >= b;
	case DT_OP_BL: return sa < sb;
	case DT_OP_BLU: return a < b;
	case DT_OP_BLE: return sa <= sb;
	case DT_OP_BLEU: return a <= b;
	default: return true; /* BA */
	}
}

/* Is the value 0 if the DIFO continues at pc with what is known? Only what a compiler makes of &&, || and comparisons is followed. */
static bool is_zero_from(const dt_difo *d, uint32_t pc, struct known k)
{
	k.regs |= 1; /* the constant 0 */
	for (; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		uint32_t op = DT_I_OP(i), r1 = DT_I_R1(i), r2 = DT_I_R2(i), rd = DT_I_RD(i);

		switch (op) {
		case DT_OP_NOP: break;
		case DT_OP_SETX:
			if (DT_I_INDEX(i) >= d->intlen)
				return false;
			know(&k, rd, true, d->inttab[DT_I_INDEX(i)]);
			break;
		case DT_OP_LDTS: know(&k, rd, k.no_thread, 0); break;
		case DT_OP_MOV: know(&k, rd, is_known(&k, r1), is_known(&k, r1) ? k.reg[r1] : 0); break;
		case DT_OP_CMP:
		case DT_OP_TST:
			k.compared = is_known(&k, r1) && (op == DT_OP_TST || is_known(&k, r2));
			k.a = k.compared ? k.reg[r1] : 0;
			k.b = k.compared && op == DT_OP_CMP ? k.reg[r2] : 0;
			break;
		case DT_OP_BA ... DT_OP_BLEU:
			if (op != DT_OP_BA && !k.compared)
				return false;
			if (is_taken(op, k.a, k.b))
				pc = DT_I_LABEL(i) - 1;
			break;
		case DT_OP_RET: return is_known(&k, rd) && k.reg[rd] == 0;
		default: return false;
		}
	}
	return false;
}

bool dt_tr_needs_thread(const dt_tr *t, const dt_difo *d)
{
	struct dt_tr_var x = dt_tr_var_find(t, DT_SCOPE_THREAD, d->len ? DT_I_INDEX(d->text[0]) : 0);

	return d->len && DT_I_OP(d->text[0]) == DT_OP_LDTS && x.v && x.v->seen && !x.array &&
	       is_zero_from(d, 0, (struct known){.no_thread = true});
}

/* ---- tests ---- */

static bool is_arg(uint32_t var)
{
	return var >= DT_VAR_ARG0 && var < DT_VAR_ARG0 + DT_NELEM(dt_arch_host()->entry.arg);
}

/* ldgs VARIABLE, %r1;  setx or sets CONSTANT, %r2;  cmp or scmp %r1, %r2;  be or bne LABEL */
static bool begins_with(const dt_difo *d, struct test *out)
{
	const dt_instr *i = d->text;
	uint32_t set, index;
	bool string;

	if (d->len < 5 || DT_I_OP(i[0]) != DT_OP_LDGS)
		return false;
	out->var = DT_I_INDEX(i[0]);
	string = out->var == DT_VAR_EXECNAME;
	set = DT_I_OP(i[1]);
	index = DT_I_INDEX(i[1]);
	if ((!string && out->var != DT_VAR_PID && !is_arg(out->var)) || set != (string ? DT_OP_SETS : DT_OP_SETX) ||
	    DT_I_OP(i[2]) != (string ? DT_OP_SCMP : DT_OP_CMP) || index >= (string ? d->strlen : d->intlen))
		return false;
	if (DT_I_R1(i[2]) != DT_I_RD(i[0]) || DT_I_R2(i[2]) != DT_I_RD(i[1]) || DT_I_RD(i[0]) == DT_I_RD(i[1]) ||
	    DT_I_RD(i[0]) == 0 || DT_I_RD(i[1]) == 0)
		return false;
	if (string)
		out->text = d->strtab + index;
	else
		out->number = d->inttab[index];
	if (DT_I_OP(i[3]) == DT_OP_BNE)
		return is_zero_from(d, DT_I_LABEL(i[3]), (struct known){0});
	return DT_I_OP(i[3]) == DT_OP_BE && is_zero_from(d, 4, (struct known){0});
}

/* Where the name of the process is: offsets from the task, and from its first thread */
static bool name_offsets(const dt_tr *t, uint32_t *leader, uint32_t *comm)
{
	return t->loads->trusts && dt_plan_can(t->plan, BTF) && dt_tr_find_field(t->plan, "task_struct", "group_leader", leader) &&
	       dt_tr_find_field(t->plan, "task_struct", "comm", comm) && *comm % 8 == 0 && *comm <= DT_SLOT_FAR;
}

static bool can_test(const dt_tr *t, const struct dt_plan_clause *x, struct test *out)
{
	uint32_t leader, comm;

	if (!x->c->pred || !begins_with(x->c->pred, out))
		return false;
	if (is_arg(out->var)) /* of a system call; the probe is known then, and whether it is one of a 32-bit program */
		return t->prog_kind == PK_ENTRY && dt_tr_finds_first(t) && dt_plan_can(t->plan, BTF);
	return out->var == DT_VAR_PID ? !t->plan->features.pidns_ino : name_offsets(t, &leader, &comm);
}

/* if (it is equal) goto same */
static void emit_test(dt_tr *t, const struct test *x, uint32_t same)
{
	dt_code *c = t->c;
	uint32_t leader, comm, differ = dt_code_label(c);
	char bytes[COMM_SIZE] = {0};
	uint64_t word;
	size_t n;

	if (x->var == DT_VAR_PID) {
		helper(c, BPF_FUNC_get_current_pid_tgid);
		alui(c, BPF_RSH, R0, 32);
		movq(c, R1, x->number);
		jmp(c, BPF_JEQ, R0, R1, same);
		return;
	}
	if (is_arg(x->var)) {
		dt_tr_if_compat(t, same); /* its arguments are elsewhere */
		helper(c, BPF_FUNC_get_current_task_btf);
		mov(c, R1, R0);
		helper(c, BPF_FUNC_task_pt_regs);
		ld(c, 8, R0, R0, DT_REG_AT(dt_arch_host()->entry.arg[x->var - DT_VAR_ARG0]));
		movq(c, R1, x->number);
		jmp(c, BPF_JEQ, R0, R1, same);
		return;
	}
	n = strlen(x->text);
	if (n >= COMM_SIZE || !name_offsets(t, &leader, &comm))
		return; /* no process has such a name */
	memcpy(bytes, x->text, n);
	dt_tr_typed_task(t);
	ld(c, 8, R0, R0, (int)leader);
	for (size_t at = 0; at < n + 1; at += 8) { /* with the NUL; all after it is zero */
		memcpy(&word, bytes + at, 8);
		ld(c, 8, R1, R0, (int)(comm + at));
		movq(c, R2, word);
		jmp(c, BPF_JNE, R1, R2, differ);
	}
	ja(c, same);
	dt_code_place(c, differ);
}

void dt_tr_leave_early(dt_tr *t, bool found, uint32_t out)
{
	const struct dt_plan_prog *p = dt_tr_prog(t);
	dt_code *c = t->c;
	uint32_t same = dt_code_label(c);
	bool args = false;
	struct test x;

	if (dt_kind_is_tracer(p->kind) || p->prologues || p->group.task_arg || t->plan->buffers.small || t->need->is.left ||
	    dt_plan_has_rest(t->plan, t->prog) || p->rest)
		return;
	for (uint32_t i = 0; i < p->nclauses; i++) {
		if (!can_test(t, &t->plan->clauses.v[p->clauses[i]], &x))
			return;
		args = args || is_arg(x.var);
	}
	if (args != found)
		return;
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (can_test(t, &t->plan->clauses.v[p->clauses[i]], &x))
			emit_test(t, &x, same);
	ja(c, out);
	dt_code_place(c, same);
}
