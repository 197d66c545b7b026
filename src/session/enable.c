/*
 * enable: puts a program's clauses on probes.
 *
 * Each clause is put on every probe that its description matches: an ECB, in the order of the
 * clauses, so that the clauses of one probe run in program order. The DIF is verified first,
 * whether it comes from our compiler or a DOF file.
 */
#include <stdlib.h>

#include "engine/record_plan.h"
#include "format/formats.h"
#include "session/session.h"

static int verify(dtrace_hdl_t *h, dt_program *p)
{
	struct dt_verify_opts vo = {0};

	if (p->options == &h->opts) { /* a program from a DOF file has its own variables */
		vo.max_global = dt_compiler_max_var(h->cc, DT_SCOPE_GLOBAL);
		vo.max_thread = dt_compiler_max_var(h->cc, DT_SCOPE_THREAD);
		vo.max_local = dt_compiler_max_var(h->cc, DT_SCOPE_LOCAL);
	}
	memset(&h->err, 0, sizeof(h->err));
	return dt_program_verify(p, &vo, &h->err) < 0 ? dt_session_fail(h) : 0;
}

static int no_match(dtrace_hdl_t *h, const dt_clause *c)
{
	dt_buf b = {0};

	if (h->err.text[0]) /* a provider's own explanation */
		return h->err.code = EDT_NOPROBE, dt_session_fail(h);
	dt_probedesc_print(&c->desc, &b);
	dt_session_err(h, EDT_NOPROBE, "probe description %s does not match any probes", b.s);
	dt_buf_free(&b);
	return -1;
}

/*
 * For a format that shows threads (DT_WRITER_THREADS): whatever a clause records, the process, the
 * thread and its name are added. A clause that records nothing stays so, and one of which a part runs at the front. They come last; in a clause
 * with control flow first, where they always run, and the consumer keeps them for the firing's parts.
 */
static int add_who(dtrace_hdl_t *h, dt_clause *c)
{
	static const char *const text[] = {"pid", "tid", "execname"};
	struct dt_probe_args args = {0};
	dt_arena *a = dt_compiler_arena(h->cc);
	dt_record_plan plan;
	dt_action *actions;
	uint32_t at;

	if (c->who || c->rest || dt_record_plan_make(&plan, c, a, &h->err) < 0 || plan.cost == 0)
		return 0;
	at = plan.has_control ? 0 : c->nactions;
	actions = dt_arena_alloc(a, (c->nactions + DT_NELEM(text)) * sizeof(*actions));
	if (c->nactions)
		memcpy(actions + (at ? 0 : DT_NELEM(text)), c->actions,
		       c->nactions * sizeof(*actions));
	for (uint32_t i = 0; i < DT_NELEM(text); i++) {
		dt_action *new = &actions[at + i];

		new->kind = DT_ACT_DIFEXPR;
		new->difo = dt_compile_expr(h->cc, text[i], &args, &h->err);
		if (!new->difo)
			return -1;
		new->size = (uint32_t)dt_datum_size(new, &new->align);
	}
	c->who = at + 1;
	c->actions = actions;
	c->nactions += DT_NELEM(text);
	if (plan.has_control)
		dt_clause_shift(c, DT_NELEM(text));
	return 0;
}

/* matches[i]: how many probes clause i is on. */
static int add_ecbs(dtrace_hdl_t *h, dt_program *p, uint32_t *matches)
{
	for (uint32_t i = 0; i < p->nclauses; i++) {
		dt_probe **probes;
		int n;

		if (p->clauses[i].elsewhere)
			continue;
		memset(&h->err, 0, sizeof(h->err));
		n = dt_probes_match(h->probes, &p->clauses[i].desc, false, &probes, &h->err);
		if (n < 0)
			return dt_session_fail(h);
		if (n == 0 && !dt_opt(&h->opts, DT_O_ZDEFS) && !p->clauses[i].desc.machine)
			return no_match(h, &p->clauses[i]);
		matches[i] = (uint32_t)n;
		dt_session_debug(h, "clause %u: %d probe%s", i + 1, n, n == 1 ? "" : "s");
		*dt_vec_add(&h->clauses, NULL) = (struct dt_engine_clause){
		    .clause = &p->clauses[i],
		    .kinds = dt_grow_clause(h, &p->clauses[i]),
		};
		for (int j = 0; j < n; j++)
			*dt_vec_add(&h->ecbs, NULL) = (dt_ecb){
			    .probe = probes[j],
			    .clause = &p->clauses[i],
			};
	}
	return 0;
}

