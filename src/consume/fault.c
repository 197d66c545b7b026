/*
 * fault: messages about run-time errors.
 *
 * A fault is a line, word for word as in DTrace: "error on enabled probe ID 1 (...): invalid address (0x0) in action #1
 * at DIF offset 8". The first one from each place in the source is followed by a line that says where that is and why:
 * "script.d:12: this->p->name: address 0x0 is not mapped".
 *
 * Faults that repeat (the same clause on the same probe, action and DIF offset) are lines up to option faultmax; further
 * ones are counted, and the count is reported at the next check of the status: "... (12 more like this)". One kind comes
 * in large numbers and says the same each time: user memory that was not in memory. Of these only the first is a line.
 */
#include <stdlib.h>

#include "consume/writer.h"

const char *dt_fault_name(uint32_t code)
{
	static const char *const names[] = {
	    [DT_FLT_UNKNOWN] = "unknown fault",		[DT_FLT_BADADDR] = "invalid address",
	    [DT_FLT_BADALIGN] = "invalid alignment",	[DT_FLT_ILLOP] = "illegal operation",
	    [DT_FLT_DIVZERO] = "divide-by-zero",	[DT_FLT_NOSCRATCH] = "out of scratch space",
	    [DT_FLT_KPRIV] = "invalid kernel access",	[DT_FLT_UPRIV] = "invalid user access",
	    [DT_FLT_TUPOFLOW] = "tuple stack overflow", [DT_FLT_BADSTACK] = "bad stack",
	    [DT_FLT_LOOPMAX] = "more rounds of a loop than loopmax",
	};

	if (code == DT_FLT_LIBRARY)
		return "library-level fault";
	return names[code < DT_NELEM(names) ? code : DT_FLT_UNKNOWN];
}

/* With the address it is about, or without. */
static void put_fault(dt_buf *out, const dt_fault *f, const dt_ecb *ecb, bool with_address)
{
	bool has_address =
	    f->code == DT_FLT_BADADDR || f->code == DT_FLT_BADALIGN || f->code == DT_FLT_BADSTACK;

	const char *machine = ecb->probe->machine;

	dt_buf_printf(out, "error on enabled probe ID %u (ID %u: %s%s%s:%s:%s:%s): %s", f->epid,
		      ecb->probe->id, machine ? machine : "", machine ? ":" : "", ecb->probe->prov,
		      ecb->probe->mod, ecb->probe->func, ecb->probe->name, dt_fault_name(f->code));
	if (has_address && with_address)
		dt_buf_printf(out, " (0x%llx)", (unsigned long long)f->value);
	if (f->action == 0)
		dt_buf_puts(out, " in predicate");
	else
		dt_buf_printf(out, " in action #%u", f->action);
	if (f->offset >= 0)
		dt_buf_printf(out, " at DIF offset %d", f->offset);
}

void dt_fault_text(const dt_fault *f, const dt_ecb *ecb, dt_buf *out)
{
	put_fault(out, f, ecb, true);
}

/* ---- where and why ---- */

/* The DIFO that it happened in, if its source is known. */
static const dt_difo *difo_of(const dt_fault *f, const dt_clause *c)
{
	const dt_action *a;

	if (f->action == 0)
		return c->pred;
	if (f->action > c->nactions)
		return NULL;
	a = &c->actions[f->action - 1];
	return a->incr && (!a->difo || !dt_difo_place(a->difo, f->offset)) ? a->incr : a->difo;
}

static void put_address(dt_buf *out, const dt_fault *f, enum dt_op op)
{
	bool kernel = dt_op_table[op].format == DT_F_LOAD && op <= DT_OP_LDX;
	const char *what = "is not mapped";

	if (f->absent)
		what = "is user memory that is not in memory at this moment";
	else if (dt_op_table[op].format == DT_F_STORE)
		what = "is not in what alloca() has returned, and only that can be written";
	/* the kernel's addresses are in the upper half; the first page is that of NULL */
	else if (kernel && f->value >= 4096 && f->value >> 63 == 0)
		what = "is not the kernel's: read user memory with copyin() or copyinstr()";
	dt_buf_printf(out, "address 0x%llx %s", (unsigned long long)f->value, what);
}

