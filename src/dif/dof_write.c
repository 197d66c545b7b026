/*
 * dof_write: a program as a DOF file.
 *
 * Sections are collected in one buffer; the header and the section table, whose sizes are known
 * only at the end, are put before it then. All strings but those of DIFOs share one string table,
 * which is section 0 and therefore written last of the loadable ones.
 *
 * Clauses that come from one source clause share their actions in memory, and so in the file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dif/dof_file.h"

#define STRINGS 0 /* section of the shared string table */

struct writer {
	DT_VEC(struct dof_sec) secs; /* offsets count from the start of `data` */
	dt_buf data;
	dt_buf strings;
	dt_map *known; /* string -> offset + 1 in `strings` */
	DT_VEC(struct dof_stmt) stmts;
	DT_VEC(struct dof_aggref) aggrefs;
	dt_map *difos; /* address -> section + 1 */
};

static bool is_loadable(uint32_t type)
{
	return type != DT_DOF_COMMENTS && type != DT_DOF_SOURCE && type != DT_DOF_UTSNAME &&
	       type < DT_DOF_STATEMENTS;
}

static void fill_section(struct writer *w, uint32_t index, uint32_t type, uint32_t align,
			 const void *p, size_t n)
{
	static const char zeros[8];

	dt_buf_add(&w->data, zeros, dt_align_up(w->data.n, align) - w->data.n);
	w->secs.v[index] = (struct dof_sec){
	    .type = type,
	    .align = align,
	    .flags = is_loadable(type) ? DOF_LOAD : 0,
	    .entsize = dt_dof_entry_size(type),
	    .offset = w->data.n,
	    .size = n,
	};
	dt_buf_add(&w->data, p, n);
}

static uint32_t add_section(struct writer *w, uint32_t type, uint32_t align, const void *p,
			    size_t n)
{
	uint32_t index = w->secs.n;

	dt_vec_add(&w->secs, NULL);
	fill_section(w, index, type, align, p, n);
	return index;
}

/* Offset of a string in the shared table. Offset 0 is the empty string. */
static uint32_t add_string(struct writer *w, const char *s)
{
	uintptr_t at;

	if (!s || !*s)
		return 0;
	at = (uintptr_t)dt_map_get(w->known, s);
	if (at == 0) {
		at = w->strings.n + 1;
		dt_buf_add(&w->strings, s, strlen(s) + 1);
		dt_map_set(w->known, s, (void *)at);
	}
	return (uint32_t)(at - 1);
}

/* Consecutive strings, such as the types of a probe's arguments: never shared. */
static uint32_t add_types(struct writer *w, dt_type *const *types, uint32_t n)
{
	uint32_t at = (uint32_t)w->strings.n;

	for (uint32_t i = 0; i < n; i++) {
		dt_buf text = {0};

		dt_type_print(NULL, types[i], NULL, &text);
		dt_buf_add(&w->strings, text.s ? text.s : "", text.n + 1);
		dt_buf_free(&text);
	}
	return n > 0 ? at : 0;
}

/* ---- DIFOs ---- */

static void write_relocs(struct writer *w, const dt_difo *d, bool user, uint32_t strsec,
			 uint32_t intsec)
{
	DT_VEC(struct dof_rel) rels = {0};

	for (uint32_t i = 0; i < d->nrelocs; i++)
		if (d->relocs[i].user == user)
			*dt_vec_add(&rels, NULL) = (struct dof_rel){
			    .name = d->relocs[i].name,
			    .type = DOF_REL_SETX,
			    .offset = (uint64_t)d->relocs[i].index * 8,
			    .data = d->relocs[i].data,
			};
	if (rels.n > 0) {
		struct dof_relhdr h = {.strtab = strsec, .tgtsec = intsec};

		h.relsec = add_section(w, DT_DOF_RELTAB, 8, rels.v, rels.n * sizeof(*rels.v));
		add_section(w, user ? DT_DOF_URELHDR : DT_DOF_KRELHDR, 4, &h, sizeof(h));
	}
	dt_vec_free(&rels);
}

