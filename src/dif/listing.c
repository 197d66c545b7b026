/*
 * listing: DIF as text, the listing of `dtrace -S`.
 *
 * The layout is DTrace's: scripts and people rely on it, so never change it. A DIFO may come from a damaged file and need
 * not have passed the verifier: every index into a table is checked here, and what cannot be
 * resolved is printed without its comment.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "dif/dif.h"

/* A hostile DIFO can name one long string in every instruction: once a listing is this long,
 * comments are cut short. */
#define LONG_LISTING (1u << 20)
#define SHORT_TEXT   64

struct listing {
	const dt_difo *d;
	const dt_difvar **vars; /* sorted by scope and id, to find names quickly */
	dt_buf *out;
	size_t start;
};

static bool in_strtab(const dt_difo *d, uint32_t offset)
{
	return d->strtab && offset < d->strlen && d->strtab[d->strlen - 1] == '\0';
}

/* Text comes from the file: keep control characters out of the listing. */
static void put_escaped(struct listing *l, const char *s)
{
	size_t n = strlen(s);

	if (l->out->n - l->start > LONG_LISTING && n > SHORT_TEXT) {
		dt_buf_escape(l->out, s, SHORT_TEXT);
		dt_buf_puts(l->out, "...");
	} else
		dt_buf_escape(l->out, s, n);
}

static const char *scope_name(unsigned scope)
{
	static const char *const names[] = {"glb", "tls", "loc"};

	return scope < DT_NELEM(names) ? names[scope] : "?";
}

static unsigned scope_of(uint32_t op)
{
	switch (op) {
	case DT_OP_LDTA:
	case DT_OP_LDTS:
	case DT_OP_STTS:
	case DT_OP_LDTAA:
	case DT_OP_STTAA: return DT_SCOPE_THREAD;
	case DT_OP_LDLS:
	case DT_OP_STLS: return DT_SCOPE_LOCAL;
	default: return DT_SCOPE_GLOBAL;
	}
}