static const char *reason(const dt_fault *f, enum dt_op op)
{
	bool call = op == DT_OP_CALL;

	switch (f->code) {
	case DT_FLT_ILLOP: return call ? "an argument has a value that is not allowed" : "this value is not allowed";
	case DT_FLT_DIVZERO: return "division by zero";
	case DT_FLT_NOSCRATCH:
		return call ? "the result does not fit: see options strsize and scratchsize"
			    : "no scratch memory is left: see option scratchsize";
	default: return dt_fault_name(f->code);
	}
}

static void put_reason(dt_buf *out, const dt_fault *f, enum dt_op op)
{
	if (f->code == DT_FLT_BADADDR)
		put_address(out, f, op);
	else if (f->code == DT_FLT_BADALIGN)
		dt_buf_printf(out, "address 0x%llx is not a multiple of the size", (unsigned long long)f->value);
	else
		dt_buf_puts(out, reason(f, op));
}

/* On one line. */
static void put_expression(dt_buf *out, const dt_place *p)
{
	for (uint32_t i = 0; i < p->len; i++) {
		char c = p->text[i];

		if ((unsigned char)c > ' ' && c != 0x7f)
			dt_buf_putc(out, c);
		else if (out->n && out->s[out->n - 1] != ' ')
			dt_buf_putc(out, ' ');
	}
	while (out->n && out->s[out->n - 1] == ' ')
		out->s[--out->n] = '\0';
}

/* Where an action without an expression is. */
static const dt_place *place_of_action(const dt_fault *f, const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nstmts; i++)
		if (c->stmts[i].place && c->stmts[i].first + 1 == f->action)
			return c->stmts[i].place;
	return NULL;
}

/* The instruction that it happened at. In a function that is known only as the call: a load, if it has any. */
static enum dt_op op_of(const dt_fault *f, const dt_difo *d, uint32_t at)
{
	dt_instr i = d->text[at];
	const dt_difo *callee;

	if (f->code != DT_FLT_BADADDR || DT_I_OP(i) != DT_OP_CALL || DT_I_INDEX(i) < DT_CALL_FUNCTION)
		return DT_I_OP(i);
	callee = d->functions[DT_I_INDEX(i) - DT_CALL_FUNCTION];
	for (uint32_t pc = 0; pc < callee->len; pc++)
		if (DT_I_OP(callee->text[pc]) >= DT_OP_LDSB && DT_I_OP(callee->text[pc]) <= DT_OP_LDX)
			return DT_OP_LDX;
	return DT_OP_CALL;
}

bool dt_fault_explain(const dt_fault *f, const dt_ecb *ecb, struct dt_fault_cause *out)
{
	const dt_difo *d = difo_of(f, ecb->clause);
	enum dt_op op = 0;
	dt_buf argument = {0};

	out->place = d ? dt_difo_place(d, f->offset) : place_of_action(f, ecb->clause);
	if (!out->place)
		return false;
	if (d && f->offset >= 0)
		op = op_of(f, d, out->place->at);
	dt_buf_reset(&out->expression);
	if (f->code == DT_FLT_ILLOP && f->offset < 0 && f->action) { /* the action refused its argument */
		put_expression(&argument, out->place);
		dt_buf_printf(&out->expression, "%s(%s)", dt_act_name(ecb->clause->actions[f->action - 1].kind),
			      argument.s);
		dt_buf_free(&argument);
	} else {
		put_expression(&out->expression, out->place);
	}
	dt_buf_reset(&out->reason);
	put_reason(&out->reason, f, op);
	return true;
}

void dt_fault_cause_free(struct dt_fault_cause *c)
{
	dt_buf_free(&c->expression);
	dt_buf_free(&c->reason);
}

