/*
 * agent_relay: an agent that is also a front. Its handle has a fleet, the machines behind it, so its engine is that of all of them:
 * records come in order of time with the name of their machine, and go on as they are. Rows of aggregations are added
 * up here first, so the front gets one row for a key, however many machines have it.
 *
 * What is kept at the front is kept there, not here: of a clause that is cut, the machine's part is passed on.
 */
#include <stdlib.h>

#include "session/agent.h"

static int tell(void *arg, const dt_diag *d)
{
	struct dt_agent *a = arg;

	return dt_session_tell(a->h, d);
}

static void introduce(void *arg, const struct dt_wire_machine *m)
{
	struct dt_agent *a = arg;
	dt_buf b = {0}; /* another message may be half made */

	if (a->state == DT_AGENT_NEW)
		return; /* all at once, after our own name */
	dt_put_machine(&b, m);
	dt_link_send(a->link, DT_M_MACHINE, &b);
	dt_buf_free(&b);
}

void dt_agent_relay_open(struct dt_agent *a)
{
	struct dt_fleet_env env = {.opts = &a->h->opts,
				   .paths = a->policy.targets,
				   .os = a->h->here.os,
				   .arg = a,
				   .tell = tell,
				   .relay = true,
				   .met = introduce};

	if (!a->policy.targets)
		return;
	dtrace_setopt(a->h, "targetwait", a->policy.wait ? a->policy.wait : "1s");
	a->h->here.is_relay = true;
	a->h->fleet = dt_fleet_new(&env);
}

void dt_agent_relay_introduce(struct dt_agent *a)
{
	struct dt_wire_machine m;

	for (uint32_t i = 0; a->h->fleet && dt_fleet_nth(a->h->fleet, i, &m); i++)
		introduce(a, &m);
}

/* ---- listing ---- */

static int pass_probe(void *arg, const struct dt_wire_probe *p)
{
	dt_agent_send_probe(arg, p);
	return 0;
}

/* To those behind us we are the front, which may do more than the one that asks. */
static bool may_list(struct dt_agent *a, const char *desc, uint32_t spec)
{
	struct dt_pdesc_input in = {.text = desc ? desc : "", .last = DT_PDESC_NAME - (int)spec, .arena = dt_probes_arena(a->h->probes)};
	dt_error ignored = {0};
	dt_probedesc d;

	return !a->policy.providers || dt_pdesc_parse(&in, &d, &ignored) < 0 || !*d.prov || dt_agent_is_listed(a->policy.providers, d.prov);
}

int dt_agent_relay_list(struct dt_agent *a, const char *machine, const char *desc, uint32_t spec)
{
	memset(&a->h->err, 0, sizeof(a->h->err));
	if (!a->h->fleet)
		return dt_session_err(a->h, EDT_NOPROBE, "no machine is behind it");
	if (!may_list(a, desc, spec))
		return dt_session_err(a->h, EDT_NOPROBE, "the policy of its relay does not allow this provider");
	return dt_fleet_list(a->h->fleet, machine, desc, spec, pass_probe, a, &a->h->err) < 0 ? dt_session_fail(a->h) : 0;
}

/* ---- aggregations ---- */

int dt_agent_relay_add(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys, const uint64_t *value)
{
	struct dt_agent *a = arg;

	(void)cpu;
	if (!a->merged)
		a->merged = dt_aggs_new(&a->env);
	dt_aggs_merge(a->merged, NULL, agg, keys, value);
	return 0;
}

void dt_agent_relay_rows(struct dt_agent *a)
{
	for (uint32_t i = 0; a->merged && i < dt_aggs_count(a->merged); i++) {
		const dt_aggset *s = dt_aggs_nth(a->merged, i);

		for (uint32_t k = 0; k < s->nbuckets; k++)
			for (const dt_aggrow *r = s->buckets[k]; r; r = r->chain)
				dt_agent_send_row(a, s->agg, 0, r->keys, r->value);
	}
	if (a->merged)
		dt_aggs_free(a->merged);
	a->merged = NULL;
}
