/*
 * tr_event: which probe fired, by the number of a system call, by the attach cookie, or by the address
 * of a kernel function.
 *
 * At system calls that is found out first, so that those that are not traced cost a comparison or two, and no slot.
 */
#include <stddef.h>

#include "arch/arch.h"
#include "arch/syscalls.h"
#include "bpf/translate/translate.h"

enum { FOUND_FLAGS = -16, FOUND_IDS = -24 }; /* on the stack: slot->flags, slot->ids, while there is no slot */

/* Without type information the number, and whether the program is a 32-bit one, are read into the slot. */
bool dt_tr_finds_first(const dt_tr *t)
{
	return dt_kind_is_syscall(t->prog_kind) && dt_plan_can(t->plan, BTF) && !dt_plan_continues(t->plan, t->prog) &&
	       !dt_plan_has_rest(t->plan, t->prog) && !dt_tr_prog(t)->rest;
}

/* The thread is looked up in any case, for task_status(). So its ids are read from it, which saves a call. */
static bool keeps_ids(const dt_tr *t, uint32_t *pid, uint32_t *tgid)
{
	return dt_tr_finds_first(t) && dt_plan_can(t->plan, COMPAT) && !t->plan->features.pidns_ino && !t->task_arg &&
	       (t->learn || t->loads->trusts) && dt_tr_find_field(t->plan, "task_struct", "pid", pid) &&
	       dt_tr_find_field(t->plan, "task_struct", "tgid", tgid);
}

bool dt_tr_ids(dt_tr *t)
{
	uint32_t pid, tgid;

	if (!keeps_ids(t, &pid, &tgid))
		return false;
	dt_tr_reads(t, ids);
	if (!t->learn && !t->need->reads.ids)
		return false;
	ld(t->c, 8, R0, R6, S_IDS);
	return true;
}

/* *FOUND_IDS = process and thread of the task in r0 */
static void keep_ids(dt_tr *t)
{
	uint32_t pid, tgid;
	dt_code *c = t->c;

	if (!t->need->reads.ids || !keeps_ids(t, &pid, &tgid))
		return;
	ld(c, 4, R3, R0, (int)tgid);
	ld(c, 4, R4, R0, (int)pid);
	alui(c, BPF_LSH, R3, 32);
	alu(c, BPF_OR, R3, R4);
	st(c, 8, R10, FOUND_IDS, R3);
}

/* r2 = the word of the task that has compat_bit in it. Reading it through a typed pointer costs
 * almost nothing. */
static void task_status(dt_tr *t, uint32_t out)
{
	int at = dt_arch_host()->entry.compat_at;
	dt_code *c = t->c;

	if (dt_plan_can(t->plan, BTF)) {
		dt_tr_current(t, out);
		ld(c, 4, R2, R0, at);
		keep_ids(t);
		return;
	}
	helper(c, BPF_FUNC_get_current_task);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, at);
	dt_tr_peek(t, 4);
	mov(c, R2, R0);
}

/*
 * System calls of 32-bit programs have their own numbers, here from DT_SYSCALL_COMPAT. Programs of
 * a third interface (x32) use those of 64-bit programs, with a bit set.
 *
 *	if (r1 >= DT_SYSCALL_COMPAT) goto no
 *	if (task is in a 32-bit call) { r1 += DT_SYSCALL_COMPAT; set_compat() }
 */
static void set_compat(dt_tr *t)
{
	if (dt_tr_finds_first(t))
		sti(t->c, 4, R10, FOUND_FLAGS, SF_COMPAT);
	else
		sti(t->c, 4, R6, S_FLAGS, SF_COMPAT);
}

