/*
 * dof_read: a DOF file as a program.
 *
 * The file may be anything. dof_file.c checks the pieces; here they are put together, each DIFO and
 * each array of actions once, and shared by all that refer to it. References only go down (ECB to
 * actions to DIFO to tables, each of a fixed type), so there are no cycles to find.
 *
 * A small file can describe a large program, by referring to one section many times. What it
 * expands to is therefore counted as it grows (spend()), up to a limit, which also bounds the time
 * and memory of everything that handles the program later.
 *
 * Provider sections do not concern clauses and are left to the printer and to linking.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dif/dof_file.h"

#define MAX_EXPANSION ((uint64_t)4 * DT_DOF_MAXSIZE)
#define MAX_TEXT      (64u << 10) /* of a format */
#define MAX_AGGNAME   127

struct actions { /* of one ACTDESC section */
	bool read;
	dt_action *acts;
	uint32_t nacts;
	dt_stmt *stmts;
	uint32_t nstmts;
	uint64_t cost;
	/* from STATEMENTS: a range of reader.hints */
	uint32_t first_hint, nhints;
};

struct relocs { /* that patch one INTTAB section; 0 kernel, 1 user */
	bool present[2];
	uint32_t section[2];
	struct dof_relhdr h[2];
};

struct reader {
	dt_dof_image im;
	dt_arena *a;
	dt_error *err;
	dt_program *prog;
	dt_options *opts;
	dt_difo **difos;	 /* by section */
	struct actions *actions; /* by section */
	struct relocs *rels;	 /* by target section */
	struct dof_stmt_hint *hints;
	uint32_t nhints;
	bool ours; /* has STATEMENTS, so user arguments are in our format */
	dt_dof_aggs aggs;
	uint64_t spent;
	bool in_function; /* the DIFO being read is one that another calls */
};

static int spend(struct reader *r, uint32_t section, uint64_t n)
{
	r->spent += n;
	if (r->spent <= MAX_EXPANSION)
		return 0;
	return dt_dof_bad(&r->im, section, "the program is larger than %llu MB",
			  (unsigned long long)(MAX_EXPANSION >> 20));
}

static const char *read_string(struct reader *r, uint32_t from, uint32_t strtab, uint64_t offset,
			       size_t max)
{
	const char *s = dt_dof_string(&r->im, from, strtab, offset, max);

	return s ? dt_arena_strdup(r->a, s) : NULL;
}

/* ---- DIFOs ---- */

static uint64_t difo_cost(const dt_difo *d)
{
	uint64_t cost = sizeof(*d) + (uint64_t)d->len * 4 + (uint64_t)d->intlen * 8 + d->strlen +
			(uint64_t)d->nvars * sizeof(dt_difvar) + (uint64_t)d->nrelocs * sizeof(dt_reloc);

	for (uint32_t i = 0; i < d->nfunctions; i++)
		cost += difo_cost(d->functions[i]); /* they have none */
	return cost;
}

/* One section that a DIFO header refers to. */
static int read_link(struct reader *r, uint32_t from, uint32_t link, dt_difo *d, uint32_t *strsec,
		     uint32_t *intsec)
{
	uint32_t type, count;
	const uint8_t *p;
	size_t size;
	void **table;
	uint32_t *len;

	if (link >= r->im.nsecs)
		return dt_dof_bad(&r->im, from, "refers to section %u, but there are %u", link,
				  r->im.nsecs);
	type = dt_dof_section(&r->im, link).type;
	switch (type) {
	case DT_DOF_DIF: table = (void **)&d->text, len = &d->len; break;
	case DT_DOF_INTTAB:
		table = (void **)&d->inttab, len = &d->intlen;
		*intsec = link;
		break;
	case DT_DOF_STRTAB:
		table = (void **)&d->strtab, len = &d->strlen;
		*strsec = link;
		break;
	case DT_DOF_VARTAB: table = (void **)&d->vars, len = &d->nvars; break;
	case DT_DOF_XLTAB:
		return dt_dof_bad(&r->im, from, "has translations that were not resolved");
	default:
		return dt_dof_bad(&r->im, from,
				  "refers to section %u, which is not a part of a DIFO", link);
	}
	if (*table)
		return dt_dof_bad(&r->im, from, "refers to two sections of one type");
	if (type == DT_DOF_STRTAB) {
		p = dt_dof_payload(&r->im, from, link, type, &size);
		count = (uint32_t)size;
	} else {
		p = dt_dof_table(&r->im, from, link, type, &count);
		size = p ? (size_t)count * dt_dof_entry_size(type) : 0;
	}
	if (!p)
		return -1;
	if (size > DT_DIFO_MAXSIZE)
		return dt_dof_bad(&r->im, link, "larger than a DIFO may be (%u bytes)",
				  DT_DIFO_MAXSIZE);
	if (spend(r, from, size) != 0)
		return -1;
	*table = dt_arena_dup(r->a, p, size);
	*len = count;
	return 0;
}

