/*
 * pe_life: probes of proc in one process: what it does with itself.
 *
 * Most is known where it makes system calls (runtime/rt_life.c). A command of -c starts when it is released: its thread runs a
 * stub first, as a sample does (pe_sample.c). That it runs another program, or has been ended by a signal, is seen from here:
 * those clauses run in dtrace, as END does, for the process.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "arch/trap.h"
#include "process/process.h"
#include "proc/control.h"


static enum dt_attach_inside inside(const dt_ecb *ecb)
{
	return ecb->events && ecb->events->n ? ecb->events->v[0].at.inside : DT_IN_NOTHING;
}

bool dt_pe_is_life(const dt_ecb *ecb)
{
	return inside(ecb) != DT_IN_NOTHING;
}

/* The kernel knows more of these: the new process, and the new thread. */
bool dt_pe_life_has_args(const dt_ecb *ecb)
{
	return inside(ecb) != DT_IN_CREATE && inside(ecb) != DT_IN_LWP_CREATE;
}

/* Clauses of these, in the order of the program. */
static bool make_list(dt_pe *p, unsigned kinds, struct dt_pe_list *to)
{
	const struct dt_vm_ecb **list = dt_pe_alloc(&p->memory, p->host->necbs * sizeof(*list));

	if (!list)
		return false;
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (kinds & 1u << inside(p->host->ecbs[i].ecb) & ~1u)
			list[to->n++] = &p->program.ecbs[i];
	to->v = list;
	return true;
}

bool dt_pe_life_share(dt_pe *p)
{
	struct dt_pe_list *life = p->shared->life, first = {0};

	for (unsigned i = 1; i < DT_IN_MAX; i++) {
		if (!make_list(p, 1u << i, &life[i]))
			return false;
		p->shared->lives = p->shared->lives || life[i].n;
	}
	if (!p->created || !(life[DT_IN_START].n + life[DT_IN_LWP_START].n))
		return true;
	if (!make_list(p, 1u << DT_IN_START | 1u << DT_IN_LWP_START, &first))
		return false;
	p->birth = dt_pe_alloc(&p->memory, sizeof(*p->birth));
	if (p->birth)
		*p->birth = (struct dt_pe_site){.samples = true, .begins = true, .shows_cpu = true, .ecbs = first.v, .necbs = first.n};
	return p->birth != NULL;
}

int dt_pe_life_stub(dt_pe *p, dt_error *err)
{
	return p->birth ? dt_pe_target_sample(&p->target, dt_vm_addr(p->birth), &p->birth_stub, err) : 0;
}

/* The command is held, and has not begun. */
void dt_pe_life_begin(dt_pe *p)
{
	if (p->birth && p->target.theirs)
		dt_trap_divert((pid_t)p->target.pid, p->birth_stub);
}

/* ---- what is seen from here ---- */

void dt_pe_life_person(dt_pe *p)
{
	dt_vm_person *as = &p->person;
	uint64_t parent = 0;
	char path[64], *name;
	size_t n = 0;
	uid_t uid = 0, root;

	dt_proc_stat(p->target.pid, &(char){0}, 4, &parent);
	dt_proc_owner(p->target.pid, &uid, &root);
	*as = (dt_vm_person){.pid = p->target.pid, .parent = (long)parent, .uid = uid};
	snprintf(path, sizeof(path), "/proc/%ld/comm", p->target.pid);
	name = dt_slurp(-1, path, &n);
	snprintf(as->name, sizeof(as->name), "%.*s", name ? (int)strcspn(name, "\n") : 0, name ? name : "");
	free(name);
}

static void fire(dt_pe *p, enum dt_attach_inside what, uint64_t arg0)
{
	const uint64_t args[10] = {arg0};
	const dt_probe *last = NULL;

	p->host->vm.as = &p->person;
	for (uint32_t i = 0; i < p->host->necbs; i++) {
		const dt_ecb *ecb = p->host->ecbs[i].ecb;

		if (inside(ecb) != what || ecb->probe == last)
			continue;
		last = ecb->probe;
		dt_vm_fire_other(p->host, last, args);
	}
	p->host->vm.as = NULL;
}

static bool has_code(long pid)
{
	dt_error ignored;
	dt_maps *maps = dt_maps_code(pid, &ignored);
	bool has = maps && maps->n;

	dt_maps_free(maps);
	return has;
}

static bool awaits_exec(const dt_pe *p)
{
	return p->shared && !p->over && p->shared->life[DT_IN_EXEC_SUCCESS].n &&
	       __atomic_load_n(&p->shared->execs, __ATOMIC_SEQ_CST) != __atomic_load_n(&p->shared->execs_failed, __ATOMIC_SEQ_CST);
}

/* An exec has begun, and has not failed: has it succeeded? The session wakes up soon again as long as that is not known. */
void dt_pe_life_look(dt_pe *p)
{
	if (!awaits_exec(p) || dt_pe_is_same_program(&p->target) || !has_code(p->target.pid))
		return;
	dt_pe_end(p);
	dt_pe_life_person(p);
	fire(p, DT_IN_EXEC_SUCCESS, 0);
}

/* The process ended before dtrace had looked. */
void dt_pe_life_stop(dt_pe *p)
{
	p->missed_exec = awaits_exec(p) && !p->shared->exited && !dt_pe_is_same_program(&p->target);
}

/* How did it end? If it has said so itself, the clauses have run. */
void dt_pe_life_end(dt_pe *p)
{
	const dt_proc *x = NULL;
	int status;

	for (uint32_t i = 0; !x && p->procs && (x = dt_procs_nth(p->procs, i)); i++)
		x = x->pid == p->target.pid ? x : NULL;
	if (!x || x->state != DT_PROC_GONE || !p->shared || p->shared->exited)
		return;
	status = x->status;
	if (p->missed_exec)
		fire(p, DT_IN_EXEC_SUCCESS, 0);
	fire(p, DT_IN_EXIT, !x->knows_status	    ? CLD_KILLED
		     : WIFEXITED(status) ? CLD_EXITED
		     : WCOREDUMP(status) ? CLD_DUMPED
					 : CLD_KILLED);
}
