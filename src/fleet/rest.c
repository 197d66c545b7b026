/*
 * rest: the front's part of clauses (lang/split.c). A vm engine runs it, one record after the other, in the order of time of all
 * machines; so global variables, speculations and exit() are those of one program, wherever its clauses fired.
 *
 * A fault there is reported as one of that clause, and fires ERROR of this machine, whose clauses then also run in the vm.
 */
#include <stdlib.h>

#include "fleet/one_target.h"

typedef DT_VEC(dt_clause *) clause_list;

static void find_rests(const dt_fleet *f, clause_list *out)
{
	for (uint32_t i = 0; i < f->programs.n; i++) {
		const dt_program *p = f->programs.v[i].prog;

		for (uint32_t k = 0; k < p->nclauses && f->programs.v[i].enabled; k++)
			if (p->clauses[k].rest)
				*dt_vec_add(out, NULL) = p->clauses[k].rest->clause;
	}
}

int dt_rest_add(dt_fleet *f, dt_ecb *ecb, dt_error *err)
{
	dt_ecb *front;

	if (!f->rest || !ecb->clause->rest)
		return 0;
	front = dt_xcalloc(1, sizeof(*front));
	*front = (dt_ecb){.epid = ecb->epid, .probe = ecb->probe, .clause = ecb->clause->rest->clause};
	*dt_vec_add(&f->rest_ecbs, NULL) = front;
	ecb->front = dt_vm_front_add(f->rest, front, err);
	return ecb->front ? 0 : -1;
}

static bool is_error(const dt_probe *p)
{
	return strcmp(p->prov, "dtrace") == 0 && strcmp(p->name, "ERROR") == 0;
}

int dt_rest_open(dt_fleet *f, const struct dt_engine_env *env, dt_error *err)
{
	struct dt_engine_env own = *env;
	clause_list rests = {0};
	int rc = 0;

	find_rests(f, &rests);
	if (!rests.n || f->env.relay) {
		dt_vec_free(&rests);
		return 0;
	}
	f->rest_errors = dt_xcalloc(env->necbs + 1, sizeof(*f->rest_errors));
	own.ecbs = f->rest_errors;
	own.necbs = own.nclauses = 0;
	for (uint32_t i = 0; i < env->necbs; i++)
		if (is_error(env->ecbs[i].probe))
			own.ecbs[own.necbs++] = env->ecbs[i];
	own.rests = rests.v;
	own.nrests = rests.n;
	f->rest = dt_engine_vm.open(&own, err);
	for (uint32_t i = 0; f->rest && rc == 0 && i < env->necbs; i++)
		rc = dt_rest_add(f, &env->ecbs[i], err);
	for (uint32_t i = 0, k = 0; i < env->necbs; i++)
		if (is_error(env->ecbs[i].probe))
			own.ecbs[k++].front = env->ecbs[i].front;
	dt_vec_free(&rests);
	return f->rest ? rc : -1;
}

void dt_rest_close(dt_fleet *f)
{
	if (f->rest)
		dt_engine_vm.close(f->rest);
	f->rest = NULL;
	for (uint32_t i = 0; i < f->rest_ecbs.n; i++)
		free(f->rest_ecbs.v[i]);
	dt_vec_free(&f->rest_ecbs);
	free(f->rest_errors);
	f->rest_errors = NULL;
	free(f->rest_drops);
	f->rest_drops = NULL;
}

struct running {
	dt_fleet *f;
	const dt_sink *sink;
};

static void run(dt_fleet *f, const dt_record *r, uint32_t machine, dt_account *payer)
{
	struct dt_vm_arrival a = {machine, r->cpu, payer, r->timestamp, r->ecb->clause, r->values};

	if (r->ecb->front && r->first == 0 && r->nactions == r->ecb->clause->nactions)
		dt_vm_front_run(f->rest, r->ecb->front, &a);
}

/* ERROR has fired in the vm, and the clause has a part of its own there. */
static int pass(void *arg, const dt_record *r)
{
	const struct running *now = arg;

	if (!r->ecb->clause->rest || r->fault)
		return now->sink->record(now->sink->arg, r);
	run(now->f, r, 0, NULL);
	return 0;
}

int dt_rest_run(dt_fleet *f, const struct dt_waiting_record *w, const dt_sink *sink)
{
	struct running now = {f, sink};
	dt_status st = {0};
	int rc;

	run(f, &w->rec, w->machine, w->payer);
	rc = dt_engine_vm.consume(f->rest, &(dt_sink){.arg = &now, .record = pass});
	dt_engine_vm.status(f->rest, &st);
	if (st.exiting) {
		f->exit_status = st.exit_status;
		f->exiting = true;
	}
	return rc;
}

void dt_rest_status(dt_fleet *f, dt_status *st)
{
	dt_status own = {0};

	if (!f->rest)
		return;
	dt_engine_vm.status(f->rest, &own);
	st->dyn_drops += own.dyn_drops;
	st->spec_drops += own.spec_drops;
	st->spec_busy += own.spec_busy;
	st->spec_unavail += own.spec_unavail;
	st->dbl_errors += own.dbl_errors;
	if (!st->ncpus)
		return;
	f->rest_drops = dt_xrealloc(f->rest_drops, st->ncpus * sizeof(*f->rest_drops));
	for (uint32_t i = 0; i < st->ncpus; i++)
		f->rest_drops[i] = st->agg_drops[i] + (i < own.ncpus ? own.agg_drops[i] : 0);
	st->agg_drops = f->rest_drops;
}