static int compare_vars(const void *a, const void *b)
{
	const dt_difvar *x = *(const dt_difvar *const *)a, *y = *(const dt_difvar *const *)b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static const char *var_name(const struct listing *l, uint32_t id, unsigned scope)
{
	const struct dt_builtin_var_desc *b;
	dt_difvar key = {.id = id, .scope = (uint8_t)scope};
	const dt_difvar *want = &key, **found = NULL;

	if (l->d->nvars > 0)
		found = bsearch(&want, l->vars, l->d->nvars, sizeof(*l->vars), compare_vars);
	if (found && in_strtab(l->d, (*found)->name))
		return l->d->strtab + (*found)->name;
	b = scope == DT_SCOPE_GLOBAL ? dt_builtin_var_find(id) : NULL;
	return b ? b->name : NULL;
}

static void print_var_comment(struct listing *l, uint32_t id, uint32_t op)
{
	const char *name = var_name(l, id, scope_of(op));

	if (!name)
		return;
	dt_buf_printf(l->out, "\t\t! DT_VAR(%u) = \"", id);
	put_escaped(l, name);
	dt_buf_putc(l->out, '"');
}

static void print_function(const dt_difo *d, uint32_t n, uint32_t rd, dt_buf *out)
{
	dt_buf_printf(out, "DIF_FUNC(%u), %%r%u", n, rd);
	if (n < d->nfunctions)
		dt_buf_printf(out, "\t\t! DIFO 0x%" PRIxPTR, (uintptr_t)d->functions[n]);
}

static void print_push(dt_instr i, bool by_ref, dt_buf *out)
{
	uint32_t type = DT_I_TYPE(i);

	dt_buf_printf(out, "DT_TYPE(%u), ", type);
	if (by_ref)
		dt_buf_printf(out, "%%r%u, %%r%u\t", DT_I_R2(i), DT_I_RD(i));
	else
		dt_buf_printf(out, "%%r%u\t\t", DT_I_RD(i));
	dt_buf_printf(out, "! DT_TYPE(%u) = %s", type,
		      type == DT_TYPE_CTF      ? "D type"
		      : type == DT_TYPE_STRING ? "string"
					       : "?");
}

static void print_operands(struct listing *l, dt_instr i, enum dt_op_format format)
{
	const dt_difo *d = l->d;
	dt_buf *out = l->out;
	uint32_t op = DT_I_OP(i), r1 = DT_I_R1(i), r2 = DT_I_R2(i), rd = DT_I_RD(i);
	uint32_t index = DT_I_INDEX(i);
	const struct dt_subr_desc *subr;

	switch (format) {
	case DT_F_RRR: dt_buf_printf(out, "%%r%u, %%r%u, %%r%u", r1, r2, rd); break;
	case DT_F_RR: dt_buf_printf(out, "%%r%u, %%r%u", r1, rd); break;
	case DT_F_CMP: dt_buf_printf(out, "%%r%u, %%r%u", r1, r2); break;
	case DT_F_TST: dt_buf_printf(out, "%%r%u", r1); break;
	case DT_F_BRANCH: dt_buf_printf(out, "%u", DT_I_LABEL(i)); break;
	case DT_F_LOAD: dt_buf_printf(out, "[%%r%u], %%r%u", r1, rd); break;
	case DT_F_STORE: dt_buf_printf(out, "%%r%u, [%%r%u]", r1, rd); break;
	case DT_F_RET: dt_buf_printf(out, "%%r%u", rd); break;
	case DT_F_NONE: break;
	case DT_F_SETX:
		dt_buf_printf(out, "DT_INTEGER[%u], %%r%u", index, rd);
		if (index < d->intlen)
			dt_buf_printf(out, "\t\t! 0x%" PRIx64, d->inttab[index]);
		break;
	case DT_F_SETS:
		dt_buf_printf(out, "DT_STRING[%u], %%r%u", index, rd);
		if (in_strtab(d, index)) {
			dt_buf_puts(out, "\t\t! \"");
			put_escaped(l, d->strtab + index);
			dt_buf_putc(out, '"');
		}
		break;
	case DT_F_LDV:
		dt_buf_printf(out, "DT_VAR(%u), %%r%u", index, rd);
		print_var_comment(l, index, op);
		break;
	case DT_F_STV:
		dt_buf_printf(out, "%%r%u, DT_VAR(%u)", rd, index);
		print_var_comment(l, index, op);
		break;
	case DT_F_LDA:
	case DT_F_STA:
		dt_buf_printf(out, "DT_VAR(%u), %%r%u, %%r%u", r1, r2, rd);
		print_var_comment(l, r1, op);
		break;
	case DT_F_CALL:
		if (index >= DT_CALL_FUNCTION) {
			print_function(l->d, index - DT_CALL_FUNCTION, rd, out);
			break;
		}
		dt_buf_printf(out, "DIF_SUBR(%u), %%r%u", index, rd);
		subr = dt_subr_find(index);
		if (subr)
			dt_buf_printf(out, "\t\t! %s", subr->name);
		break;
	case DT_F_PUSHTV: print_push(i, false, out); break;
	case DT_F_PUSHTR: print_push(i, true, out); break;
	case DT_F_XL: dt_buf_printf(out, "DT_XLREF[%u], %%r%u", index, rd); break;
	}
}

static void print_text(struct listing *l)
{
	const dt_difo *d = l->d;
	dt_buf *out = l->out;

	dt_buf_printf(out, "%-3s %-8s    %s\n", "OFF", "OPCODE", "INSTRUCTION");
	for (uint32_t pc = 0; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		const struct dt_op_desc *op = &dt_op_table[DT_I_OP(i)];

		dt_buf_printf(out, "%02u: %08x    ", pc, i);
		if (!op->name)
			dt_buf_puts(out, "???");
		else if (op->format == DT_F_NONE)
			dt_buf_puts(out, op->name);
		else {
			dt_buf_printf(out, "%-4s ", op->name);
			print_operands(l, i, op->format);
		}
		dt_buf_putc(out, '\n');
	}
}

void dt_diftype_print(const dt_diftype *t, dt_buf *out)
{
	if (t->kind == DT_TYPE_CTF)
		dt_buf_puts(out, "D type");
	else if (t->kind == DT_TYPE_STRING)
		dt_buf_puts(out, "string");
	else
		dt_buf_printf(out, "type 0x%x", t->kind);
	/* dt_kind_names has one name per C type kind. */
	if (t->ckind <= DT_K_RESTRICT)
		dt_buf_printf(out, " (%s)", dt_kind_names[t->ckind]);
	else
		dt_buf_printf(out, " (0x%x)", t->ckind);
	if (t->flags & DT_TF_BYREF)
		dt_buf_puts(out, " by ref");
	else if (t->flags & DT_TF_BYUREF)
		dt_buf_puts(out, " by user ref");
	dt_buf_printf(out, " (size %u)", t->size);
}

static void print_vars(struct listing *l)
{
	static const char *const flags[] = {"", "r", "w", "r/w"};
	const dt_difo *d = l->d;
	dt_buf *out = l->out;

	dt_buf_printf(out, "\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND", "SCP", "FLAG",
		      "TYPE");
	for (uint32_t i = 0; i < d->nvars; i++) {
		const dt_difvar *v = &d->vars[i];
		size_t from = out->n;

		put_escaped(l, in_strtab(d, v->name) ? d->strtab + v->name : "?");
		dt_buf_printf(out, "%*s %-4x %-3s %-3s %-4s ",
			      out->n - from < 16 ? (int)(16 - (out->n - from)) : 0, "", v->id,
			      v->kind == DT_VAR_ARRAY	 ? "arr"
			      : v->kind == DT_VAR_SCALAR ? "scl"
							 : "?",
			      scope_name(v->scope), flags[v->flags & 3]);
		dt_diftype_print(&v->type, out);
		dt_buf_putc(out, '\n');
	}
}

static void print_relocs(struct listing *l, bool user)
{
	const dt_difo *d = l->d;
	dt_buf *out = l->out;
	bool header = false;

	for (uint32_t i = 0; i < d->nrelocs; i++) {
		const dt_reloc *r = &d->relocs[i];

		if (r->user != user)
			continue;
		if (!header)
			dt_buf_printf(out, "\n%-4s %-8s %-8s %s\n", user ? "UREL" : "KREL",
				      "OFFSET", "DATA", "NAME");
		header = true;
		/* 1: the relocation type "setx", the only one there is here. */
		dt_buf_printf(out, "%-4u %-8" PRIx64 " %-8" PRIx64 " ", 1, (uint64_t)r->index * 8,
			      r->data);
		put_escaped(l, in_strtab(d, r->name) ? d->strtab + r->name : "?");
		dt_buf_putc(out, '\n');
	}
}

void dt_difo_print(const dt_difo *d, dt_buf *out)
{
	struct listing l = {.d = d, .out = out, .start = out->n};

	if (d->nvars > 0) {
		l.vars = dt_xcalloc(d->nvars, sizeof(*l.vars));
		for (uint32_t i = 0; i < d->nvars; i++)
			l.vars[i] = &d->vars[i];
		qsort(l.vars, d->nvars, sizeof(*l.vars), compare_vars);
	}
	dt_buf_printf(out, "\nDIFO 0x%" PRIxPTR " returns ", (uintptr_t)d);
	dt_diftype_print(&d->rtype, out);
	dt_buf_putc(out, '\n');
	print_text(&l);
	if (d->nvars > 0)
		print_vars(&l);
	print_relocs(&l, false);
	print_relocs(&l, true);
	free(l.vars);
}

static bool in_list(dt_difo *const *list, uint32_t n, const dt_difo *d)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == d)
			return true;
	return false;
}

