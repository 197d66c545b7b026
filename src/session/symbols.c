/*
 * symbols: names of addresses in processes, for the consumer.
 *
 * The side-band is opened only when the program records user addresses: before the first probe
 * fires, so that even processes that live for less than the consumer's interval are known when
 * their stacks are printed. The symbol cache is opened with it.
 */
#include <stdlib.h>

#include "base/budget.h"
#include "session/session.h"
#include "proc/usym.h"

struct dt_symbols {
	dt_sideband *sb; /* of h->procs */
	dt_usyms *us;
	uint64_t lost;	 /* lost side-band events that have been reported */
	uint64_t missed; /* lost events when an address was not known, perhaps for that reason */
	uint32_t lacks, reported; /* the same for other reasons: 1 << enum dt_sideband_lack */
	uint32_t notes;
	dt_map *lines; /* "path vaddr" -> struct line *; NULL: none was asked for */
};

struct line {
	unsigned line; /* 0: unknown */
	char file[];
};

static bool format_has(const struct dt_format *f, char letter)
{
	for (uint32_t i = 0; f && i < f->nconvs; i++)
		if (f->convs[i].letter == letter)
			return true;
	return false;
}

/* Keys of aggregations are also actions of the clause. */
static bool is_needed(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->ecbs.n; i++) {
		const dt_clause *c = h->ecbs.v[i].clause;

		for (uint32_t a = 0; a < c->nactions; a++)
			if (dt_act(c->actions[a].kind)->needs & DT_NEEDS_SYMBOLS)
				return true;
		for (uint32_t s = 0; s < c->nstmts; s++)
			if (format_has(c->stmts[s].format, 'A'))
				return true;
	}
	return false;
}

void dt_symbols_open(dtrace_hdl_t *h)
{
	struct dt_usyms_opts opts = {
	    .raw_names = dt_opt(&h->opts, DT_O_MANGLED),
	    .debug_dir = h->opts.text[DT_O_DEBUGDIR],
	    .stop = &h->stop,
	    .jail = h->jail,
	};
	const dt_proc *p;

	if (h->symbols || !h->engine_ops->live || !is_needed(h))
		return;
	dt_jail_prepare(h->jail);
	h->symbols = dt_xcalloc(1, sizeof(*h->symbols));
	h->symbols->sb = dt_procs_sideband(h->procs);
	if (!dt_sideband_live(h->symbols->sb))
		dt_session_debug(h, "perf events are refused: processes are known from /proc only");
	for (uint32_t i = 0; (p = dt_procs_nth(h->procs, i)); i++)
		dt_sideband_keep(h->symbols->sb, p->pid); /* they were there before the side-band */
	h->symbols->us = dt_usyms_new(h->symbols->sb, &opts);
}

void dt_symbols_free(dtrace_hdl_t *h)
{
	uint32_t it = 0;
	const char *key;
	void *value;

	if (!h->symbols)
		return;
	dt_usyms_free(h->symbols->us);
	while (h->symbols->lines && dt_map_next(h->symbols->lines, &it, &key, &value))
		free(value);
	if (h->symbols->lines)
		dt_map_free(h->symbols->lines);
	free(h->symbols);
	h->symbols = NULL;
}

static int report_missing(dtrace_hdl_t *h, const char *why)
{
	char *text = dt_xasprintf("%s: addresses of processes that have ended may stay without names", why);
	int rc = dt_session_diag(h, DT_DIAG_DROP, text);

	free(text);
	return rc;
}

static bool is_new(dtrace_hdl_t *h, enum dt_sideband_lack what)
{
	uint32_t bit = 1u << what;
	bool is = h->symbols->lacks & ~h->symbols->reported & bit;

	h->symbols->reported |= h->symbols->lacks & bit;
	return is;
}

/* Living processes are read again; but some may have come and gone meanwhile. It is reported only
 * if one of them is needed: other processes of the machine do not matter. */