static void compat_number(dt_tr *t, uint32_t no)
{
	const struct dt_arch_entry *entry = &dt_arch_host()->entry;
	dt_code *c = t->c;
	uint32_t native = dt_code_label(c);

	if (dt_plan_can(t->plan, THIRD_ABI))
		alui(c, BPF_AND, R1, (int32_t)~entry->number_bit);
	if (!t->compat)
		return;
	jmpi(c, BPF_JGE, R1, DT_SYSCALL_COMPAT, no);
	mov(c, R8, R1);
	task_status(t, no);
	mov(c, R1, R8);
	alui(c, BPF_AND, R2, (int32_t)entry->compat_bit);
	jmpi(c, BPF_JEQ, R2, 0, native);
	alui(c, BPF_ADD, R1, DT_SYSCALL_COMPAT);
	set_compat(t);
	dt_code_place(c, native);
}

/* Used where only calls of 64-bit programs are enabled, once the number is known to be enabled. */
static void skip_compat(dt_tr *t, uint32_t no)
{
	if (!dt_plan_can(t->plan, COMPAT) || t->compat)
		return;
	task_status(t, no);
	jmpi(t->c, BPF_JSET, R2, (int32_t)dt_arch_host()->entry.compat_bit, no);
}

/* r1 = number of the event */
static void event_number(dt_tr *t)
{
	int number = DT_REG_AT(dt_arch_host()->entry.number), size = dt_arch_host()->entry.number_size;
	dt_code *c = t->c;

	switch (dt_kind_of(t->prog_kind)->event) {
	case EVENT_ONE: break;
	case EVENT_NUMBER: ld(c, 8, R1, R7, 8); break; /* sys_enter(regs, nr) */
	case EVENT_SAVED: /* sys_exit(regs, value): the number is in a register */
		ld(c, 8, R3, R7, 0);
		alui(c, BPF_ADD, R3, number);
		if (dt_tr_can_cast(t, "pt_regs") || !dt_plan_can(t->plan, BTF)) {
			dt_tr_peek(t, size);
			mov(c, R1, R0);
		} else {
			helper(c, BPF_FUNC_get_current_task_btf);
			mov(c, R1, R0);
			helper(c, BPF_FUNC_task_pt_regs);
			ld(c, size, R1, R0, number);
		}
		break;
	case EVENT_COOKIE:
	case EVENT_ROW:
		mov(c, R1, R7);
		helper(c, BPF_FUNC_get_attach_cookie);
		mov(c, R1, R0);
	}
}

uint32_t dt_tr_only_probe(const dt_tr *t, enum dt_probe_kind kind)
{
	for (uint32_t i = 0; i < t->plan->probes.n; i++)
		if (t->plan->probes.v[i].kind == kind)
			return i;
	return 0;
}

/* The same for places in user code:
 *	r8 = lookup(table, cookie); if (r8->pid && r8->pid is not we) goto no; slot->number = r8->number */
static void find_user_probe(dt_tr *t, uint32_t no)
{
	dt_code *c = t->c;
	uint32_t any = dt_code_label(c);

	event_number(t);
	st(c, 4, R10, -4, R1);
	map(c, R1, dt_tr_prog_maps(t)->events);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, -4);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, no);
	mov(c, R8, R0);
	ld(c, 4, R1, R8, (int)offsetof(struct dt_user_row, probe));
	jmpi(c, BPF_JEQ, R1, 0, no);
	alui(c, BPF_SUB, R1, 1);
	st(c, 4, R6, S_PROBE, R1);
	ld(c, 4, R1, R8, (int)offsetof(struct dt_user_row, pid));
	jmpi(c, BPF_JEQ, R1, 0, any);
	dt_tr_pid_tgid(t);
	alui(c, BPF_RSH, R0, 32);
	dt_tr_family_check(t, (int)offsetof(struct dt_user_row, pid), no);
	dt_code_place(c, any);
	ld(c, 4, R1, R8, (int)offsetof(struct dt_user_row, number));
	alui(c, BPF_LSH, R1, 32);
	alui(c, BPF_ARSH, R1, 32);
	st(c, 8, R6, S_NUMBER, R1);
	dt_tr_return_row(t);
}

/*
 * Functions of the kernel, by their address:
 *
 *	r0 = (function - base) / 16; if (r0 >= n || !(r1 = places[r0])) goto cookie
 *	slot->probe = r1 - 1; goto found	or, if the row is needed, goto row
 */