/* Kernel or user relocations; appended to those already there. */
static int read_relocs(struct reader *r, const struct relocs *rels, bool user, uint32_t strsec,
		       dt_difo *d, uint32_t from)
{
	const struct dof_relhdr *h = &rels->h[user];
	uint32_t count, section = rels->section[user];
	const uint8_t *p;
	dt_reloc *out;

	if (!rels->present[user])
		return 0;
	p = dt_dof_table(&r->im, section, h->relsec, DT_DOF_RELTAB, &count);
	if (!p || spend(r, section, (uint64_t)count * 2 * sizeof(dt_reloc)) != 0)
		return -1;
	if (h->strtab != strsec)
		return dt_dof_bad(&r->im, section, "names are not in the strings of DIFO %u", from);
	out = dt_arena_alloc(r->a, ((size_t)d->nrelocs + count) * sizeof(*out));
	if (d->nrelocs > 0)
		memcpy(out, d->relocs, d->nrelocs * sizeof(*out));
	d->relocs = out;
	for (uint32_t i = 0; i < count; i++) {
		struct dof_rel rel;

		memcpy(&rel, p + (size_t)i * sizeof(rel), sizeof(rel));
		if (rel.type != DOF_REL_SETX || rel.offset % 8 != 0 || rel.offset / 8 >= d->intlen)
			return dt_dof_bad(
			    &r->im, section,
			    "relocation %u: unknown type or outside the integer table", i);
		out[d->nrelocs++] =
		    (dt_reloc){rel.name, (uint32_t)(rel.offset / 8), rel.data, user};
	}
	return 0;
}

static dt_difo *read_difo(struct reader *r, uint32_t from, uint32_t section);

static bool is_function(const struct reader *r, uint32_t link)
{
	return link < r->im.nsecs && dt_dof_section(&r->im, link).type == DT_DOF_DIFOHDR;
}

/* A link to another DIFO is a function that this one calls. Functions call none. */
static int read_function(struct reader *r, uint32_t from, uint32_t link, dt_difo *d)
{
	dt_difo *f;

	if (r->in_function)
		return dt_dof_bad(&r->im, from, "is a function and calls another");
	r->in_function = true;
	f = read_difo(r, from, link);
	r->in_function = false;
	if (!f)
		return -1;
	if (f->nfunctions)
		return dt_dof_bad(&r->im, from, "calls section %u, which calls functions", link);
	d->functions[d->nfunctions++] = f;
	return 0;
}

