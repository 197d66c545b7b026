/*
 * tr_early: leaving before anything else is done, where the predicates of all clauses say so.
 *
 *	/pid == 1234/		/execname == "x" && arg0 > 5/
 *
 * A predicate that begins with such a comparison, and is 0 where that fails, is first tested here: without a slot, and
 * without looking for the probe. What passes is tested again by its clause, which costs a nanosecond or two; what
 * fails, usually most of all firings, costs half as much as with a slot.
 *
 * Only for programs in which a firing has no other effect: a prologue may keep something for the next firing, a buffer
 * that is counted to the byte reserves space before it tests (tr_clause.c), a later program may have more clauses.
 */
#include "bpf/translate/translate.h"

#define COMM_SIZE 16

/* A comparison for equality at the beginning of a DIFO */
struct test {
	uint32_t var;	 /* DT_VAR_PID, DT_VAR_EXECNAME */
	uint64_t number; /* what it is compared with ... */
	const char *text;
};

/* Is the value 0 if the program continues at pc after a comparison that failed? Only what a compiler makes of && and == is
 * followed: constants and branches on them. */
static bool is_zero_from(const dt_difo *d, uint32_t pc)
{
	uint64_t reg[DT_DIF_NREGS] = {0};
	uint32_t known = 1;

	for (; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		uint32_t r1 = DT_I_R1(i), rd = DT_I_RD(i);

		switch (DT_I_OP(i)) {
		case DT_OP_NOP: break;
		case DT_OP_BA: pc = DT_I_LABEL(i) - 1; break;
		case DT_OP_SETX:
			if (rd >= DT_DIF_NREGS || DT_I_INDEX(i) >= d->intlen)
				return false;
			reg[rd] = d->inttab[DT_I_INDEX(i)];
			known |= 1u << rd;
			break;
		case DT_OP_MOV:
			if (rd >= DT_DIF_NREGS || r1 >= DT_DIF_NREGS || !(known >> r1 & 1))
				return false;
			reg[rd] = reg[r1];
			known |= 1u << rd;
			break;
		case DT_OP_RET: return rd < DT_DIF_NREGS && known >> rd & 1 && reg[rd] == 0;
		default: return false;
		}
	}
	return false;
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
	if ((!string && out->var != DT_VAR_PID) || set != (string ? DT_OP_SETS : DT_OP_SETX) ||
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
		return is_zero_from(d, DT_I_LABEL(i[3]));
	return DT_I_OP(i[3]) == DT_OP_BE && is_zero_from(d, 4);
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
	n = strlen(x->text);
	if (n >= COMM_SIZE || !name_offsets(t, &leader, &comm))
		return; /* no process has such a name */
	memcpy(bytes, x->text, n);
	helper(c, BPF_FUNC_get_current_task_btf);
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

void dt_tr_leave_early(dt_tr *t, uint32_t out)
{
	const struct dt_plan_prog *p = dt_tr_prog(t);
	dt_code *c = t->c;
	uint32_t same = dt_code_label(c);
	struct test x;

	if (dt_kind_is_tracer(p->kind) || p->prologues || p->group.task_arg || t->plan->buffers.small || t->need->is.left ||
	    dt_plan_has_rest(t->plan, t->prog) || p->rest)
		return;
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (!can_test(t, &t->plan->clauses.v[p->clauses[i]], &x))
			return;
	mov(c, R7, R1);
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (can_test(t, &t->plan->clauses.v[p->clauses[i]], &x))
			emit_test(t, &x, same);
	ja(c, out);
	dt_code_place(c, same);
	mov(c, R1, R7);
}