static void find_by_address(dt_tr *t, uint32_t found, uint32_t row)
{
	const struct dt_prog_maps *m = dt_tr_prog_maps(t);
	dt_code *c = t->c;
	uint32_t cookie = dt_code_label(c);

	mov(c, R1, R7);
	helper(c, BPF_FUNC_get_func_ip);
	movq(c, R1, m->places_base);
	alu(c, BPF_SUB, R0, R1);
	alui(c, BPF_RSH, R0, DT_PLACE_SHIFT);
	jmpi(c, BPF_JGE, R0, (int32_t)m->nplaces, cookie);
	alui(c, BPF_LSH, R0, 2);
	map_value(c, R1, m->places, 0);
	alu(c, BPF_ADD, R1, R0);
	ld(c, 4, R1, R1, 0);
	jmpi(c, BPF_JEQ, R1, 0, cookie);
	alui(c, BPF_SUB, R1, 1);
	if (dt_tr_prog_at(t)->masks) {
		ja(c, row);
	} else {
		st(c, 4, R6, S_PROBE, R1);
		ja(c, found);
	}
	dt_code_place(c, cookie);
}

/* r8 = the row of the table for the event in r1, r1 = the probe */
static void find_row(dt_tr *t, uint32_t no)
{
	const struct dt_prog_place *at = dt_tr_prog_at(t);
	dt_code *c = t->c;

	jmpi(c, BPF_JGE, R1, (int32_t)at->nevents, no);
	alui(c, BPF_MUL, R1, (int32_t)(1 + at->masks) * 4);
	map_value(c, R8, t->maps->rodata, at->table);
	alu(c, BPF_ADD, R8, R1);
	ld(c, 4, R1, R8, 0);
	jmpi(c, BPF_JEQ, R1, 0, no);
	alui(c, BPF_SUB, R1, 1);
}

/* ---- system calls ---- */

#define FEW 4 /* events that are compared one by one */

struct events {
	uint32_t n, probe[FEW];
};

/* False: there are more than a few. */
static bool few_events(const dt_tr *t, struct events *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < t->plan->probes.n; i++) {
		if (!dt_plan_serves(t->plan, dt_tr_prog(t), i) || !dt_plan_is_on(t->plan, dt_tr_prog(t), i))
			continue;
		if (out->n == FEW)
			return false;
		out->probe[out->n++] = i;
	}
	return true;
}

/* r8 = the row, or if there are no masks the probe */
static void is_probe(dt_tr *t, uint32_t probe)
{
	const struct dt_prog_place *at = dt_tr_prog_at(t);

	if (at->masks)
		map_value(t->c, R8, t->maps->rodata, at->table + t->plan->probes.v[probe].event * (1 + at->masks) * 4);
	else
		movi(t->c, R8, (int32_t)probe);
}

/* if (r1 == its number) { if (this is such a call) goto found, else out } */
static void compare_event(dt_tr *t, uint32_t probe, uint32_t other, uint32_t found, uint32_t out)
{
	uint32_t event = t->plan->probes.v[probe].event, next = dt_code_label(t->c);
	bool compat = event >= DT_SYSCALL_COMPAT, both = other != UINT32_MAX;
	int32_t bit = (int32_t)dt_arch_host()->entry.compat_bit;
	uint32_t second = dt_code_label(t->c);
	dt_code *c = t->c;

	jmpi(c, BPF_JNE, R1, (int32_t)(event % DT_SYSCALL_COMPAT), next);
	if (dt_plan_can(t->plan, COMPAT)) {
		task_status(t, out);
		alui(c, BPF_AND, R2, bit);
		jmpi(c, compat ? BPF_JEQ : BPF_JNE, R2, 0, both ? second : out);
	}
	is_probe(t, probe);
	if (compat)
		set_compat(t);
	ja(c, found);
	if (both && dt_plan_can(t->plan, COMPAT)) {
		dt_code_place(c, second);
		is_probe(t, other);
		if (!compat)
			set_compat(t);
		ja(c, found);
	}
	dt_code_place(c, next);
}