static dt_difo *read_difo(struct reader *r, uint32_t from, uint32_t section)
{
	uint32_t strsec = DOF_NONE, intsec = DOF_NONE;
	size_t size;
	const uint8_t *p = dt_dof_payload(&r->im, from, section, DT_DOF_DIFOHDR, &size);
	dt_difo *d;

	if (!p)
		return NULL;
	if (r->difos[section])
		return r->difos[section];
	/* A type, at most one link for each of the four tables, and functions. */
	if (size < sizeof(struct dof_difohdr) + 4 ||
	    size > sizeof(struct dof_difohdr) + 16 + 4 * DT_FUNCTIONS_MAX || size % 4 != 0) {
		dt_dof_bad(&r->im, section, "size %zu", size);
		return NULL;
	}
	if (spend(r, section, size * 2) != 0)
		return NULL;
	d = dt_arena_alloc(r->a, sizeof(*d));
	d->functions = dt_arena_alloc(r->a, size / 4 * sizeof(*d->functions));
	memcpy(&d->rtype, p, sizeof(d->rtype));
	for (size_t at = sizeof(struct dof_difohdr); at < size; at += 4) {
		uint32_t link;

		memcpy(&link, p + at, 4);
		if ((is_function(r, link) ? read_function(r, section, link, d)
					  : read_link(r, section, link, d, &strsec, &intsec)) != 0)
			return NULL;
	}
	if (intsec != DOF_NONE &&
	    (read_relocs(r, &r->rels[intsec], false, strsec, d, section) != 0 ||
	     read_relocs(r, &r->rels[intsec], true, strsec, d, section) != 0))
		return NULL;
	if (spend(r, section, sizeof(*d)) != 0)
		return NULL;
	r->difos[section] = d;
	return d;
}

/* ---- actions ---- */

static int read_action(struct reader *r, uint32_t section, const struct dof_act *rec, dt_action *a,
		       struct dof_act_info *info)
{
	a->kind = (enum dt_act)rec->kind;
	a->ntuple = rec->ntuple;
	a->arg = rec->arg;
	info->uarg = rec->uarg;
	if (rec->difo != DOF_NONE) {
		a->difo = read_difo(r, section, rec->difo);
		if (!a->difo)
			return -1;
	}
	/* In DOF of other systems this is an address of their compiler. */
	if (r->ours && rec->uarg != 0) {
		if (rec->uarg > r->im.nsecs)
			return dt_dof_bad(&r->im, section, "increment in section %llu",
					  (unsigned long long)rec->uarg - 1);
		a->incr = read_difo(r, section, (uint32_t)rec->uarg - 1);
		if (!a->incr)
			return -1;
	}
	if (rec->strtab != DOF_NONE) {
		info->string = read_string(r, section, rec->strtab, rec->arg, MAX_TEXT);
		/* A conversion takes two characters and becomes a record of some sixty bytes. */
		if (!info->string || spend(r, section, strlen(info->string) * 32) != 0)
			return -1;
		a->arg = 0;
	}
	return 0;
}

static int read_actions(struct reader *r, uint32_t from, uint32_t section, struct actions **out)
{
	struct dof_act_info *info;
	struct actions *as;
	const uint8_t *p;
	uint32_t n;

	p = dt_dof_table(&r->im, from, section, DT_DOF_ACTDESC, &n);
	if (!p)
		return -1;
	*out = as = &r->actions[section];
	if (as->read)
		return 0;
	as->nacts = n;
	as->acts = dt_arena_alloc(r->a, (size_t)n * sizeof(*as->acts));
	info = dt_arena_alloc(r->a, (size_t)n * sizeof(*info));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = sizeof(*as->acts) + sizeof(*info) + sizeof(dt_stmt);
		struct dof_act rec;

		memcpy(&rec, p + (size_t)i * sizeof(rec), sizeof(rec));
		if (read_action(r, section, &rec, &as->acts[i], &info[i]) != 0)
			return -1;
		cost += as->acts[i].difo ? difo_cost(as->acts[i].difo) : 0;
		cost += as->acts[i].incr ? difo_cost(as->acts[i].incr) : 0;
		as->cost += cost;
		if (spend(r, section, cost) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < as->nhints; i++) {
		const struct dof_stmt *s = &r->hints[as->first_hint + i].s;

		if (s->arg != 0 && s->first < n)
			as->acts[s->first].arg = s->arg;
	}
	if (dt_dof_stmts(r->a, as->acts, info, n, r->hints + as->first_hint, as->nhints, &r->aggs,
			 &as->stmts, &as->nstmts, r->err) != 0) {
		char why[sizeof(r->err->text)];

		snprintf(why, sizeof(why), "%s", r->err->text);
		return dt_dof_bad(&r->im, section, "%s", why);
	}
	as->read = true;
	return 0;
}