static uint32_t write_difo(struct writer *w, const dt_difo *d);

static uint32_t write_new_difo(struct writer *w, const dt_difo *d)
{
	struct {
		struct dof_difohdr h;
		uint32_t links[];
	} *rec = dt_xcalloc(1, sizeof(*rec) + (4 + (size_t)d->nfunctions) * sizeof(rec->links[0]));
	uint32_t n = 0, intsec = DOF_NONE, strsec = DOF_NONE, section;

	rec->h.rtype = d->rtype;
	rec->h.rtype.pad = 0;
	rec->links[n++] = add_section(w, DT_DOF_DIF, 4, d->text, (size_t)d->len * sizeof(*d->text));
	if (d->intlen > 0)
		rec->links[n++] = intsec = add_section(w, DT_DOF_INTTAB, 8, d->inttab,
						      (size_t)d->intlen * sizeof(*d->inttab));
	if (d->strlen > 0)
		rec->links[n++] = strsec = add_section(w, DT_DOF_STRTAB, 1, d->strtab, d->strlen);
	if (d->nvars > 0)
		rec->links[n++] =
		    add_section(w, DT_DOF_VARTAB, 4, d->vars, (size_t)d->nvars * sizeof(*d->vars));
	write_relocs(w, d, false, strsec, intsec);
	write_relocs(w, d, true, strsec, intsec);
	for (uint32_t i = 0; i < d->nfunctions; i++)
		rec->links[n++] = write_difo(w, d->functions[i]); /* it calls none */
	section = add_section(w, DT_DOF_DIFOHDR, 4, rec, sizeof(*rec) + n * sizeof(rec->links[0]));
	free(rec);
	return section;
}

/* Once, however many functions or clauses have it: a reader knows by that which functions of clauses are the same. */
static uint32_t write_difo(struct writer *w, const dt_difo *d)
{
	char name[2 + 2 * sizeof(d) + 1];
	uintptr_t section;

	snprintf(name, sizeof(name), "%p", (const void *)d);
	section = (uintptr_t)dt_map_get(w->difos, name);
	if (section == 0) {
		section = (uintptr_t)write_new_difo(w, d) + 1;
		dt_map_set(w->difos, name, (void *)section);
	}
	return (uint32_t)(section - 1);
}

/* ---- clauses ---- */

static void write_stmts(struct writer *w, const dt_clause *c, uint32_t actsec)
{
	for (uint32_t i = 0; i < c->nstmts; i++) {
		const dt_stmt *s = &c->stmts[i];

		*dt_vec_add(&w->stmts, NULL) = (struct dof_stmt){
		    .actions = actsec,
		    .first = s->first,
		    .nactions = s->nactions,
		    .kind = s->kind,
		    .first_agg = w->aggrefs.n,
		    .naggs = s->naggs,
		    .arg = s->format_text && s->nactions > 0 ? c->actions[s->first].arg : 0,
		};
		for (uint32_t j = 0; j < s->naggs; j++)
			*dt_vec_add(&w->aggrefs, NULL) = (struct dof_aggref){
			    .strtab = STRINGS,
			    .name = add_string(w, s->aggs[j]->name),
			    .id = s->aggs[j]->id,
			};
	}
}