static void compare_events(dt_tr *t, const struct events *of, uint32_t out)
{
	const struct dt_plan_probe *p = t->plan->probes.v;
	uint32_t found = dt_code_label(t->c);

	for (uint32_t i = 0; i < of->n; i++) {
		uint32_t other = UINT32_MAX;
		bool seen = false;

		for (uint32_t k = 0; k < of->n; k++)
			if (k != i && p[of->probe[k]].event % DT_SYSCALL_COMPAT == p[of->probe[i]].event % DT_SYSCALL_COMPAT) {
				seen = seen || k < i;
				other = of->probe[k];
			}
		if (!seen)
			compare_event(t, of->probe[i], other, found, out);
	}
	ja(t->c, out);
	dt_code_place(t->c, found);
}

void dt_tr_find_first(dt_tr *t, uint32_t out)
{
	struct events few;
	dt_code *c = t->c;

	event_number(t);
	if (t->compat)
		sti(c, 4, R10, FOUND_FLAGS, 0);
	if (few_events(t, &few)) {
		if (dt_plan_can(t->plan, THIRD_ABI))
			alui(c, BPF_AND, R1, (int32_t)~dt_arch_host()->entry.number_bit);
		compare_events(t, &few, out);
		return;
	}
	compat_number(t, out);
	find_row(t, out);
	if (!dt_tr_prog_at(t)->masks)
		mov(c, R8, R1);
	skip_compat(t, out);
}

void dt_tr_if_compat(dt_tr *t, uint32_t label)
{
	if (!t->compat)
		return;
	ld(t->c, 4, R1, R10, FOUND_FLAGS);
	jmpi(t->c, BPF_JSET, R1, SF_COMPAT, label);
}

void dt_tr_found(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t ignored;

	if (t->need->reads.flags && t->compat) {
		ld(c, 4, R1, R10, FOUND_FLAGS);
		st(c, 4, R6, S_FLAGS, R1);
	} else if (t->need->reads.flags) {
		sti(c, 4, R6, S_FLAGS, 0);
	}
	dt_tr_found_task(t);
	if (t->need->reads.ids && keeps_ids(t, &ignored, &ignored)) {
		ld(c, 8, R1, R10, FOUND_IDS);
		st(c, 8, R6, S_IDS, R1);
	}
	if (!dt_tr_prog_at(t)->masks) {
		st(c, 4, R6, S_PROBE, R8);
		return;
	}
	ld(c, 4, R1, R8, 0);
	alui(c, BPF_SUB, R1, 1);
	st(c, 4, R6, S_PROBE, R1);
}

/* ---- all others ---- */

/* slot->probe; r8 = the row of the table. `no`: this one is not enabled. */
void dt_tr_find_probe(dt_tr *t, uint32_t no)
{
	const struct dt_plan_prog *p = dt_tr_prog(t);
	dt_code *c = t->c;
	uint32_t found = dt_code_label(c), row = dt_code_label(c);

	if (dt_kind_is_tracer(p->kind) || p->only != UINT32_MAX) {
		uint32_t probe = p->only != UINT32_MAX ? p->only : dt_tr_only_probe(t, p->kind);

		sti(c, 4, R6, S_PROBE, (int32_t)probe);
		return;
	}
	if (dt_kind_is_user(p->kind)) {
		find_user_probe(t, no);
		return;
	}
	if (dt_tr_prog_maps(t)->nplaces)
		find_by_address(t, found, row);
	event_number(t);
	if (dt_kind_is_syscall(p->kind))
		compat_number(t, no);
	dt_code_place(c, row);
	find_row(t, no);
	st(c, 4, R6, S_PROBE, R1);
	if (dt_kind_is_syscall(p->kind))
		skip_compat(t, no);
	dt_code_place(c, found);
}
