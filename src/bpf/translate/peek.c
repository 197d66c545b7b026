/*
 * peek: reads numbers from kernel memory at the cost of a load.
 *
 * A call of probe_read_kernel() costs about 24 ns, twenty times a load. There are two ways to avoid
 * it.
 *
 * Any address: since Linux 6.2 a program may treat any address as a structure of a given type
 * (bpf_rdonly_cast(), which emits no code), and load from it: if the address is bad the kernel
 * catches the fault, and the load gives 0. So
 *
 *	r0 = *(size *)bpf_rdonly_cast(r3, struct pt_regs); if (r0 == 0) r0 = what the helper says
 *
 * is equivalent to the helper, including faults, and mostly avoids it: values are seldom 0. The
 * type does not matter as long as it begins with a number of 8 bytes.
 *
 * Both names are ids in the kernel's BTF. It is not opened for this alone, but programs that use
 * the kernel's structures have it open; others use the helper.
 *
 * Addresses that the kernel can prove: members of the current thread, and on kernels without the above those of the
 * arguments of a tracepoint or function, and what these point to. The kernel provides a typed
 * pointer to the thread, and to the arguments if the program is loaded for one tracepoint or
 * function. DIF registers are memory, where the type is lost; but the translator knows how the
 * address in a register was computed (V_TRUSTED: a path from such a pointer), and starts there
 * again:
 *
 *	curthread->real_parent->tgid	r0 = get_current_task_btf(); r0 = *(u64 *)(r0 + real_parent); r0 = *(u32 *)(r0 + tgid)
 *
 * The thread always exists: a value read from it needs no second check, even if it is 0. A pointer
 * found there can be bad and is treated as above.
 *
 * The kernel checks that a typed load matches a member. If it refuses a program because of any of
 * this, the program is loaded without it (load.c).
 */
#include <stdlib.h>

#include "bpf/translate/translate.h"

struct dt_tr_loads dt_tr_find_loads(const dt_plan *p)
{
	for (uint32_t i = 0; i < p->progs.n && p->types; i++)
		if (p->progs.v[i].nclauses > 1 || p->returns || dt_kind_is_syscall(p->progs.v[i].kind))
			dt_types_kernel_problem(p->types); /* ids are known from now on, for those who cast */
	return (struct dt_tr_loads){
	    .casts = dt_plan_can(p, BTF), .trusts = dt_plan_can(p, BTF), .loops = true, .calls = true, .memory_keys = true};
}

/* The ids of a type and of the function; false: not known. Looked for when some code wants them. */
static bool find_cast(const dt_plan *p, const struct dt_tr_loads *l, const char *name, uint32_t *type, uint32_t *func)
{
	if (!l->casts || !p->types)
		return false;
	*type = dt_kernel_id(p->types, name, false);
	*func = *type ? dt_kernel_id(p->types, "bpf_rdonly_cast", true) : 0;
	return *func != 0;
}

static bool casts(const dt_plan *p, const struct dt_tr_loads *l)
{
	uint32_t type, func;

	return find_cast(p, l, "pt_regs", &type, &func);
}

/* r0 = the address in a register, as a pointer to that type */
static void cast(dt_code *c, int from, uint32_t type, uint32_t func)
{
	mov(c, R1, from);
	movi(c, R2, (int32_t)type);
	kernel_function(c, (int32_t)func);
}

bool dt_tr_can_cast(const dt_tr *t, const char *name)
{
	uint32_t type, func;

	return find_cast(t->plan, t->loads, name, &type, &func);
}

void dt_tr_cast(dt_tr *t, const char *name)
{
	uint32_t type = 0, func = 0;

	find_cast(t->plan, t->loads, name, &type, &func);
	cast(t->c, R3, type, func);
}

/*
 * The kernel searches all names of its types for each pointer that is followed from one that it trusts, which takes it 1 ms. In
 * a program of many clauses the pointer is one that it does not trust; then each load checks the address, which takes less than
 * a nanosecond.
 */
void dt_tr_typed_task(dt_tr *t)
{
	uint32_t type, func;

	if (dt_tr_known_task(t, R3)) {
		dt_tr_cast(t, "task_struct");
		return;
	}
	dt_tr_task(t, true);
	if (dt_tr_prog(t)->nclauses > 1 && find_cast(t->plan, t->loads, "task_struct", &type, &func))
		cast(t->c, R0, type, func);
}

bool dt_tr_direct(dt_tr *t, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t type, func;

	if (!find_cast(t->plan, t->loads, "pt_regs", &type, &func))
		return false;
	cast(c, R3, type, func);
	ld(c, size, R0, R0, 0);
	return true;
}

