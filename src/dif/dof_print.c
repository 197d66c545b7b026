/*
 * dof_print: a DOF file as text.
 *
 * It always prints the header and one line per section, and below each section its contents as far
 * as they can be read: for a section with damaged contents it prints the reader's error message
 * instead, and continues.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dif/dof_file.h"

#define MAX_SHOWN 4096	      /* entries of a table */
#define MAX_CHARS 1024	      /* of a string */
#define MAX_WORK  (64u << 20) /* sections may overlap: bytes read, and bytes written */

struct printer {
	dt_dof_image im;
	dt_buf *out;
	size_t start;
	uint64_t work;
	dt_error complaint;
};

static void put_text(struct printer *p, const char *s, size_t n)
{
	dt_buf_putc(p->out, '"');
	dt_buf_escape(p->out, s, n < MAX_CHARS ? n : MAX_CHARS);
	dt_buf_puts(p->out, n < MAX_CHARS ? "\"" : "\"...");
}

/* A section reference: "#5", or "none". */
static void put_ref(struct printer *p, const char *label, uint32_t section)
{
	if (section == DOF_NONE)
		dt_buf_printf(p->out, "%s none", label);
	else
		dt_buf_printf(p->out, "%s #%u", label, section);
}

static int put_string(struct printer *p, uint32_t from, uint32_t strtab, uint64_t offset)
{
	const char *s = dt_dof_string(&p->im, from, strtab, offset, 0);

	if (!s)
		return -1;
	put_text(p, s, strnlen(s, MAX_CHARS));
	return 0;
}

/* The bytes of a section that must have exactly this size. */
static int fetch(struct printer *p, uint32_t i, void *rec, size_t want)
{
	struct dof_sec s = dt_dof_section(&p->im, i);

	if (s.size < want)
		return dt_dof_bad(&p->im, i, "size %" PRIu64 ", must be %zu", s.size, want);
	memcpy(rec, p->im.data + s.offset, want);
	return 0;
}

static int print_ecb(struct printer *p, uint32_t i)
{
	struct dof_ecb e;

	if (fetch(p, i, &e, sizeof(e)) != 0)
		return -1;
	put_ref(p, "    probe", e.probes);
	put_ref(p, ", predicate", e.pred);
	put_ref(p, ", actions", e.actions);
	dt_buf_printf(p->out, ", uarg 0x%" PRIx64 "\n", e.uarg);
	return 0;
}