/* ---- clauses ---- */

static int read_desc(struct reader *r, uint32_t from, uint32_t section, dt_probedesc *d)
{
	struct dof_probedesc rec;
	size_t size;
	const uint8_t *p = dt_dof_payload(&r->im, from, section, DT_DOF_PROBEDESC, &size);

	if (!p)
		return -1;
	if (size != sizeof(rec))
		return dt_dof_bad(&r->im, section, "size %zu, must be %zu", size, sizeof(rec));
	memcpy(&rec, p, sizeof(rec));
	const struct {
		const char **to;
		uint32_t at;
	} fields[] = {
	    {&d->prov, rec.prov}, {&d->mod, rec.mod}, {&d->func, rec.func}, {&d->name, rec.name}};
	d->id = rec.id;
	for (int i = 0; i < DT_PDESC_NFIELDS; i++) {
		*fields[i].to =
		    read_string(r, section, rec.strtab, fields[i].at, dt_pdesc_fields[i].max);
		if (!*fields[i].to)
			return -1;
	}
	return 0;
}

static int read_ecb(struct reader *r, uint32_t section, dt_clause *c)
{
	static const dt_attr attr = {DT_STAB_UNSTABLE, DT_STAB_UNSTABLE, DT_CLASS_COMMON};
	struct actions *as = NULL;
	struct dof_ecb rec;
	size_t size;
	const uint8_t *p = dt_dof_payload(&r->im, section, section, DT_DOF_ECBDESC, &size);
	uint64_t cost = sizeof(*c) + 4 * (dt_pdesc_fields[DT_PDESC_FUNC].max + 1);

	if (size != sizeof(rec))
		return dt_dof_bad(&r->im, section, "size %zu, must be %zu", size, sizeof(rec));
	memcpy(&rec, p, sizeof(rec));
	if (read_desc(r, section, rec.probes, &c->desc) != 0)
		return -1;
	if (rec.pred != DOF_NONE) {
		c->pred = read_difo(r, section, rec.pred);
		if (!c->pred)
			return -1;
		cost += difo_cost(c->pred);
	}
	if (rec.actions != DOF_NONE) {
		if (read_actions(r, section, rec.actions, &as) != 0)
			return -1;
		c->actions = as->acts;
		c->nactions = as->nacts;
		c->stmts = as->stmts;
		c->nstmts = as->nstmts;
		cost += as->cost;
	}
	c->desc_attr = c->stmt_attr = attr;
	c->source = r->ours && rec.uarg > 0 ? (uint32_t)(rec.uarg - 1) : section;
	return spend(r, section, cost);
}

/* ---- independent sections ---- */

/* A choice may be a number or a word. */
static bool has_right_kind(const struct dt_opt_desc *o, const struct dof_opt *rec)
{
	bool word = rec->strtab != DOF_NONE;

	return o->kind == DT_OPT_CHOICE || (o->kind == DT_OPT_STRING) == word;
}

static int read_options(struct reader *r, uint32_t section)
{
	uint32_t n;
	const uint8_t *p = dt_dof_table(&r->im, section, section, DT_DOF_OPTDESC, &n);

	for (uint32_t i = 0; p && i < n; i++) {
		struct dof_opt rec;
		int id = 0;

		memcpy(&rec, p + (size_t)i * sizeof(rec), sizeof(rec));
		while (id < DT_O_MAX && (dt_opt_table[id].number < 0 ||
					 (uint32_t)dt_opt_table[id].number != rec.number))
			id++;
		if (id == DT_O_MAX)
			return dt_dof_bad(&r->im, section, "unknown option number %u", rec.number);
		if (!has_right_kind(&dt_opt_table[id], &rec))
			return dt_dof_bad(&r->im, section, "option %s: wrong kind of value",
					  dt_opt_table[id].name);
		if (rec.strtab != DOF_NONE) {
			const char *s = read_string(r, section, rec.strtab, rec.value, MAX_TEXT);

			if (!s || spend(r, section, strlen(s)) != 0)
				return -1;
			if (dt_opt_table[id].kind == DT_OPT_CHOICE) {
				if (dt_options_set(r->opts, dt_opt_table[id].name, s, DT_WHEN_OPEN,
						   r->im.err) < 0)
					return -1;
			} else
				r->opts->text[id] = (char *)s;
		} else
			r->opts->value[id] = rec.value;
		r->opts->is_set[id] = true;
	}
	return p ? 0 : -1;
}

