/*
 * events: where enabled probes fire, and what is computed there before their clauses run.
 *
 * The provider of a probe defines the events at which it fires (probe/attach.h). A stable probe has
 * a condition and arguments, D text about the event, which are compiled to DIF here. An engine gets
 * both with the ECBs (engine.h), so it needs neither a provider nor a compiler.
 *
 * The text is compiled when tracing begins, or when a probe is added, but not for a listing: it
 * looks up kernel types.
 */
#include <stdio.h>

#include "session/session.h"

/* What args[] means in the text: the event's own arguments, as the kernel describes them. */
static void event_args(dtrace_hdl_t *h, const dt_attach *at, struct dt_probe_args *out)
{
	dt_types *ts = h->types;
	uint32_t skip = at->kind == DT_AT_TRACEPOINT;
	dt_type *f = at->kind == DT_AT_TRACEPOINT ? dt_tracepoint_type(ts, at->event)
		     : at->kind == DT_AT_FUNC_ENTRY || at->kind == DT_AT_FUNC_RETURN
			 ? dt_type_of_symbol(ts, at->module, at->event)
			 : NULL;

	*out = (struct dt_probe_args){.nprobes = 1};
	if (!f || f->kind != DT_K_FUNCTION)
		return;
	dt_type_complete(ts, f);
	out->typed = true;
	out->args = dt_arena_alloc(dt_compiler_arena(h->cc), (f->nparams + 2) * sizeof(*out->args));
	if (at->kind == DT_AT_FUNC_RETURN) { /* args[1] is what it returns */
		out->nargs = 2;
		out->args[0].native = dt_intrinsics(ts)->int64;
		out->args[1] = (dt_probe_arg){.native = f->ref, .mapping = 1};
		return;
	}
	for (uint32_t i = skip; i < f->nparams; i++)
		out->args[out->nargs++] =
		    (dt_probe_arg){.native = f->params[i], .mapping = (int)(i - skip)};
}

static const dt_difo *compile(dtrace_hdl_t *h, const char *text, struct dt_probe_args *args,
			      dt_error *err)
{
	dt_error why;
	const dt_difo *d = dt_compile_expr(h->cc, text, args, &why);

	if (!d)
		dt_err(err, EDT_NOPROBE, "this kernel is not as expected: %s: %s", text, why.text);
	return d;
}

static int compile_prologue(dtrace_hdl_t *h, dt_event *x, dt_error *err)
{
	const dt_attach_text *text = x->at.text;
	struct dt_probe_args args;
	dt_prologue *p;

	if (!text || (!text->when && !text->narg))
		return 0;
	event_args(h, &x->at, &args);
	p = dt_arena_alloc(dt_probes_arena(h->probes), sizeof(*p));
	p->own = text->narg == 0;
	if (text->when && !(p->when = compile(h, text->when, &args, err)))
		return -1;
	for (uint32_t i = 0; i < text->narg; i++)
		if (text->arg[i] && !(p->arg[i] = compile(h, text->arg[i], &args, err)))
			return -1;
	x->prologue = p;
	return 0;
}

/* NULL with *err: it cannot be attached. */
static dt_events *resolve(dtrace_hdl_t *h, const dt_probe *p, dt_error *err)
{
	dt_attach at = {0};
	char why[200] = "";
	dt_error problem;
	dt_events *all;
	uint32_t n = 0;

	if (!p->provider->attach ||
	    p->provider->attach(p->provider, h->probes, p, &at, why, sizeof(why)) < 0) {
		dt_err(err, EDT_NOPROBE, "cannot enable %s:%s:%s:%s%s%s", p->prov, p->mod, p->func,
		       p->name, *why ? ": " : "", why);
		return NULL;
	}
	for (const dt_attach *a = &at; a; a = a->also)
		n++;
	all = dt_arena_alloc(dt_probes_arena(h->probes), sizeof(*all) + n * sizeof(*all->v));
	for (const dt_attach *a = &at; a; a = a->also) {
		all->v[all->n].at = *a;
		if (compile_prologue(h, &all->v[all->n++], &problem) < 0) {
			dt_err(err, EDT_NOPROBE, "cannot enable %s:%s:%s:%s: %s", p->prov, p->mod,
			       p->func, p->name, problem.text);
			return NULL;
		}
	}
	return all;
}

void dt_events_begin(dtrace_hdl_t *h)
{
	dt_map_free(h->events);
	h->events = dt_map_new();
}

int dt_events_of(dtrace_hdl_t *h, dt_ecb *ecb, dt_error *err)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", ecb->probe->id);
	ecb->events = dt_map_get(h->events, key);
	if (ecb->events)
		return 0;
	ecb->events = resolve(h, ecb->probe, err);
	if (!ecb->events)
		return -1;
	dt_map_set(h->events, key, (void *)(uintptr_t)ecb->events);
	return 0;
}
