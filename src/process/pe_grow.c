/*
 * pe_grow: code that the target loads while it is traced.
 *
 * The function that the dynamic linker calls when it has loaded or unloaded something is a gate: the thread that reaches it waits
 * there, in the runtime, until dtrace has looked (runtime/rt_fire.c). If dtrace does not come within a second, it goes on, and no
 * thread waits again before dtrace has.
 */
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/process.h"

/* ---- new ECBs ---- */

static int add_ecb(dt_pe *p, const dt_ecb *ecb, dt_error *err)
{
	struct dt_vm_ecb *x = &p->host->ecbs[p->host->necbs];

	if (p->host->necbs == p->ecbs_cap)
		return dt_err(err, EDT_NOPROBE, "-x engine=process: there are too many probes");
	for (uint32_t k = 0; k < ecb->events->n; k++)
		if (ecb->events->v[k].at.pid != p->target.pid || !ecb->events->v[k].at.path)
			return dt_err(err, EDT_NOPROBE, "-x engine=process: %s:%s:%s:%s is not a probe in the process", ecb->probe->prov,
				      ecb->probe->mod, ecb->probe->func, ecb->probe->name);
	*x = (struct dt_vm_ecb){.ecb = ecb, .probe = DT_VM_OTHER};
	if (dt_vm_plan_ecb(p->host, x, err) < 0) {
		dt_record_plan_free(&x->record);
		return -1;
	}
	if (!dt_pe_share_ecb(&p->program, p->room, p->host->necbs)) {
		dt_record_plan_free(&x->record);
		return dt_err(err, EDT_NOPROBE, "-x engine=process: no room for more probes");
	}
	p->host->necbs++;
	return 0;
}

/* What is planned is made, and put into the code. */
int dt_pe_put(dt_pe *p, dt_error *err)
{
	if (!dt_pe_sites_make(p) || !dt_pe_compile(p))
		return dt_err(err, EDT_NOPROBE, "-x engine=process: no room for more probes");
	return dt_pe_target_stubs(&p->target, err) < 0 ? -1 : dt_pe_target_patch(&p->target, err);
}

/* Those that could not be put there are given up. */
static int put_more(dt_pe *p, dt_error *err)
{
	int rc = dt_pe_put(p, err);

	for (uint32_t i = 0; rc < 0 && i < p->places.memory->n; i++)
		if (p->places.v[i].state == DT_PE_PLANNED)
			dt_pe_places_away(&p->places, &p->places.v[i]);
	return rc;
}

static bool anything_planned(const dt_pe *p)
{
	for (uint32_t i = 0; i < p->places.memory->n; i++)
		if (p->places.v[i].state == DT_PE_PLANNED || (p->places.v[i].state == DT_PE_IN && !p->places.v[i].made))
			return true;
	return false;
}

int dt_pe_extend(dt_pe *p, dt_ecb *ecbs, uint32_t n, dt_error *err)
{
	int rc = 0;

	if (!p->shared || p->over)
		return dt_err(err, EDT_NOPROBE, "-x engine=process: there is no process");
	if (!dt_pe_is_same_program(&p->target))
		return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld runs another program: probes in it are not available", p->target.pid);
	dt_pe_look_again(p);
	for (uint32_t i = 0; i < n; i++)
		if (add_ecb(p, &ecbs[i], err) < 0 || !dt_pe_place_ecb(p, p->host->necbs - 1, err))
			rc = -1;
	return anything_planned(p) && put_more(p, err) < 0 ? -1 : rc;
}

/* ---- gates ---- */

static int no_gate(dt_pe *p, dt_error *err)
{
	if (!p->remark.text[0])
		dt_err(&p->remark, EDT_NOPROBE, "libraries that pid %ld loads later may be traced too late: its dynamic linker: %s", p->target.pid,
		       err->text);
	return -1;
}

int dt_pe_gate(dt_pe *p, const char *path, uint64_t offset, long pid, dt_error *err)
{
	const dt_mapping *m = NULL;
	struct dt_pe_place *x;
	struct stat st;
	uint32_t i;

	if (!p->shared || pid != p->target.pid || stat(path, &st) < 0)
		return 0;
	for (i = 0; i < p->maps->n && !m; i++) {
		const dt_mapping *c = &p->maps->v[i];

		if (c->exec && c->kind == DT_MAP_FILE && c->inode == st.st_ino && offset - c->offset < c->end - c->start)
			m = c;
	}
	if (!m) {
		dt_err(err, EDT_NOPROBE, "it is not mapped");
		return no_gate(p, err);
	}
	free(p->gate_path);
	p->gate_path = dt_proc_path(pid, m->path);
	p->gate_event = (dt_event){.at = {.kind = DT_AT_UPROBE, .path = p->gate_path, .offset = offset, .pid = (int)pid}};
	x = dt_pe_place(&p->places, p->files, &(struct dt_pe_wish){.event = &p->gate_event, .in = m}, err);
	if (!x)
		return no_gate(p, err);
	x->gate = true;
	x->patch.site = 0;
	x->made = false;
	return 0;
}

/* The number in shared memory may be anything: one arrival for each change. */
uint64_t dt_pe_arrived(dt_pe *p)
{
	uint32_t now = p->shared ? __atomic_load_n(&p->shared->arrived, __ATOMIC_SEQ_CST) : 0;

	if (now != p->seen_arrivals) {
		p->seen_arrivals = now;
		p->arrivals++;
	}
	return p->arrivals;
}

static void open_gate(dt_pe *p)
{
	__atomic_store_n(&p->shared->admitted, p->seen_arrivals, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->shared->waits, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &p->shared->admitted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void dt_pe_admit(dt_pe *p)
{
	dt_error ignored;

	if (!p->shared || p->over || p->admissions == p->arrivals)
		return;
	p->admissions = p->arrivals;
	if (dt_pe_is_same_program(&p->target)) {
		dt_pe_look_again(p);
		if (anything_planned(p))
			put_more(p, &ignored);
	}
	open_gate(p);
}

/* Nobody waits any more. */
void dt_pe_gate_end(dt_pe *p)
{
	__atomic_store_n(&p->shared->waits, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->shared->admitted, __atomic_load_n(&p->shared->arrived, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &p->shared->admitted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