/* The section of a clause's actions; DOF_NONE: the default action. */
static uint32_t write_actions(struct writer *w, const dt_clause *c)
{
	struct dof_act *acts;
	uint32_t sec;

	if (c->nactions == 0)
		return DOF_NONE;
	acts = dt_xcalloc(c->nactions, sizeof(*acts));
	for (uint32_t i = 0; i < c->nactions; i++) {
		const dt_action *a = &c->actions[i];

		acts[i] = (struct dof_act){
		    .difo = a->difo ? write_difo(w, a->difo) : DOF_NONE,
		    .strtab = DOF_NONE,
		    .kind = a->kind,
		    .ntuple = a->ntuple,
		    .arg = a->arg,
		    .uarg = a->incr ? (uint64_t)write_difo(w, a->incr) + 1 : 0,
		};
	}
	for (uint32_t i = 0; i < c->nstmts; i++) {
		const dt_stmt *s = &c->stmts[i];

		if (!s->format_text || s->nactions == 0)
			continue;
		acts[s->first].strtab = STRINGS;
		acts[s->first].arg = add_string(w, s->format_text);
	}
	sec = add_section(w, DT_DOF_ACTDESC, 8, acts, (size_t)c->nactions * sizeof(*acts));
	free(acts);
	write_stmts(w, c, sec);
	return sec;
}

static void write_clauses(struct writer *w, const dt_program *p)
{
	uint32_t actsec = DOF_NONE, pred = DOF_NONE;

	for (uint32_t i = 0; i < p->nclauses; i++) {
		const dt_clause *c = &p->clauses[i], *before = i > 0 ? c - 1 : NULL;
		struct dof_probedesc d = {
		    .strtab = STRINGS,
		    .prov = add_string(w, c->desc.prov),
		    .mod = add_string(w, c->desc.mod),
		    .func = add_string(w, c->desc.func),
		    .name = add_string(w, c->desc.name),
		    .id = c->desc.id,
		};
		struct dof_ecb ecb = {.uarg = (uint64_t)c->source + 1};

		if (!before || before->actions != c->actions || before->nactions != c->nactions)
			actsec = write_actions(w, c);
		if (!c->pred)
			pred = DOF_NONE;
		else if (!before || before->pred != c->pred)
			pred = write_difo(w, c->pred);
		ecb.probes = add_section(w, DT_DOF_PROBEDESC, 4, &d, sizeof(d));
		ecb.pred = pred;
		ecb.actions = actsec;
		add_section(w, DT_DOF_ECBDESC, 8, &ecb, sizeof(ecb));
	}
}

/* ---- options and providers ---- */

static void write_options(struct writer *w, const dt_options *o)
{
	DT_VEC(struct dof_opt) opts = {0};

	for (int i = 0; o && i < DT_O_MAX; i++) {
		const struct dt_opt_desc *desc = &dt_opt_table[i];
		struct dof_opt rec = {.number = (uint32_t)desc->number, .strtab = DOF_NONE};

		if (!o->is_set[i] || desc->number < 0)
			continue;
		if (desc->kind == DT_OPT_STRING) {
			rec.strtab = STRINGS;
			rec.value = add_string(w, o->text[i]);
		} else
			rec.value = o->value[i];
		*dt_vec_add(&opts, NULL) = rec;
	}
	if (opts.n > 0)
		add_section(w, DT_DOF_OPTDESC, 8, opts.v, opts.n * sizeof(*opts.v));
	dt_vec_free(&opts);
}

static uint32_t attr_word(dt_attr a)
{
	return (uint32_t)a.name << 24 | (uint32_t)a.data << 16 | (uint32_t)a.class_ << 8;
}