int dtrace_enable(dtrace_hdl_t *h, dtrace_prog_t *p, struct dtrace_proginfo *info)
{
	uint32_t before = h->ecbs.n, clauses = h->clauses.n, *matches;
	const struct dt_writer_ops *w;
	int rc;

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (verify(h, p) < 0)
		return -1;
	w = dt_format_writer(dt_opt(&h->opts, DT_O_OFORMAT));
	for (uint32_t i = 0; w && w->flags & DT_WRITER_THREADS && i < p->nclauses; i++)
		if (add_who(h, &p->clauses[i]) < 0)
			return dt_session_fail(h);
	if (dt_procs_settle(h->procs, &h->err) < 0)
		return dt_session_fail(h);
	matches = dt_xcalloc(p->nclauses + 1, sizeof(*matches));
	rc = add_ecbs(h, p, matches);
	if (rc == 0)
		rc = dt_machines_enable(h, p, matches);
	if (info)
		*info = (struct dtrace_proginfo){0};
	for (uint32_t i = 0; info && i < p->nclauses; i++)
		info->matches += matches[i];
	free(matches);
	if (rc < 0) {
		h->ecbs.n = before;
		h->clauses.n = clauses;
		return -1;
	}
	for (uint32_t i = before; i < h->ecbs.n; i++)
		h->ecbs.v[i].epid = i + 1;
	for (uint32_t i = clauses; info && i < h->clauses.n; i++)
		info->growing += h->clauses.v[i].kinds != 0;
	return dt_readers_report(h) < 0 ? dt_session_err(h, EDT_DROPABORT, NULL) : 0;
}

/* ---- listing ---- */

static int report(dtrace_hdl_t *h, const dt_probedesc *d, dtrace_probe_f *f, void *arg, int *count)
{
	dt_probe **probes;
	int n, rc = 0;

	memset(&h->err, 0, sizeof(h->err));
	if (!*d->prov) /* it starts while providers of the kernel are asked, and is needed for programs */
		dt_jail_prepare(h->jail);
	n = dt_probes_match(h->probes, d, true, &probes, &h->err);
	if (n < 0)
		return dt_session_fail(h);
	if (dt_readers_report(h) < 0)
		return dt_session_err(h, EDT_DROPABORT, NULL);
	*count = n;
	if (n == 0)
		return 0;
	/* the callback may query probes itself: use a private list */
	dt_probe **list = dt_xmalloc((size_t)n * sizeof(*list));

	memcpy(list, probes, (size_t)n * sizeof(*list));
	for (int i = 0; i < n && rc == 0; i++) {
		struct dtrace_probeinfo info = {list[i]->id, list[i]->prov, list[i]->mod,
						list[i]->func, list[i]->name};

		rc = f(h, &info, arg);
	}
	free(list);
	return rc;
}

int dtrace_probe_iter(dtrace_hdl_t *h, const char *text, enum dtrace_spec spec, dtrace_probe_f *f,
		      void *arg)
{
	struct dt_pdesc_input in = {.text = text ? text : "",
				    .last = DT_PDESC_NAME - (int)spec, /* the same order */
				    .arena = dt_probes_arena(h->probes)};
	dt_error why = {0};
	dt_probedesc d;
	int n = 0, rc;

	if (dt_pdesc_parse(&in, &d, &why) < 0)
		return dt_session_err(h, why.code, "%s: \"%.300s\"", why.text, in.text);
	rc = report(h, &d, f, arg, &n);
	if (rc == 0 && n == 0) {
		if (h->err.text[0])
			rc = (h->err.code = EDT_NOPROBE, dt_session_fail(h));
		else
			rc = dt_session_err(h, EDT_NOPROBE, NULL);
	}
	return rc;
}

static bool same_desc(const dt_probedesc *a, const dt_probedesc *b)
{
	return a->id == b->id && a->machine == b->machine && strcmp(a->prov, b->prov) == 0 && strcmp(a->mod, b->mod) == 0 &&
	       strcmp(a->func, b->func) == 0 && strcmp(a->name, b->name) == 0;
}

int dtrace_program_probes(dtrace_hdl_t *h, const dtrace_prog_t *p, dtrace_probe_f *f, void *arg)
{
	const dt_clause *last = NULL;
	dt_buf missing = {0};
	int rc = 0;

	for (uint32_t i = 0; i < p->nclauses && rc == 0; i++) {
		const dt_clause *c = &p->clauses[i];
		int n = 0;

		if (last && same_desc(&last->desc, &c->desc))
			continue; /* several clauses on one description list it once */
		last = c;
		rc = report(h, &c->desc, f, arg, &n);
		if (rc == 0 && n == 0) {
			dt_buf_puts(&missing,
				    missing.n ? "; failed to match " : "failed to match ");
			dt_probedesc_print(&c->desc, &missing);
			dt_buf_printf(&missing, ": %s",
				      h->err.text[0] ? h->err.text : dt_strerror(EDT_NOPROBE));
		}
	}
	if (rc == 0 && missing.n)
		rc = dt_session_err(h, EDT_NOPROBE, "%s", missing.s);
	dt_buf_free(&missing);
	return rc;
}
