/*
 * pe_unwind: tables for walking stacks (elf/cfi.h), of all code that the target has mapped, in shared memory. The runtime walks
 * by them (runtime/rt_stack.c).
 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "arch/arch.h"
#include "process/process.h"
#include "proc/control.h"

#define SPARE 64 /* of a list: mappings that come later */

static bool walks(const struct dt_vm_ecb *x)
{
	const dt_clause *c = x->ecb->clause;

	for (uint32_t i = 0; i < c->nactions; i++)
		if (x->record.actions[i].payload == DT_PAYLOAD_USTACK)
			return true;
	return dt_clause_reads(c, DT_VAR_UCALLER) || dt_clause_reads(c, DT_VAR_USTACKDEPTH);
}

static bool is_needed(const dt_pe *p)
{
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (walks(&p->host->ecbs[i]))
			return true;
	return false;
}

static dt_elf *open_object(const dt_pe *p, long pid, const dt_mapping *m)
{
	struct dt_elf_place place = {.path = m->path, .jail = p->jail};
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	dt_error err;
	int fd;

	if (m->kind == DT_MAP_VDSO) /* it is the same in us */
		return vdso ? dt_elf_open_memory(vdso, m->end - m->start, &err) : NULL;
	fd = dt_mapping_open(pid, m);
	return fd < 0 ? NULL : dt_elf_open_fd(fd, &place, &err);
}

static uint32_t object_of(dt_pe *p, long pid, const dt_mapping *m)
{
	uint64_t dev = (uint64_t)m->dev_major << 32 | m->dev_minor;
	struct dt_pe_object *o;
	dt_elf *elf;

	for (uint32_t i = 0; i < p->objects.n; i++)
		if (p->objects.v[i].inode == m->inode && p->objects.v[i].dev == dev)
			return i;
	o = dt_vec_add(&p->objects, NULL);
	*o = (struct dt_pe_object){.inode = m->inode, .dev = dev};
	elf = open_object(p, pid, m);
	if (elf)
		dt_unwind_read(elf, &o->table);
	dt_elf_free(elf);
	return p->objects.n - 1;
}

static uint32_t blocks_of(const dt_unwind *t)
{
	return t->n ? (t->rows[t->n - 1].pc >> DT_PE_BLOCK_BITS) + 1 : 0;
}

static bool is_walked(const dt_mapping *m)
{
	return m->exec && (m->kind == DT_MAP_FILE || m->kind == DT_MAP_VDSO);
}

uint64_t dt_pe_unwind_read(dt_pe *p)
{
	uint64_t size = 4096;

	for (uint32_t i = 0; i < p->maps->n; i++) {
		const dt_mapping *m = &p->maps->v[i];

		if (m->kind == DT_MAP_STACK)
			p->stack_end = m->end;
		if (!is_walked(m) || !is_needed(p))
			continue;
		object_of(p, p->target.pid, m);
		size += sizeof(struct dt_pe_code_map);
	}
	for (uint32_t i = 0; i < p->objects.n; i++)
		size += p->objects.v[i].table.n * sizeof(dt_unwind_row) + (blocks_of(&p->objects.v[i].table) + 1) * 4ull + 64;
	return size;
}

static void share_table(dt_pe *p, struct dt_pe_object *o)
{
	const dt_unwind *t = &o->table;
	uint32_t n = blocks_of(t), row = 0;
	uint32_t *index = dt_pe_alloc(p->room, (n + 1) * sizeof(*index));

	o->is_shared = true;
	o->shared.rows = dt_pe_copy(p->room, t->rows, t->n * sizeof(*t->rows));
	if (!index || !o->shared.rows || !t->n)
		return;
	for (uint32_t i = 0; i <= n; i++) {
		while (row + 1 < t->n && t->rows[row + 1].pc <= i << DT_PE_BLOCK_BITS)
			row++;
		index[i] = row;
	}
	o->shared.index = index;
	o->shared.nrows = t->n;
	o->shared.nblocks = n;
}

/* A list that no thread can be looking at any more: the target was seen outside of probes since then. */
static struct dt_pe_code *old_list(dt_pe *p, uint32_t n)
{
	struct dt_pe_code *old = p->code_lists[!p->code_list].list;

	return old && p->code_lists[!p->code_list].cap >= n && dt_pe_slots_quiet(p) ? old : NULL;
}

/* What is mapped now; the old list stays for threads that look at it. */
static void publish(dt_pe *p)
{
	struct dt_pe_code *list;
	uint32_t n = 0, cap;

	for (uint32_t i = 0; i < p->maps->n; i++)
		n += is_walked(&p->maps->v[i]);
	list = old_list(p, n);
	cap = list ? p->code_lists[!p->code_list].cap : n + SPARE;
	list = list ? list : dt_pe_alloc(p->room, sizeof(*list) + cap * sizeof(*list->v));
	if (!list)
		return;
	list->n = 0;
	for (uint32_t i = 0; i < p->maps->n; i++) {
		const dt_mapping *m = &p->maps->v[i];
		struct dt_pe_object *o;
		uint32_t at;

		if (!is_walked(m))
			continue;
		at = object_of(p, p->target.pid, m);
		o = &p->objects.v[at];
		if (!o->is_shared)
			share_table(p, o);
		list->v[list->n] = o->shared;
		list->v[list->n].start = m->start;
		list->v[list->n].end = m->end;
		list->v[list->n++].offset = m->offset;
	}
	p->code_list = !p->code_list;
	p->code_lists[p->code_list].list = list;
	p->code_lists[p->code_list].cap = cap;
	__atomic_store_n(&p->shared->code, list, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->shared->code_number, ++p->code_number, __ATOMIC_SEQ_CST); /* read first */
}

void dt_pe_unwind_again(dt_pe *p)
{
	if (is_needed(p))
		publish(p);
}

/* The walk is described by the architecture; where the return address is in a register, it is not implemented. */
void dt_pe_unwind_share(dt_pe *p)
{
	const dt_arch *a = dt_arch_host();
	struct dt_pe_shared *sh = p->shared;

	sh->unwind = a->unwind;
	sh->unwind.plt = NULL;
	sh->fp = a->fp;
	sh->base = (uint32_t)dt_arch_dwarf(a, a->unwind.base);
	sh->stack_end = p->stack_end;
	for (uint32_t i = 0; i < a->nregs && i < DT_PE_REGS; i++)
		sh->saved[i] = (uint8_t)(a->regs[i].saved + 1);
	dt_pe_unwind_again(p);
}

void dt_pe_unwind_free(dt_pe *p)
{
	for (uint32_t i = 0; i < p->objects.n; i++)
		dt_unwind_free(&p->objects.v[i].table);
	dt_vec_free(&p->objects);
}
