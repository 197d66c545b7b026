/*
 * stable: makes providers of tables (stable.h).
 *
 * A probe exists if each of its sites does: the tracepoint, system call or kernel function can be
 * traced here, or one of its replacements. The kernel is not queried before a name matches, so a
 * script that does not use these probes pays nothing for them. The text of a site is compiled when
 * the probe is enabled (session/events.c).
 */
#include <linux/perf_event.h>
#include <stdio.h>

#include "arch/syscalls.h"
#include "probe/providers/stable.h"

#define MODULE "vmlinux"

static const dt_stable_table *table_of(const dt_provider *p)
{
	return p->data;
}

static const dt_stable_probe *row_of(const dt_provider *p, uint32_t id)
{
	return id - p->id_base < table_of(p)->n ? &table_of(p)->probes[id - p->id_base] : NULL;
}

/* ---- what this kernel has ---- */

static bool is_call(const dt_stable_site *s)
{
	return s->kind == DT_AT_SYSCALL_ENTRY || s->kind == DT_AT_SYSCALL_RETURN;
}

static bool has_site(dt_probes *ps, const dt_stable_site *s)
{
	dt_types *ts = dt_probes_types(ps);

	switch (s->kind) {
	case DT_AT_TRACEPOINT: return ts && dt_tracepoint_exists(ts, s->event);
	case DT_AT_SYSCALL_ENTRY:
	case DT_AT_SYSCALL_RETURN: return dt_syscall_by_name(s->event) && (!s->in_child || dt_syscalls()->child_returns);
	case DT_AT_FUNC_ENTRY:
	case DT_AT_FUNC_RETURN: return dt_fbt_has(ps, s->module, s->event, s->kind == DT_AT_FUNC_RETURN);
	default: return true;
	}
}

/* The site to use, of s and its replacements; NULL: none. *next is the site after them. */
static const dt_stable_site *choose_site(dt_probes *ps, const dt_stable_probe *row, const dt_stable_site *s,
					 const dt_stable_site **next)
{
	const dt_stable_site *found = NULL;

	do {
		if (!found && has_site(ps, s))
			found = s;
		s++;
	} while (s < row->sites + row->nsites && s->instead);
	*next = s;
	return found;
}

/* The site that is missing; NULL: the probe can be enabled. Of several system calls that do the same, not every CPU has all:
 * one suffices. */
static const dt_stable_site *missing_site(dt_probes *ps, const dt_stable_probe *row)
{
	const dt_stable_site *next, *missing = NULL;
	bool some = false;

	for (const dt_stable_site *s = row->sites; s < row->sites + row->nsites; s = next) {
		const dt_stable_site *use = choose_site(ps, row, s, &next);

		if (!use && !is_call(s))
			return s;
		if (use)
			some = some || !use->nothing;
		else if (!missing)
			missing = s;
	}
	return some ? NULL : missing;
}

/* The name of the site, and why this kernel lacks it. */
static void explain_site(dt_probes *ps, const dt_stable_site *s, char *why, size_t whylen)
{
	bool on_return = s->kind == DT_AT_FUNC_RETURN;
	char reason[256] = "";

	if (s->kind == DT_AT_FUNC_ENTRY || on_return) {
		dt_fbt_missing(ps, s->module, s->event, on_return, reason, sizeof(reason));
		snprintf(why, whylen, "tracing of the kernel function %s%s%s", s->event, *reason ? ": " : "", reason);
	} else {
		snprintf(why, whylen, "the %s %s, which this kernel does not have",
			 s->kind == DT_AT_TRACEPOINT ? "tracepoint" : "system call", s->event);
	}
}

static void explain_missing(dt_probes *ps, const dt_provider *p, const dt_stable_probe *row,
			    const dt_stable_site *s, char *why, size_t whylen)
{
	const char *problem = dt_types_kernel_problem(dt_probes_types(ps));
	char what[512];

	if (problem)
		snprintf(what, sizeof(what), "the kernel's types: %s", problem);
	else if (row->needs)
		snprintf(what, sizeof(what), "%s", row->needs);
	else
		explain_site(ps, s, what, sizeof(what));
	snprintf(why, whylen, "%s:%s:%s:%s needs %s", p->name, row->mod ? row->mod : "", row->func ? row->func : "", row->name, what);
}

/* ---- discovery ---- */

static bool field_matches(const char *pattern, const char *text)
{
	bool is_literal = *pattern != '*' && *pattern != '?' && *pattern != '[' && *pattern != '\\';

	if (is_literal && *pattern && *pattern != *text) /* most rows end here */
		return false;
	return !*pattern || dt_glob_match(pattern, text);
}

static bool row_matches(const dt_stable_probe *row, const dt_probedesc *d)
{
	return field_matches(d->name, row->name) && field_matches(d->func, row->func ? row->func : "") &&
	       field_matches(d->mod, row->mod ? row->mod : MODULE);
}

bool dt_stable_means(const dt_provider *p, const dt_probedesc *d, uint32_t i)
{
	return d->id ? d->id == p->id_base + i : i < table_of(p)->n && row_matches(&table_of(p)->probes[i], d);
}

