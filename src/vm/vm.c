/*
 * vm: the interpreter as an engine.
 *
 * It has three probes: BEGIN runs in go(), END in stop(), ERROR inside either after a fault. All
 * run in the calling thread, so there is one CPU, one thread, and nothing to lock; ECBs on any
 * other probe are accepted and never fire.
 *
 * One firing goes through its ECBs in order of enabling (vm_ecb.c). A fault replaces the ECB's record by a fault record, and
 * fires ERROR before the next ECB runs; a fault inside ERROR is only counted. exit() ends the
 * firing it happens in, except END's.
 *
 * Scratch lasts for a firing, so that memory from alloca() and copyin() in one clause is still
 * valid in the next. Each ECB may use what its record leaves free in the principal buffer, so a
 * tiny bufsize correctly gives NOSCRATCH; all ECBs of a firing together may use 1 MiB or four
 * strings.
 */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm/machine.h"

#define SCRATCH_MAX (1u << 20)

/* ---- firing ---- */

static uint32_t current_cpu(const dt_vm_engine *e)
{
	int cpu = sched_getcpu();

	return cpu > 0 && (uint32_t)cpu < e->ncpus ? (uint32_t)cpu : 0;
}

/* Machines may have more CPUs than this one. */
void dt_vm_count_drop(const dt_vm_engine *e, uint64_t *drops)
{
	drops[e->vm.fire->cpu < e->ncpus ? e->vm.fire->cpu : 0]++;
}

bool dt_vm_has_room(dt_vm_engine *e, const struct dt_vm_ecb *x, uint64_t cost)
{
	bool end = x->probe == DT_VM_END;

	if (!(e->filled && !end) &&
	    dt_vm_buf_fits(&e->principal, cost, end ? 0 : e->buffer.end_reserve))
		return true;
	if (e->policy == DT_BUFPOLICY_FILL)
		e->filled = true;
	else
		dt_vm_count_drop(e, e->drops);
	return false;
}

dt_vm_rec *dt_vm_new_record(dt_vm_engine *e, const struct dt_vm_ecb *x, uint32_t cost, uint32_t size)
{
	dt_vm_rec *r = dt_xcalloc(1, sizeof(*r) + size);

	r->ecb = x;
	r->cpu = e->vm.fire->cpu;
	r->timestamp = dt_vm_builtin(&e->vm, DT_VAR_TIMESTAMP);
	r->cost = cost;
	return r;
}

static void fire(dt_vm_engine *e, int probe, const uint64_t *args);

void dt_vm_report_fault(dt_vm_engine *e, const struct dt_vm_ecb *x)
{
	const dt_fault *f = &e->vm.fault;
	uint64_t args[10] = {0,	      f->epid, f->action, (uint64_t)(int64_t)f->offset,
			     f->code, f->value};

	if (x->probe == DT_VM_ERROR) {
		e->dbl_errors++;
		return;
	}
	if (dt_vm_has_room(e, x, DT_FAULT_COST)) {
		dt_vm_rec *r = dt_vm_new_record(e, x, DT_FAULT_COST, 0);

		r->is_fault = true;
		r->fault = *f;
		dt_vm_buf_add(&e->principal, r);
	}
	fire(e, DT_VM_ERROR, args);
}

static void run_ecb(dt_vm_engine *e, const struct dt_vm_ecb *x)
{
	if (dt_vm_do_ecb(e, x) == DT_VM_FAULTED)
		dt_vm_report_fault(e, x);
}