static int print_probedesc(struct printer *p, uint32_t i)
{
	struct dof_probedesc d;

	if (fetch(p, i, &d, sizeof(d)) != 0)
		return -1;
	dt_buf_printf(p->out, "    id %u", d.id);
	for (int f = 0; f < 4; f++) {
		static const char *const labels[] = {" provider ", " module ", " function ",
						     " name "};
		const uint32_t at[] = {d.prov, d.mod, d.func, d.name};

		dt_buf_puts(p->out, labels[f]);
		if (put_string(p, i, d.strtab, at[f]) != 0)
			return -1;
	}
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_action(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	struct dof_act a;

	memcpy(&a, at, sizeof(a));
	dt_buf_printf(p->out, "    [%u] kind 0x%x", n, a.kind);
	put_ref(p, ", DIFO", a.difo);
	dt_buf_printf(p->out, ", ntuple %u, arg 0x%" PRIx64 ", uarg 0x%" PRIx64, a.ntuple, a.arg,
		      a.uarg);
	if (a.strtab != DOF_NONE) {
		dt_buf_puts(p->out, ", string ");
		if (put_string(p, i, a.strtab, a.arg) != 0)
			return -1;
	}
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_difohdr(struct printer *p, uint32_t i)
{
	struct dof_sec s = dt_dof_section(&p->im, i);
	struct dof_difohdr h;

	if (fetch(p, i, &h, sizeof(h)) != 0)
		return -1;
	dt_buf_puts(p->out, "    returns ");
	dt_diftype_print(&h.rtype, p->out);
	for (uint64_t at = sizeof(h); at + 4 <= s.size && at < sizeof(h) + 64; at += 4) {
		uint32_t link;
		char scratch[24];

		memcpy(&link, p->im.data + s.offset + at, 4);
		put_ref(p, ",", link);
		if (link < p->im.nsecs)
			dt_buf_printf(p->out, " %s",
				      dt_dof_type_name(dt_dof_section(&p->im, link).type, scratch));
	}
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_instr(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	dt_instr in;

	(void)i;
	memcpy(&in, at, sizeof(in));
	dt_buf_printf(p->out, "    %02u: %08x  %s\n", n, in,
		      dt_op_table[DT_I_OP(in)].name ? dt_op_table[DT_I_OP(in)].name : "???");
	return 0;
}

static int print_strtab(struct printer *p, uint32_t i)
{
	struct dof_sec s = dt_dof_section(&p->im, i);
	const char *text = (const char *)p->im.data + s.offset;
	uint64_t shown = 0;

	for (uint64_t at = 0; at < s.size && shown < MAX_SHOWN; shown++) {
		size_t n = strnlen(text + at, s.size - at);

		dt_buf_printf(p->out, "    %6" PRIu64 "  ", at);
		put_text(p, text + at, n);
		dt_buf_putc(p->out, '\n');
		at += n + 1;
	}
	return 0;
}

static int print_var(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	static const char *const scopes[] = {"global", "thread", "local"};
	dt_difvar v;

	(void)i;
	memcpy(&v, at, sizeof(v));
	dt_buf_printf(p->out, "    [%u] id 0x%x %s %s, name at %u, %s%s, ", n, v.id,
		      v.scope < 3 ? scopes[v.scope] : "scope ?",
		      v.kind == DT_VAR_ARRAY ? "array" : "scalar", v.name,
		      v.flags & DT_VARF_READ ? "r" : "", v.flags & DT_VARF_WRITE ? "w" : "");
	dt_diftype_print(&v.type, p->out);
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_relhdr(struct printer *p, uint32_t i)
{
	struct dof_relhdr h;

	if (fetch(p, i, &h, sizeof(h)) != 0)
		return -1;
	put_ref(p, "    strings", h.strtab);
	put_ref(p, ", relocations", h.relsec);
	put_ref(p, ", target", h.tgtsec);
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_rel(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	struct dof_rel r;

	(void)i;
	memcpy(&r, at, sizeof(r));
	dt_buf_printf(p->out,
		      "    [%u] type %u, name at %u, offset 0x%" PRIx64 ", data 0x%" PRIx64 "\n", n,
		      r.type, r.name, r.offset, r.data);
	return 0;
}

static int print_option(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	const char *name = "?";
	struct dof_opt o;

	memcpy(&o, at, sizeof(o));
	for (int id = 0; id < DT_O_MAX; id++)
		if (dt_opt_table[id].number >= 0 && (uint32_t)dt_opt_table[id].number == o.number)
			name = dt_opt_table[id].name;
	dt_buf_printf(p->out, "    [%u] %s (%u) = ", n, name, o.number);
	if (o.strtab == DOF_NONE)
		dt_buf_printf(p->out, "%" PRIu64, o.value);
	else if (put_string(p, i, o.strtab, o.value) != 0)
		return -1;
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_provider(struct printer *p, uint32_t i)
{
	struct dof_provider pv = {.prenoffs = DOF_NONE};
	struct dof_sec s = dt_dof_section(&p->im, i);

	/* Version 1 ends before the is-enabled offsets. */
	if (fetch(p, i, &pv, s.size < sizeof(pv) ? sizeof(pv) - 4 : sizeof(pv)) != 0)
		return -1;
	dt_buf_puts(p->out, "    name ");
	if (put_string(p, i, pv.strtab, pv.name) != 0)
		return -1;
	put_ref(p, ", probes", pv.probes);
	put_ref(p, ", argument map", pv.prargs);
	put_ref(p, ", offsets", pv.proffs);
	put_ref(p, ", is-enabled offsets", pv.prenoffs);
	dt_buf_puts(p->out, "\n    stability");
	for (int a = 0; a < 5; a++) {
		dt_attr attr = {(uint8_t)(pv.attrs[a] >> 24), (uint8_t)(pv.attrs[a] >> 16),
				(uint8_t)(pv.attrs[a] >> 8)};

		dt_buf_putc(p->out, ' ');
		if (attr.name < 8 && attr.data < 8 && attr.class_ < 6)
			dt_attr_format(attr, p->out);
		else
			dt_buf_printf(p->out, "0x%x", pv.attrs[a]);
	}
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_probe(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	struct dof_probe pr;

	(void)i;
	memcpy(&pr, at, sizeof(pr));
	dt_buf_printf(p->out,
		      "    [%u] address 0x%" PRIx64
		      ", function at %u, name at %u, %u arguments (types "
		      "at %u), %u translated (types at %u), map from %u, %u sites from %u, %u "
		      "is-enabled sites from %u\n",
		      n, pr.addr, pr.func, pr.name, pr.nargc, pr.nargv, pr.xargc, pr.xargv,
		      pr.argidx, pr.noffs, pr.offidx, pr.nenoffs, pr.enoffidx);
	return 0;
}

static int print_number(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	uint32_t size = dt_dof_section(&p->im, i).entsize;
	uint64_t v = 0;
	uint32_t v32;

	if (size == 8)
		memcpy(&v, at, 8);
	else if (size == 4) {
		memcpy(&v32, at, 4);
		v = v32;
	} else
		v = *at;
	dt_buf_printf(p->out, "    [%u] 0x%" PRIx64 "\n", n, v);
	return 0;
}

static int print_stmt(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	struct dof_stmt s;

	(void)i;
	memcpy(&s, at, sizeof(s));
	dt_buf_printf(p->out, "    [%u] kind %u, ", n, s.kind);
	put_ref(p, "actions", s.actions);
	dt_buf_printf(p->out, " from %u, %u of them; %u aggregations from %u; arg 0x%" PRIx64 "\n",
		      s.first, s.nactions, s.naggs, s.first_agg, s.arg);
	return 0;
}

static int print_aggref(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at)
{
	struct dof_aggref a;

	memcpy(&a, at, sizeof(a));
	dt_buf_printf(p->out, "    [%u] id %u, name ", n, a.id);
	if (put_string(p, i, a.strtab, a.name) != 0)
		return -1;
	dt_buf_putc(p->out, '\n');
	return 0;
}

static int print_text(struct printer *p, uint32_t i)
{
	struct dof_sec s = dt_dof_section(&p->im, i);

	dt_buf_puts(p->out, "    ");
	put_text(p, (const char *)p->im.data + s.offset,
		 strnlen((const char *)p->im.data + s.offset, s.size));
	dt_buf_putc(p->out, '\n');
	return 0;
}

/* How each section type is shown: as one record, or entry by entry. */
static const struct {
	uint32_t type;
	int (*whole)(struct printer *p, uint32_t i);
	int (*entry)(struct printer *p, uint32_t i, uint32_t n, const uint8_t *at);
} shows[] = {
    {DT_DOF_COMMENTS, print_text, NULL},   {DT_DOF_SOURCE, print_text, NULL},
    {DT_DOF_ECBDESC, print_ecb, NULL},	   {DT_DOF_PROBEDESC, print_probedesc, NULL},
    {DT_DOF_ACTDESC, NULL, print_action},  {DT_DOF_DIFOHDR, print_difohdr, NULL},
    {DT_DOF_DIF, NULL, print_instr},	   {DT_DOF_STRTAB, print_strtab, NULL},
    {DT_DOF_VARTAB, NULL, print_var},	   {DT_DOF_RELTAB, NULL, print_rel},
    {DT_DOF_URELHDR, print_relhdr, NULL},  {DT_DOF_KRELHDR, print_relhdr, NULL},
    {DT_DOF_OPTDESC, NULL, print_option},  {DT_DOF_PROVIDER, print_provider, NULL},
    {DT_DOF_PROBES, NULL, print_probe},	   {DT_DOF_PRARGS, NULL, print_number},
    {DT_DOF_PROFFS, NULL, print_number},   {DT_DOF_INTTAB, NULL, print_number},
    {DT_DOF_PRENOFFS, NULL, print_number}, {DT_DOF_STATEMENTS, NULL, print_stmt},
    {DT_DOF_AGGREFS, NULL, print_aggref},
};

static int print_entries(struct printer *p, uint32_t i, uint32_t type,
			 int (*entry)(struct printer *, uint32_t, uint32_t, const uint8_t *))
{
	uint32_t n;
	const uint8_t *at = dt_dof_table(&p->im, i, i, type, &n);

	if (!at)
		return -1;
	for (uint32_t e = 0; e < n; e++) {
		if (e == MAX_SHOWN) {
			dt_buf_printf(p->out, "    ... %u more\n", n - e);
			break;
		}
		if (entry(p, i, e, at + (size_t)e * dt_dof_entry_size(type)) != 0)
			return -1;
	}
	return 0;
}

static void print_section(struct printer *p, uint32_t i)
{
	struct dof_sec s = dt_dof_section(&p->im, i);
	char scratch[24];
	int rc = 0;

	dt_buf_printf(p->out,
		      "section %u: %s, %s, offset 0x%" PRIx64 ", size %" PRIu64
		      ", entries of %u, aligned to %u\n",
		      i, dt_dof_type_name(s.type, scratch), s.flags & DOF_LOAD ? "load" : "no load",
		      s.offset, s.size, s.entsize, s.align);
	p->work += s.size;
	if (p->work > MAX_WORK || p->out->n - p->start > MAX_WORK) {
		dt_buf_puts(p->out, "    not shown: the listing is too long\n");
		return;
	}
	for (size_t k = 0; k < DT_NELEM(shows); k++) {
		if (shows[k].type != s.type)
			continue;
		if (shows[k].whole)
			rc = shows[k].whole(p, i);
		else
			rc = print_entries(p, i, s.type, shows[k].entry);
	}
	if (rc != 0)
		dt_buf_printf(p->out, "\n    damaged: %s\n", p->complaint.text);
}

static void print_header(struct printer *p)
{
	const struct dof_hdr *h = &p->im.hdr;

	dt_buf_printf(p->out,
		      "DOF version %u, DIF version %u, %u integer and %u tuple registers\n"
		      "%u sections, table at 0x%" PRIx64 "; %" PRIu64 " bytes, %" PRIu64
		      " to load\n",
		      h->ident[DOF_ID_VERSION], h->ident[DOF_ID_DIFVERS], h->ident[DOF_ID_IREGS],
		      h->ident[DOF_ID_TREGS], h->secnum, h->secoff, h->filesz, h->loadsz);
}

int dt_dof_print(const void *data, size_t n, dt_buf *out, dt_error *err)
{
	struct printer p = {.out = out, .start = out->n};

	if (dt_dof_open(&p.im, data, n, err) != 0)
		return -1;
	p.im.err = &p.complaint;
	print_header(&p);
	for (uint32_t i = 0; i < p.im.nsecs; i++)
		print_section(&p, i);
	return 0;
}
