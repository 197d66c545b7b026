/*
 * tr_return: carries out the ret of a user function, so that the kernel need not single-step it.
 *
 * Since Linux 6.19 a program at a place in user code may change the registers of the thread, and if it changes the program
 * counter, the kernel leaves out the instruction that the breakpoint has replaced. So a program at a ret can return from the
 * function itself, after its clauses have run:
 *
 *	pc = *sp; sp += bytes that the instruction takes from the stack
 *
 * which is all that a ret does. It is done only if nothing else depends on the instruction being executed:
 *
 *	- Ours is the only program at this place. Others that come after it would see the registers of the caller, and one that
 *	  does the same would return twice. The kernel knows the place: task->utask->auprobe is a part of its struct uprobe, which
 *	  has the list of those who wait there.
 *	- The thread is in 64-bit code, no debugger executes it step by step, and it has no shadow stack, from which the CPU would
 *	  take an address as well.
 *	- The return address can be read, and is one of user memory.
 *
 * In all other cases registers stay as they are, and the kernel executes the instruction as before. Nothing is changed in the
 * memory of the process.
 */
#include <stddef.h>

#include "arch/arch.h"
#include "bpf/translate/translate.h"

struct fields {
	uint32_t utask, auprobe, arch, consumers, features;
	bool has_features;
};

static bool find_fields(const dt_plan *p, struct fields *f)
{
	const char *features = dt_arch_host()->ret.features;

	f->has_features = features && dt_tr_find_field(p, "task_struct", features, &f->features);
	return dt_tr_find_field(p, "task_struct", "utask", &f->utask) && dt_tr_find_field(p, "uprobe_task", "auprobe", &f->auprobe) &&
	       dt_tr_find_field(p, "uprobe", "arch", &f->arch) && dt_tr_find_field(p, "uprobe", "consumers.next", &f->consumers);
}

/* Parts of a firing in several programs are several programs at one place. */
static bool returns(const dt_tr *t, struct fields *f)
{
	return t->plan->returns && t->prog_kind == PK_URETPROBE && t->loads->casts && !dt_tr_prog(t)->rest &&
	       !dt_plan_has_rest(t->plan, t->prog) && find_fields(t->plan, f);
}

void dt_tr_return_begin(dt_tr *t)
{
	if (t->plan->returns && t->prog_kind == PK_URETPROBE)
		sti(t->c, 4, R6, S_POPS, 0);
}

void dt_tr_return_row(dt_tr *t)
{
	if (!t->plan->returns || t->prog_kind != PK_URETPROBE)
		return;
	ld(t->c, 4, R1, R8, (int)offsetof(struct dt_user_row, pops));
	st(t->c, 4, R6, S_POPS, R1);
}

void dt_tr_return_kept(dt_tr *t)
{
	if (t->plan->returns && t->prog_kind == PK_URETPROBE)
		ld(t->c, 4, R8, R6, S_POPS);
}

/* r0 = the word at r0 + offset */
static bool follow(dt_tr *t, uint32_t offset)
{
	mov(t->c, R3, R0);
	alui(t->c, BPF_ADD, R3, (int32_t)offset);
	return dt_tr_direct(t, 8);
}

/*
 *	r0 = task->utask->auprobe; if (!r0) goto out
 *	r9 = &container_of(r0)->consumers; if (r9->next->next != r9) goto out
 */
static bool leave_unless_alone(dt_tr *t, const struct fields *f, uint32_t out)
{
	dt_code *c = t->c;

	helper(c, BPF_FUNC_get_current_task);
	mov(c, R6, R0);
	if (f->has_features) {
		if (!follow(t, f->features))
			return false;
		jmpi(c, BPF_JSET, R0, (int32_t)dt_arch_host()->ret.shadowed, out);
		mov(c, R0, R6);
	}
	if (!follow(t, f->utask) || !follow(t, f->auprobe))
		return false;
	jmpi(c, BPF_JEQ, R0, 0, out);
	mov(c, R9, R0);
	alui(c, BPF_ADD, R9, (int32_t)f->consumers - (int32_t)f->arch);
	mov(c, R0, R9);
	if (!follow(t, 0))
		return false;
	jmp(c, BPF_JEQ, R0, R9, out);
	if (!follow(t, 0))
		return false;
	jmp(c, BPF_JNE, R0, R9, out);
	return true;
}

void dt_tr_return(dt_tr *t, uint32_t out)
{
	const dt_arch *a = dt_arch_host();
	struct fields f = {0};
	dt_code *c = t->c;

	if (!returns(t, &f))
		return;
	jmpi(c, BPF_JEQ, R8, 0, out);
	ld(c, 8, R1, R7, DT_REG_AT(a->ret.flags));
	jmpi(c, BPF_JSET, R1, (int32_t)a->ret.stepped, out);
	ld(c, 8, R1, R7, DT_REG_AT(a->entry.mode));
	alui(c, BPF_AND, R1, (int32_t)a->entry.mode_mask);
	jmpi(c, BPF_JNE, R1, (int32_t)a->entry.mode_native, out);
	if (!leave_unless_alone(t, &f, out))
		return;
	mov(c, R1, R10);
	alui(c, BPF_ADD, R1, -8);
	movi(c, R2, 8);
	ld(c, 8, R3, R7, DT_REG_AT(a->sp));
	helper(c, BPF_FUNC_probe_read_user);
	jmpi(c, BPF_JNE, R0, 0, out);
	ld(c, 8, R1, R10, -8);
	mov(c, R2, R1);
	alui(c, BPF_RSH, R2, a->ret.address_bits);
	jmpi(c, BPF_JNE, R2, 0, out);
	ld(c, 8, R2, R7, DT_REG_AT(a->sp));
	alu(c, BPF_ADD, R2, R8);
	st(c, 8, R7, DT_REG_AT(a->sp), R2);
	st(c, 8, R7, DT_REG_AT(a->pc), R1);
}