void dt_tr_peek(dt_tr *t, uint32_t size)
{
	dt_code *c = t->c;

	if (dt_tr_direct(t, size))
		return;
	dt_slot_lea(c, R1, S_TMP);
	movi(c, R2, (int32_t)size);
	helper(c, BPF_FUNC_probe_read_kernel); /* leaves zeros when it fails */
	ld(c, size, R0, R6, S_TMP);
}

/* ---- addresses that the kernel can prove ---- */

static bool is_struct_pointer(dt_type *t)
{
	dt_type *to;

	t = dt_type_resolve(t);
	if (!t || t->kind != DT_K_POINTER || !t->ref)
		return false;
	to = dt_type_resolve(t->ref);
	return to && (to->kind == DT_K_STRUCT || to->kind == DT_K_FORWARD);
}

uint32_t dt_tr_tracepoint_id(const dt_plan *p, const char *event)
{
	char *name = dt_xasprintf("btf_trace_%s", event);
	dt_type *t = dt_type_lookup(p->types, "vmlinux", DT_NS_ORDINARY, name);

	free(name);
	return t ? t->btf_id : 0;
}

uint32_t dt_tr_typed_args(const dt_plan *plan, const struct dt_tr_loads *loads, uint32_t prog)
{
	const struct dt_plan_prog *p = &plan->progs.v[prog];
	dt_types *ts = plan->types;
	bool tracepoint = p->kind == PK_TRACEPOINT,
	     function = p->kind == PK_FUNC_ENTRY && dt_plan_is_direct(p);
	uint32_t mask = 0, first = tracepoint;
	const dt_attach *at;
	dt_type *f;

	if (!ts || !loads->trusts || p->only == UINT32_MAX || !(tracepoint || function) ||
	    casts(plan, loads))
		return 0;
	at = &plan->probes.v[p->only].at;
	if (tracepoint && !dt_tr_tracepoint_id(plan, at->event))
		return 0; /* of a module */
	f = tracepoint ? dt_tracepoint_type(ts, at->event)
		       : dt_type_of_symbol(ts, at->module, at->event);
	if (f)
		dt_type_complete(ts, f);
	for (uint32_t i = first; f && i < f->nparams && i < first + 6; i++)
		if (is_struct_pointer(f->params[i]))
			mask |= 1u << (i - first);
	return mask;
}

dt_tr_val dt_tr_trusted(const dt_tr *t, uint32_t root)
{
	if (!t->loads->trusts || (root && !(t->typed >> (root - 1) & 1)))
		return NUMBER;
	return (dt_tr_val){.kind = V_TRUSTED, .path.root = (uint8_t)root};
}

#define FAR 32000 /* beyond the offset of an instruction */

dt_tr_val dt_tr_sum(const dt_tr_val *a, const dt_tr_val *b)
{
	const dt_tr_val *n = a->kind == V_TRUSTED ? b : a;
	dt_tr_val sum = a->kind == V_TRUSTED ? *a : *b;

	if (sum.kind != V_TRUSTED || n->kind != V_CONST || sum.n + n->n > FAR)
		return NUMBER;
	sum.n += n->n;
	return sum;
}

enum dt_tr_trust dt_tr_trust(const dt_tr *t, const dt_tr_val *v, uint32_t size)
{
	if (v->kind != V_TRUSTED || !t->loads->trusts || v->n % size)
		return TRUST_NO;
	if (v->path.root == 0 && v->path.nhops == 0)
		return TRUST_YES;
	return casts(t->plan, t->loads) ? TRUST_NO
					: TRUST_MAYBE; /* which is equivalent, and shorter */
}

void dt_tr_trusted_load(dt_tr *t, const dt_tr_val *v, uint32_t size)
{
	if (v->path.root == 0 && (v->path.nhops || dt_tr_remembers_task(t)))
		dt_tr_typed_task(t);
	else if (v->path.root == 0)
		dt_tr_task(t, true);
	else
		ld(t->c, 8, R0, R7, (v->path.root - 1) * 8);
	for (uint32_t i = 0; i < v->path.nhops; i++)
		ld(t->c, 8, R0, R0, v->path.hop[i]);
	ld(t->c, size, R0, R0, (int)v->n);
}

dt_tr_val dt_tr_followed(const dt_tr_val *v, uint32_t size)
{
	dt_tr_val next = *v;

	if (v->kind != V_TRUSTED || size != 8 || v->path.nhops == DT_NELEM(v->path.hop))
		return NUMBER;
	next.path.hop[next.path.nhops++] = (uint16_t)v->n;
	next.n = 0;
	return next;
}