/* Those of a kind (DT_VM_OTHER: of this probe). */
static void fire_probe(dt_vm_engine *e, int kind, const dt_probe *probe, const uint64_t *args)
{
	dt_vm_firing *outer = e->vm.fire, *f = &e->firing[kind == DT_VM_ERROR];
	bool was_exiting = e->exiting;
	uint32_t source = UINT32_MAX;

	dt_vm_firing_begin(f, NULL, current_cpu(e));
	memcpy(f->args, args, sizeof(f->args));
	e->vm.fire = f;
	e->vm.texts_valid = 0; /* names differ between the probe and ERROR inside it */
	if (kind != DT_VM_ERROR)
		dt_vm_scratch_reset(&e->vm);
	for (uint32_t i = 0; i < e->necbs; i++) {
		if (e->ecbs[i].probe != (unsigned)kind || (probe && e->ecbs[i].ecb->probe != probe))
			continue;
		f->probe = e->ecbs[i].ecb->probe;
		f->epid = e->ecbs[i].ecb->epid;
		if (e->ecbs[i].ecb->clause->source !=
		    source) /* not another part of the same clause */
			e->vm.given = 0;
		source = e->ecbs[i].ecb->clause->source;
		run_ecb(e, &e->ecbs[i]);
		if (e->exiting && !was_exiting && kind != DT_VM_END)
			break;
	}
	e->vm.fire = outer;
	e->vm.texts_valid = 0;
}

static void fire(dt_vm_engine *e, int kind, const uint64_t *args)
{
	fire_probe(e, kind, NULL, args);
}

/* ---- opening ---- */

static int probe_kind(const dt_probe *p)
{
	static const char *const names[] = {
	    [DT_VM_BEGIN] = "BEGIN", [DT_VM_END] = "END", [DT_VM_ERROR] = "ERROR"};

	for (int i = DT_VM_BEGIN; p && i <= DT_VM_ERROR; i++)
		if (strcmp(p->prov, "dtrace") == 0 && strcmp(p->name, names[i]) == 0)
			return i;
	return DT_VM_OTHER;
}

typedef DT_VEC(const dt_difo *) difo_list;

static bool is_enabled(const struct dt_engine_env *env, const dt_clause *c)
{
	for (uint32_t i = 0; i < env->necbs; i++)
		if (env->ecbs[i].clause == c)
			return true;
	return false;
}

static void collect_difos(const struct dt_engine_env *env, difo_list *list)
{
	for (uint32_t i = 0; i < env->necbs; i++) {
		const dt_clause *c = env->ecbs[i].clause;

		if (i && c == env->ecbs[i - 1].clause)
			continue; /* one clause on many probes */
		DT_EACH_DIFO(it, c)
			*dt_vec_add(list, NULL) = it.difo;
	}
	for (uint32_t i = 0; i < env->nclauses; i++) /* those that wait for their probes (src/process) */
		if (env->clauses[i].kinds && !is_enabled(env, env->clauses[i].clause))
			DT_EACH_DIFO(it, env->clauses[i].clause)
				*dt_vec_add(list, NULL) = it.difo;
	for (uint32_t i = 0; i < env->nrests; i++)
		DT_EACH_DIFO(it, env->rests[i])
			*dt_vec_add(list, NULL) = it.difo;
}

int dt_vm_plan_ecb(dt_vm_engine *e, struct dt_vm_ecb *x, dt_error *err)
{
	const dt_clause *c = x->ecb->clause;
	const char *refused = dt_clause_refused(c);

	if (!e->destructive && dt_clause_is_destructive(c))
		return dt_err(err, EDT_DESTRUCTIVE, NULL);
	if (refused)
		return dt_err(err, EDT_DESTRUCTIVE, "%s() is not available: no Linux kernel lets a tracing program do it",
			      refused);
	if (dt_record_plan_make(&x->record, c, NULL, err) < 0)
		return -1;
	if (c->nactions > e->max_actions)
		e->max_actions = c->nactions;
	return dt_buffer_plan_add(&e->buffer, &x->record, x->probe == DT_VM_END, err);
}

static int plan_ecbs(dt_vm_engine *e, const struct dt_engine_env *env, dt_error *err)
{
	e->ecbs = dt_xcalloc(env->necbs + 1, sizeof(*e->ecbs));
	for (uint32_t i = 0; i < env->necbs; i++) {
		struct dt_vm_ecb *x = &e->ecbs[e->necbs++];

		x->ecb = &env->ecbs[i];
		x->probe = (unsigned)probe_kind(x->ecb->probe);
		if (dt_vm_plan_ecb(e, x, err) < 0)
			return -1;
	}
	return dt_buffer_plan_check(&e->buffer, err);
}