static int read_relhdr(struct reader *r, uint32_t section, uint32_t type)
{
	bool user = type == DT_DOF_URELHDR;
	struct dof_relhdr h;
	struct relocs *rels;
	size_t size;
	const uint8_t *p = dt_dof_payload(&r->im, section, section, type, &size);

	if (size != sizeof(h))
		return dt_dof_bad(&r->im, section, "size %zu, must be %zu", size, sizeof(h));
	memcpy(&h, p, sizeof(h));
	/* Relocations of data (USDT sites) are left to the linker. */
	if (h.tgtsec >= r->im.nsecs || dt_dof_section(&r->im, h.tgtsec).type != DT_DOF_INTTAB)
		return 0;
	rels = &r->rels[h.tgtsec];
	if (rels->present[user])
		return dt_dof_bad(&r->im, section, "a second one for section %u", h.tgtsec);
	rels->present[user] = true;
	rels->section[user] = section;
	rels->h[user] = h;
	return 0;
}

/* STATEMENTS and AGGREFS: kept in the order written, which is that of the actions. */
static int read_hints(struct reader *r, uint32_t section, uint32_t refsec)
{
	uint32_t n, nrefs = 0;
	const uint8_t *p = dt_dof_table(&r->im, section, section, DT_DOF_STATEMENTS, &n);
	const uint8_t *refs = NULL;
	uint32_t *ids;
	const char **names;

	if (!p)
		return -1;
	if (refsec != DOF_NONE) {
		refs = dt_dof_table(&r->im, section, refsec, DT_DOF_AGGREFS, &nrefs);
		if (!refs)
			return -1;
	}
	ids = dt_arena_alloc(r->a, (size_t)nrefs * sizeof(*ids));
	names = dt_arena_alloc(r->a, (size_t)nrefs * sizeof(*names));
	for (uint32_t i = 0; i < nrefs; i++) {
		struct dof_aggref ref;

		memcpy(&ref, refs + (size_t)i * sizeof(ref), sizeof(ref));
		ids[i] = ref.id;
		names[i] = read_string(r, refsec, ref.strtab, ref.name, MAX_AGGNAME);
		if (!names[i])
			return -1;
	}
	r->hints = dt_arena_alloc(r->a, (size_t)n * sizeof(*r->hints));
	r->nhints = n;
	for (uint32_t i = 0; i < n; i++) {
		struct dof_stmt_hint *h = &r->hints[i];
		struct actions *as;

		memcpy(&h->s, p + (size_t)i * sizeof(h->s), sizeof(h->s));
		if (h->s.actions >= r->im.nsecs)
			return dt_dof_bad(&r->im, section, "statement %u: no section %u", i,
					  h->s.actions);
		if (h->s.first_agg > nrefs || h->s.naggs > nrefs - h->s.first_agg ||
		    spend(r, section, h->s.naggs * sizeof(dt_agg *)) != 0)
			return dt_dof_bad(&r->im, section, "statement %u: bad aggregations", i);
		h->ids = ids + h->s.first_agg;
		h->names = names + h->s.first_agg;
		as = &r->actions[h->s.actions];
		if (as->nhints == 0)
			as->first_hint = i;
		else if (as->first_hint + as->nhints != i)
			return dt_dof_bad(&r->im, section, "statement %u is out of order", i);
		as->nhints++;
	}
	return 0;
}