typedef DT_VEC(dt_difo *) difo_list;

/* A function is printed after the first DIFO that calls it. */
static void print_clause(const dt_clause *c, difo_list *functions, dt_buf *out)
{
	DT_EACH_DIFO(it, c) {
		bool is_function = it.difo != it.caller;

		if (is_function && in_list(functions->v, functions->n, it.difo))
			continue;
		if (is_function)
			*dt_vec_add(functions, NULL) = it.difo;
		dt_difo_print(it.difo, out);
	}
}

/* ---- where clauses run (-E) ---- */

static bool names_machines(const dt_program *p)
{
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (p->clauses[i].desc.machine)
			return true;
	return false;
}

/* The expression of an action as it was written. */
static void print_source(const dt_action *a, dt_buf *out)
{
	const dt_place *place = a->difo ? dt_difo_place(a->difo, -1) : NULL;

	if (place && place->len)
		dt_buf_add(out, place->text, place->len);
	else
		dt_buf_puts(out, a->kind == DT_ACT_DIFEXPR ? "tid" : dt_act_name(a->kind));
}

/* What the machine's part of a clause sends for each firing. */
static void print_sent(const dt_clause *c, dt_buf *out)
{
	uint32_t bytes = 0;

	dt_buf_puts(out, "sends ");
	for (uint32_t i = 0, n = 0; i < c->nactions; i++) {
		if (c->actions[i].size == 0)
			continue;
		bytes += c->actions[i].size;
		dt_buf_puts(out, n++ ? ", " : "");
		print_source(&c->actions[i], out);
	}
	dt_buf_printf(out, " (at most %u bytes) for each firing; the rest runs at the front", bytes);
}

static void print_place(const dt_clause *c, uint32_t number, dt_buf *out)
{
	const dt_probedesc *d = &c->desc;

	dt_buf_printf(out, "\nclause %u, %s%s%s:%s:%s:%s: ", number, d->machine ? d->machine : "", d->machine ? ":" : "",
		      d->prov, d->mod, d->func, d->name);
	if (c->rest)
		print_sent(c, out);
	else
		dt_buf_puts(out, d->machine ? "runs on its machines" : "runs here");
	dt_buf_putc(out, '\n');
}

void dt_program_print(const dt_program *p, dt_buf *out)
{
	bool places = names_machines(p);
	difo_list functions = {0};

	for (uint32_t i = 0; i < p->nclauses; i++) {
		const dt_clause *c = &p->clauses[i];

		if (places)
			print_place(c, i + 1, out);
		print_clause(c, &functions, out);
		if (!c->rest)
			continue;
		dt_buf_printf(out, "\nclause %u, at the front:\n", i + 1);
		print_clause(c->rest->clause, &functions, out);
	}
	dt_vec_free(&functions);
}