/* The first part of the description, from its end, that no probe has, and the nearest name. */
static void suggest(const dt_provider *p, const dt_probedesc *d, char *why, size_t whylen)
{
	const dt_stable_table *t = table_of(p);
	DT_VEC(const char *) names = {0};
	bool name = false, func = false;
	const char *asked;

	for (uint32_t i = 0; i < t->n; i++) {
		const dt_stable_probe *row = &t->probes[i];

		name = name || strcmp(row->name, d->name) == 0;
		func = func || (strcmp(row->name, d->name) == 0 && field_matches(d->func, row->func ? row->func : ""));
	}
	asked = !name ? d->name : !func ? d->func : d->mod;
	for (uint32_t i = 0; i < t->n; i++) {
		const dt_stable_probe *row = &t->probes[i];

		*dt_vec_add(&names, NULL) = !name ? row->name : !func ? (row->func ? row->func : "") : row->mod ? row->mod : MODULE;
	}
	snprintf(why, whylen, "provider %s has no %s \"%s\"%s", p->name, !name ? "probe" : !func ? "function" : "module", asked,
		 dt_did_you_mean(asked, names.v, names.n).text);
	dt_vec_free(&names);
}

int dt_stable_discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why,
		       size_t whylen)
{
	const dt_stable_table *t = table_of(p);
	bool named = false;

	(void)listing;
	for (uint32_t i = 0; i < t->n; i++) {
		const dt_stable_probe *row = &t->probes[i];
		const dt_stable_site *missing;

		if (d->id ? d->id != p->id_base + i : !row_matches(row, d))
			continue;
		named = true;
		missing = missing_site(ps, row);
		if (!missing)
			dt_probes_add(ps, p, p->id_base + i, p->name, row->mod ? row->mod : MODULE,
				      row->func ? row->func : "", row->name, i);
		else if (*d->prov && !*why)
			explain_missing(ps, p, row, missing, why, whylen);
	}
	if (!named && *d->prov && *d->name && !dt_glob_is_pattern(d->name))
		suggest(p, d, why, whylen);
	return 0;
}

/* ---- arguments ---- */

int dt_stable_args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		   const char **xlated, int *mapping, int max)
{
	const dt_stable_probe *row = row_of(p, pr->id);
	int n = 0;

	(void)ps;
	for (; row && n < max && n < DT_STABLE_ARGS && row->args[n].native; n++) {
		native[n] = row->args[n].native;
		xlated[n] = row->args[n].type ? row->args[n].type : row->args[n].native;
		mapping[n] = row->args[n].from;
	}
	return n;
}

/* ---- attaching ---- */

static void attach_site(dt_probes *ps, const dt_stable_probe *row, const dt_stable_site *s, const dt_syscall *call, dt_attach *at)
{
	dt_attach_text *text = dt_probes_text(ps, at);

	at->kind = s->kind;
	at->inside = row->inside;
	at->event = s->event;
	at->module = s->module;
	at->task_arg = s->task_arg;
	text->when = s->when;
	text->narg = DT_STABLE_ARGS; /* those without text are 0: a stable probe never shows the event's own */
	for (uint32_t i = 0; i < DT_STABLE_ARGS; i++)
		text->arg[i] = s->arg[i];
	at->number = call ? call->nr : s->number;
	if (s->kind == DT_AT_PERF) {
		at->perf_type = PERF_TYPE_SOFTWARE;
		at->period = 1;
	}
}

/* A site, after the last one. A system call is two: 32-bit programs have their own. The CPU may have only one of them. */
static dt_attach *attach_sites(dt_probes *ps, const dt_stable_probe *row, const dt_stable_site *s, dt_attach *at, dt_attach *last)
{
	bool call = is_call(s);
	const dt_syscall *calls[2] = {call ? dt_syscall_by_name(s->event) : NULL,
				      call && dt_has_compat_syscalls() ? dt_compat_syscall_by_name(s->event)
								       : NULL};

	for (uint32_t i = 0; i < 2; i++) {
		if (call ? !calls[i] : i)
			continue;
		if (last)
			last->also = dt_arena_alloc(dt_probes_arena(ps), sizeof(*at));
		last = last ? (dt_attach *)last->also : at;
		attach_site(ps, row, s, calls[i], last);
	}
	return last;
}

int dt_stable_attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		     size_t whylen)
{
	const dt_stable_probe *row = row_of(p, pr->id);
	const dt_stable_site *s, *next, *use;
	dt_attach *last = NULL;

	if (!row)
		return -1;
	for (s = row->sites; s < row->sites + row->nsites; s = next) {
		use = choose_site(ps, row, s, &next);
		if (!use && !is_call(s)) {
			explain_missing(ps, p, row, s, why, whylen);
			return -1;
		}
		if (!use && !s->in_child)
			use = s; /* that of 32-bit programs, if they have it */
		if (use && !use->nothing)
			last = attach_sites(ps, row, use, at, last);
	}
	return last ? 0 : -1;
}