static int init_machine(dt_vm_engine *e, const struct dt_engine_env *env, dt_error *err)
{
	uint64_t strsize = dt_opt(env->opts, DT_O_STRSIZE), cap = SCRATCH_MAX;
	uint64_t given = dt_opt_scratch(env->opts);
	struct dt_vm_config c = {.strsize = strsize,
				 .given_max = given,
				 .dynvarsize = dt_opt(env->opts, DT_O_DYNVARSIZE)};
	difo_list difos = {0};
	int rc;

	if (cap / 4 < strsize && strsize < UINT64_MAX / 4)
		cap = strsize * 4;
	c.scratch = cap + 2 * given;
	collect_difos(env, &difos);
	c.difos = difos.v;
	c.ndifos = difos.n;
	rc = dt_vm_init(&e->vm, &c, err);
	dt_vec_free(&difos);
	if (rc < 0)
		return -1;
	e->vm.specs =
	    dt_vm_specs_new(dt_opt(env->opts, DT_O_NSPEC), dt_opt(env->opts, DT_O_SPECSIZE));
	if (!e->vm.specs || !dt_vm_firing_init(&e->vm, &e->firing[0]) ||
	    !dt_vm_firing_init(&e->vm, &e->firing[1]))
		return dt_err(err, EDT_NOMEM, NULL);
	return 0;
}

static void vm_close(dt_vm_engine *e)
{
	if (!e)
		return;
	dt_vm_buf_clear(&e->principal);
	dt_vm_specs_free(e->vm.specs);
	dt_vm_aggs_free(e->aggs);
	for (uint32_t i = 0; i < e->necbs; i++)
		dt_record_plan_free(&e->ecbs[i].record);
	free(e->ecbs);
	for (uint32_t i = 0; i < e->front.n; i++) {
		dt_record_plan_free(&e->front.v[i]->record);
		free(e->front.v[i]);
	}
	dt_vec_free(&e->front);
	free(e->firing[0].strtok);
	free(e->firing[1].strtok);
	free(e->drops);
	free(e->agg_drops);
	dt_vm_fini(&e->vm);
	free(e);
}

static dt_vm_engine *vm_open(const struct dt_engine_env *env, dt_error *err)
{
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);
	dt_vm_engine *e = dt_xcalloc(1, sizeof(*e));
	const dt_options *o = env->opts;
	uint64_t aggsize = dt_opt(o, DT_O_AGGSIZE);

	e->ncpus = ncpus > 0 ? (uint32_t)ncpus : 1;
	e->drops = dt_xcalloc(e->ncpus, sizeof(*e->drops));
	e->agg_drops = dt_xcalloc(e->ncpus, sizeof(*e->agg_drops));
	e->policy = env->nrests ? DT_BUFPOLICY_SWITCH : (enum dt_opt_bufpolicy)dt_opt(o, DT_O_BUFPOLICY);
	e->destructive = dt_opt(o, DT_O_DESTRUCTIVE);
	e->loopmax = dt_opt(o, DT_O_LOOPMAX);
	e->aggs = dt_vm_aggs_new(aggsize ? aggsize : DT_BUFFER_DEFAULT);
	dt_buffer_plan_init(&e->buffer, o);
	dt_vm_buf_init(&e->principal, e->buffer.size, e->policy == DT_BUFPOLICY_RING);
	if (plan_ecbs(e, env, err) < 0) {
		vm_close(e);
		return NULL;
	}
	e->principal.limit = e->buffer.size;
	if (init_machine(e, env, err) < 0) {
		vm_close(e);
		return NULL;
	}
	return e;
}

/* ---- running ---- */

static const uint64_t no_args[10];

void dt_vm_fire_other(dt_vm_engine *e, const dt_probe *probe, const uint64_t *args)
{
	if (e->state == DT_VM_ACTIVE && !e->exiting)
		fire_probe(e, DT_VM_OTHER, probe, args ? args : no_args);
}

static int vm_go(dt_vm_engine *e, dt_error *err)
{
	if (e->state != DT_VM_NEW)
		return dt_err(err, EDT_ACTIVE, NULL);
	e->state = DT_VM_ACTIVE;
	fire(e, DT_VM_BEGIN, no_args);
	return 0;
}