#define EXPRESSION_MAX 80 /* bytes in a line for people */

void dt_fault_cause_text(const struct dt_fault_cause *c, dt_buf *out)
{
	const dt_pos *pos = &c->place->pos;

	if (pos->file)
		dt_buf_printf(out, "%s:%u: ", pos->file, pos->line);
	else if (pos->line)
		dt_buf_printf(out, "line %u: ", pos->line);
	if (c->expression.n <= EXPRESSION_MAX)
		dt_buf_printf(out, "%s: %s", c->expression.s, c->reason.s);
	else
		dt_buf_printf(out, "%.*s...: %s", EXPRESSION_MAX - 3, c->expression.s, c->reason.s);
}

/* ---- faults that repeat ---- */

struct place { /* of a fault that may come again */
	dt_fault fault;
	const dt_ecb *ecb;
	uint64_t lines;
	uint64_t more; /* since the last report */
	struct place *next;
};

struct dt_faults {
	DT_VEC(struct place *) places; /* by EPID */
	DT_VEC(const dt_place *) told; /* in the source: of these it was said where they are */
};

dt_faults *dt_faults_new(void)
{
	return dt_xcalloc(1, sizeof(dt_faults));
}

void dt_faults_free(dt_faults *fs)
{
	struct place *p;

	if (!fs)
		return;
	for (uint32_t i = 0; i < fs->places.n; i++)
		while ((p = fs->places.v[i])) {
			fs->places.v[i] = p->next;
			free(p);
		}
	dt_vec_free(&fs->places);
	dt_vec_free(&fs->told);
	free(fs);
}

static bool is_told(dt_faults *fs, const dt_place *p)
{
	for (uint32_t i = 0; i < fs->told.n; i++)
		if (fs->told.v[i]->text == p->text && fs->told.v[i]->len == p->len)
			return true; /* each probe of a list has code of its own */
	*dt_vec_add(&fs->told, NULL) = p;
	return false;
}

static bool is_same(const dt_fault *a, const dt_fault *b)
{
	return a->action == b->action && a->offset == b->offset && a->absent == b->absent;
}

enum dt_fault_news dt_faults_add(dt_faults *fs, const dt_fault *f, const dt_ecb *ecb, const dt_place *in_source,
				 uint64_t max)
{
	struct place *p, **at;

	while (fs->places.n <= f->epid)
		*dt_vec_add(&fs->places, NULL) = NULL;
	for (at = &fs->places.v[f->epid]; *at && !is_same(&(*at)->fault, f); at = &(*at)->next)
		;
	p = *at;
	if (p && (f->absent || (max && p->lines >= max))) {
		p->more++;
		return DT_FAULT_COUNTED;
	}
	if (p) {
		p->lines++;
		return DT_FAULT_AGAIN;
	}
	*at = p = dt_xcalloc(1, sizeof(*p));
	p->fault = *f;
	p->ecb = ecb;
	p->lines = 1;
	return in_source && !is_told(fs, in_source) ? DT_FAULT_NEW_PLACE : DT_FAULT_AGAIN;
}

static int tell_more(const struct place *p, uint64_t more, const struct dt_losses_to *to)
{
	dt_diag d = {.kind = DT_DIAG_FAULT, .count = more};
	dt_buf text = {0};
	int rc;

	put_fault(&text, &p->fault, p->ecb, false);
	dt_buf_printf(&text, " (%llu more like this)", (unsigned long long)more);
	d.text = text.s;
	rc = to->tell(to->arg, &d);
	dt_buf_free(&text);
	return rc;
}

int dt_faults_report(dt_faults *fs, const struct dt_losses_to *to)
{
	for (uint32_t i = 0; i < fs->places.n; i++)
		for (struct place *p = fs->places.v[i]; p; p = p->next) {
			uint64_t more = p->more;

			p->more = 0;
			if (more && tell_more(p, more, to) != 0)
				return -1;
		}
	return 0;
}