static int report_losses(dtrace_hdl_t *h)
{
	uint64_t n = h->symbols->missed - h->symbols->lost;
	char *text;
	int rc = 0;

	if (is_new(h, DT_SB_LACKS_REFUSED))
		rc = report_missing(h, dt_sideband_refused(h->symbols->sb));
	if (rc == 0 && is_new(h, DT_SB_LACKS_FORGOTTEN))
		rc = report_missing(h, "processes map more files than are remembered");
	if (rc < 0)
		return rc;
	if (n == 0)
		return 0;
	h->symbols->lost = h->symbols->missed;
	text = dt_xasprintf("%llu process event%s lost", (unsigned long long)n, n == 1 ? "" : "s");
	rc = report_missing(h, text);
	free(text);
	return rc;
}

/* Files whose reader died. */
int dt_readers_report(dtrace_hdl_t *h)
{
	char *text;
	int rc = 0;

	while (rc == 0 && (text = dt_jail_problem(h->jail))) {
		rc = dt_session_diag(h, DT_DIAG_DROP, text);
		free(text);
	}
	return rc;
}

/* Why addresses may be without names: lost events, files that are not read as a whole, or not at all. */
int dt_symbols_report(dtrace_hdl_t *h)
{
	char *text;
	int rc = dt_readers_report(h);

	if (!h->symbols || rc < 0)
		return rc;
	rc = report_losses(h);
	while (rc == 0 && (text = dt_usyms_problem(h->symbols->us))) {
		if (h->symbols->notes++ < DT_MAX_FILE_NOTES)
			rc = dt_session_diag(h, DT_DIAG_DROP, text);
		free(text);
	}
	return rc;
}

int dt_symbols_update(dtrace_hdl_t *h)
{
	if (!h->symbols)
		return dt_readers_report(h);
	dt_sideband_drain(h->symbols->sb);
	dt_usyms_trim(h->symbols->us);
	return dt_symbols_report(h);
}

static void note_missed(struct dt_symbols *s, long pid)
{
	enum dt_sideband_lack lack = dt_sideband_lacks(s->sb, pid);

	if (lack == DT_SB_LACKS_LOST)
		s->missed = dt_sideband_lost(s->sb);
	s->lacks |= 1u << lack;
}

/* Events since the last update may explain the address. */
bool dt_symbols_find(void *arg, long pid, uint64_t time, uint64_t addr, const char **obj,
		     const char **sym, uint64_t *off)
{
	dtrace_hdl_t *h = arg;
	dt_usym s;

	if (!h->symbols)
		return false;
	if (pid == 0)
		pid = h->macros.target;
	if (!dt_usym_by_addr(h->symbols->us, pid, time, addr, &s)) {
		dt_sideband_drain(h->symbols->sb);
		if (!dt_usym_by_addr(h->symbols->us, pid, time, addr, &s)) {
			note_missed(h->symbols, pid);
			return false;
		}
	}
	*obj = s.object;
	*sym = s.name;
	*off = s.name ? s.offset : s.base ? addr - s.base : 0;
	return true;
}

void dt_symbols_keep(void *arg, long pid)
{
	dtrace_hdl_t *h = arg;

	if (h->symbols)
		dt_sideband_keep(h->symbols->sb, pid);
}

/* A stack is shown again and again: each place is looked up once. */
bool dt_symbols_line(void *arg, long pid, uint64_t time, uint64_t addr, const char **file,
		     unsigned *line)
{
	dtrace_hdl_t *h = arg;
	struct line *known;
	dt_buf name = {0};
	uint64_t bias;
	unsigned n = 0;
	dt_elf *e;
	char *key;

	e = h->symbols
		? dt_usym_object(h->symbols->us, pid ? pid : h->macros.target, time, addr, &bias)
		: NULL;
	if (!e)
		return false;
	if (!h->symbols->lines)
		h->symbols->lines = dt_map_new();
	key = dt_xasprintf("%s %llx", dt_elf_path(e), (unsigned long long)(addr - bias));
	known = dt_map_get(h->symbols->lines, key);
	if (!known) {
		if (!dt_elf_line(e, addr - bias, &name, &n))
			n = 0;
		known = dt_xcalloc(1, sizeof(*known) + name.n + 1);
		known->line = n;
		memcpy(known->file, name.n ? name.s : "", name.n);
		dt_map_set(h->symbols->lines, key, known);
		dt_buf_free(&name);
	}
	free(key);
	*file = known->file;
	*line = known->line;
	return known->line != 0;
}