static int vm_stop(dt_vm_engine *e, dt_error *err __attribute__((unused)))
{
	e->ending = true;
	if (e->state == DT_VM_ACTIVE)
		fire(e, DT_VM_END, no_args);
	e->state = DT_VM_STOPPED;
	return 0;
}

static int vm_status(dt_vm_engine *e, dt_status *st)
{
	*st = (dt_status){.drops = e->drops,
			  .agg_drops = e->agg_drops,
			  .ncpus = e->ncpus,
			  .dyn_drops = e->vm.dyn.state ? e->vm.dyn.state->drops : 0,
			  .dbl_errors = e->dbl_errors,
			  .exiting = e->exiting,
			  .exit_status = e->exit_status,
			  .filled = e->filled};
	dt_vm_specs_status(e->vm.specs, st);
	return 0;
}

/* ---- passing records on ---- */

void dt_vm_record_values(const struct dt_vm_ecb *x, const dt_record_part *part, const uint8_t *data, dt_datum *values)
{
	const dt_clause *c = x->ecb->clause;

	for (uint32_t i = part->first; i < part->first + part->nactions; i++) {
		const dt_action *a = &c->actions[i];
		const struct dt_action_plan *p = &x->record.actions[i];

		values[i] = (dt_datum){0};
		if (p->role != DT_ROLE_DATA)
			continue;
		values[i].data = data + p->offset;
		values[i].size = a->size;
		if (p->is_string)
			values[i].size = (uint32_t)strnlen(values[i].data, p->bound - 1) + 1;
	}
}

static int vm_consume(dt_vm_engine *e, const dt_sink *sink)
{
	dt_datum *values;
	dt_vm_rec *r;
	int rc = 0;

	if (e->policy != DT_BUFPOLICY_SWITCH && e->state != DT_VM_STOPPED)
		return 0; /* ring and fill are read once, at the end */
	values = dt_xcalloc(e->max_actions + 1, sizeof(*values));
	while (rc == 0 && (r = dt_vm_buf_take(&e->principal))) {
		dt_record out = {.ecb = r->ecb->ecb, .cpu = r->cpu, .timestamp = r->timestamp};

		if (r->is_fault) {
			out.fault = &r->fault;
		} else {
			const dt_record_part *part = &r->ecb->record.parts[r->part];

			dt_vm_record_values(r->ecb, part, r->data, values);
			out.values = values;
			out.first = part->first;
			out.nactions = part->nactions;
			out.continues = r->continues;
		}
		rc = sink->record(sink->arg, &out);
		free(r);
	}
	free(values);
	return rc;
}

static int vm_snapshot(dt_vm_engine *e, const dt_sink *sink)
{
	return dt_vm_agg_snapshot(e->aggs, sink);
}

/* ---- the engine interface: other modules see a dt_vm_engine as a dt_engine ---- */

static dt_engine *op_open(const struct dt_engine_env *env, dt_error *err)
{
	return (dt_engine *)vm_open(env, err);
}

static int op_go(dt_engine *e, dt_error *err)
{
	return vm_go((dt_vm_engine *)e, err);
}

static int op_stop(dt_engine *e, dt_error *err)
{
	return vm_stop((dt_vm_engine *)e, err);
}

static int op_status(dt_engine *e, dt_status *st)
{
	return vm_status((dt_vm_engine *)e, st);
}

static int op_consume(dt_engine *e, const dt_sink *sink)
{
	return vm_consume((dt_vm_engine *)e, sink);
}

static int op_snapshot(dt_engine *e, const dt_sink *sink, dt_error *err)
{
	(void)err;
	return vm_snapshot((dt_vm_engine *)e, sink);
}

static void op_close(dt_engine *e)
{
	vm_close((dt_vm_engine *)e);
}

const struct dt_engine_ops dt_engine_vm = {
    .name = "vm",
    .open = op_open,
    .go = op_go,
    .stop = op_stop,
    .status = op_status,
    .consume = op_consume,
    .snapshot = op_snapshot,
    .live = false,
    .close = op_close,
};