/* What later sections say about clauses: relocations, statements, options. */
static int read_tables(struct reader *r)
{
	uint32_t stmts = DOF_NONE, refs = DOF_NONE;

	for (uint32_t i = 0; i < r->im.nsecs; i++) {
		uint32_t type = dt_dof_section(&r->im, i).type;
		int rc = 0;

		if (type == DT_DOF_URELHDR || type == DT_DOF_KRELHDR)
			rc = read_relhdr(r, i, type);
		else if (type == DT_DOF_OPTDESC)
			rc = read_options(r, i);
		else if (type == DT_DOF_STATEMENTS && stmts == DOF_NONE)
			stmts = i;
		else if (type == DT_DOF_AGGREFS && refs == DOF_NONE)
			refs = i;
		if (rc != 0)
			return -1;
	}
	r->ours = stmts != DOF_NONE;
	return r->ours ? read_hints(r, stmts, refs) : 0;
}

static int read_clauses(struct reader *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->im.nsecs; i++)
		n += dt_dof_section(&r->im, i).type == DT_DOF_ECBDESC;
	r->prog->clauses = dt_arena_alloc(r->a, (size_t)n * sizeof(*r->prog->clauses));
	for (uint32_t i = 0; i < r->im.nsecs; i++)
		if (dt_dof_section(&r->im, i).type == DT_DOF_ECBDESC &&
		    read_ecb(r, i, &r->prog->clauses[r->prog->nclauses++]) != 0)
			return -1;
	return 0;
}

static int check_printas(struct reader *r)
{
	for (uint32_t i = 0; i < r->im.nsecs; i++)
		for (uint32_t j = 0; j < r->actions[i].nstmts; j++)
			if (r->actions[i].stmts[j].kind == DT_ST_PRINTA &&
			    dt_dof_check_printa(&r->actions[i].stmts[j], r->err) != 0)
				return -1;
	return 0;
}

/* The highest user variable of each scope; one below the first means that none may be used. */
static void find_max_vars(const struct reader *r, struct dt_verify_opts *o)
{
	uint32_t max[3] = {DT_VAR_USER_MIN - 1, DT_VAR_USER_MIN - 1, DT_VAR_USER_MIN - 1};

	for (uint32_t i = 0; i < r->im.nsecs; i++) {
		const dt_difo *d = r->difos[i];

		for (uint32_t j = 0; d && j < d->nvars; j++)
			if (d->vars[j].scope < 3 && d->vars[j].id > max[d->vars[j].scope])
				max[d->vars[j].scope] = d->vars[j].id;
	}
	o->max_global = max[DT_SCOPE_GLOBAL];
	o->max_thread = max[DT_SCOPE_THREAD];
	o->max_local = max[DT_SCOPE_LOCAL];
}

static int read_program(struct reader *r)
{
	struct dt_verify_opts o = {
	    .nregs = r->im.hdr.ident[DOF_ID_IREGS],
	    .ntregs = r->im.hdr.ident[DOF_ID_TREGS],
	};

	if (read_tables(r) != 0 || read_clauses(r) != 0 || check_printas(r) != 0)
		return -1;
	find_max_vars(r, &o);
	return dt_program_verify(r->prog, &o, r->err);
}

dt_program *dt_dof_read(const void *data, size_t n, dt_arena *a, dt_error *err)
{
	static const dt_attr attr = {DT_STAB_UNSTABLE, DT_STAB_UNSTABLE, DT_CLASS_COMMON};
	struct reader r = {.a = a, .err = err};

	memset(err, 0, sizeof(*err));
	if (dt_dof_open(&r.im, data, n, err) != 0)
		return NULL;
	r.difos = dt_arena_alloc(a, (size_t)r.im.nsecs * sizeof(*r.difos));
	r.actions = dt_arena_alloc(a, (size_t)r.im.nsecs * sizeof(*r.actions));
	r.rels = dt_arena_alloc(a, (size_t)r.im.nsecs * sizeof(*r.rels));
	r.hints = dt_arena_alloc(a, sizeof(*r.hints));
	r.opts = dt_arena_alloc(a, sizeof(*r.opts));
	r.prog = dt_arena_alloc(a, sizeof(*r.prog));
	r.prog->name = "DOF";
	r.prog->desc_attr = r.prog->stmt_attr = attr;
	r.prog->options = r.opts;
	return read_program(&r) == 0 ? r.prog : NULL;
}