/* A declaration only: the sites of its probes are added when objects are linked. */
static void write_provider(struct writer *w, const dt_provider_decl *decl)
{
	struct dof_probe *probes = dt_xcalloc(decl->nprobes + 1, sizeof(*probes));
	struct dof_provider rec = {.strtab = STRINGS, .name = add_string(w, decl->name)};
	dt_buf map = {0};

	for (uint32_t i = 0; i < decl->nprobes; i++) {
		const dt_provider_probe *pr = &decl->probes[i];

		probes[i] = (struct dof_probe){
		    .name = add_string(w, pr->name),
		    .nargv = add_types(w, pr->native, pr->nnative),
		    .xargv = add_types(w, pr->xlated, pr->nxlated),
		    .argidx = (uint32_t)map.n,
		    .nargc = (uint8_t)pr->nnative,
		    .xargc = (uint8_t)pr->nxlated,
		};
		if (pr->nxlated > 0 && pr->map)
			dt_buf_add(&map, pr->map, pr->nxlated);
	}
	for (int i = 0; i < 5; i++)
		rec.attrs[i] = attr_word(decl->attrs[i]);
	rec.probes = add_section(w, DT_DOF_PROBES, 8, probes, decl->nprobes * sizeof(*probes));
	rec.prargs = add_section(w, DT_DOF_PRARGS, 1, map.s ? map.s : "", map.n);
	rec.proffs = rec.prenoffs = DOF_NONE;
	add_section(w, DT_DOF_PROVIDER, 4, &rec, sizeof(rec));
	dt_buf_free(&map);
	free(probes);
}

/* ---- the file ---- */

static void write_file(struct writer *w, uint64_t loadable, dt_buf *out)
{
	uint64_t start = sizeof(struct dof_hdr) + (uint64_t)w->secs.n * sizeof(struct dof_sec);
	struct dof_hdr h = {
	    .ident = {[DOF_ID_MODEL] = DOF_MODEL_LP64,
		      [DOF_ID_ENCODING] = DOF_ENCODING,
		      [DOF_ID_VERSION] = DOF_VERSION_MAX,
		      [DOF_ID_DIFVERS] = DT_DIF_VERSION,
		      [DOF_ID_IREGS] = DT_DIF_NREGS,
		      [DOF_ID_TREGS] = DT_DIF_NTREGS},
	    .hdrsize = sizeof(h),
	    .secsize = sizeof(struct dof_sec),
	    .secnum = w->secs.n,
	    .secoff = sizeof(h),
	    .loadsz = start + loadable,
	    .filesz = start + w->data.n,
	};

	memcpy(h.ident, DOF_MAGIC, 4);
	dt_buf_add(out, &h, sizeof(h));
	for (uint32_t i = 0; i < w->secs.n; i++)
		w->secs.v[i].offset += start; /* 64 + 32 n: keeps every alignment up to 8 */
	dt_buf_add(out, w->secs.v, w->secs.n * sizeof(*w->secs.v));
	dt_buf_add(out, w->data.s, w->data.n);
}

void dt_dof_write(const dt_program *p, dt_buf *out)
{
	static const char comment[] = "dtrace " DT_VERSION_TEXT " (Linux)";
	struct writer w = {.known = dt_map_new(), .difos = dt_map_new()};
	uint64_t loadable;

	dt_vec_add(&w.secs, NULL); /* STRINGS */
	dt_buf_add(&w.strings, "", 1);
	write_clauses(&w, p);
	write_options(&w, p->options);
	for (uint32_t i = 0; i < p->nproviders; i++)
		write_provider(&w, &p->providers[i]);
	fill_section(&w, STRINGS, DT_DOF_STRTAB, 1, w.strings.s, w.strings.n);
	loadable = w.data.n;
	if (w.stmts.n > 0)
		add_section(&w, DT_DOF_STATEMENTS, 8, w.stmts.v, w.stmts.n * sizeof(*w.stmts.v));
	if (w.aggrefs.n > 0)
		add_section(&w, DT_DOF_AGGREFS, 4, w.aggrefs.v, w.aggrefs.n * sizeof(*w.aggrefs.v));
	if (!p->options || !dt_opt(p->options, DT_O_STRIP))
		add_section(&w, DT_DOF_COMMENTS, 1, comment, sizeof(comment));
	write_file(&w, loadable, out);
	dt_vec_free(&w.secs);
	dt_vec_free(&w.stmts);
	dt_vec_free(&w.aggrefs);
	dt_buf_free(&w.data);
	dt_buf_free(&w.strings);
	dt_map_free(w.known);
	dt_map_free(w.difos);
}
