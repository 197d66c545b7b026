/*
 * verify: may this DIF be run?
 *
 * DIF that passes can be executed by any engine without further checks of the encoding: all opcodes
 * exist, registers and table indices are in range, %r0 stays zero, control only moves forward and
 * ends in `ret`, so a run takes at most as many steps as there are instructions. What depends on
 * run-time values (addresses, tuple depth, divisors) is left to the engine, as a fault.
 *
 * A message names the location as "at DIF offset N", N in bytes as in run-time faults, or the
 * invalid table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dif/dif.h"

struct verifier {
	const dt_difo *d;
	uint32_t nregs;
	uint32_t max_user[3]; /* by scope; 0: not checked */
	bool allow_xlate;
	bool destructive;
	dt_error *err;
};

#define BAD(v, pc, ...) bad_instr((v), (pc), __VA_ARGS__)

static int DT_PRINTF(3, 4) bad_instr(struct verifier *v, uint32_t pc, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return dt_err(v->err, EDT_DIFINVAL, "at DIF offset %u: %s", pc * 4, why);
}

static int DT_PRINTF(2, 3) bad_table(struct verifier *v, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return dt_err(v->err, EDT_DIFINVAL, "%s", why);
}

/* ---- operands ---- */

/* Each field of an instruction has one of these roles; ROLES below gives them for every shape. */
enum role {
	ANY,	/* not a register: checked by itself */
	UNUSED, /* must be zero */
	READ,	/* a register that is read */
	WRITE,	/* a register that is written, so not %r0 */
};
struct roles {
	uint8_t r1, r2, rd;
};
static const struct roles ROLES[] = {
    [DT_F_RRR] = {READ, READ, WRITE},	  [DT_F_RR] = {READ, UNUSED, WRITE},
    [DT_F_CMP] = {READ, READ, UNUSED},	  [DT_F_TST] = {READ, UNUSED, UNUSED},
    [DT_F_BRANCH] = {ANY, ANY, ANY},	  [DT_F_LOAD] = {READ, UNUSED, WRITE},
    [DT_F_STORE] = {READ, UNUSED, WRITE}, /* an address, and never that of %r0 = NULL */
    [DT_F_RET] = {UNUSED, UNUSED, READ},  [DT_F_NONE] = {UNUSED, UNUSED, UNUSED},
    [DT_F_SETX] = {ANY, ANY, WRITE},	  [DT_F_SETS] = {ANY, ANY, WRITE},
    [DT_F_LDV] = {ANY, ANY, WRITE},	  [DT_F_STV] = {ANY, ANY, READ},
    [DT_F_LDA] = {ANY, READ, WRITE},	  [DT_F_STA] = {ANY, READ, READ},
    [DT_F_CALL] = {ANY, ANY, WRITE},	  [DT_F_PUSHTV] = {ANY, READ, READ},
    [DT_F_PUSHTR] = {ANY, READ, READ},	  [DT_F_XL] = {ANY, ANY, WRITE},
};

static int check_field(struct verifier *v, uint32_t pc, enum role role, uint32_t field)
{
	switch (role) {
	case ANY: return 0;
	case UNUSED: return field ? BAD(v, pc, "non-zero unused field 0x%x", field) : 0;
	case WRITE:
		if (field == 0)
			return BAD(v, pc, "cannot write to %%r0");
		/* FALLTHROUGH */
	case READ: return field >= v->nregs ? BAD(v, pc, "invalid register %%r%u", field) : 0;
	}
	return 0;
}

static int check_variable(struct verifier *v, uint32_t pc, unsigned scope, bool store)
{
	uint32_t id = DT_I_INDEX(v->d->text[pc]);

	if (id < (store ? DT_VAR_USER_MIN : DT_VAR_SCALAR_MIN))
		return BAD(v, pc, "variable %u cannot be %s here", id, store ? "stored" : "loaded");
	if (id >= DT_VAR_USER_MIN && v->max_user[scope] && id > v->max_user[scope])
		return BAD(v, pc, "variable %u is above the highest declared one (%u)", id,
			   v->max_user[scope]);
	return 0;
}

static unsigned scope_of(uint32_t op)
{
	switch (op) {
	case DT_OP_LDTS:
	case DT_OP_STTS:
	case DT_OP_LDTAA:
	case DT_OP_STTAA: return DT_SCOPE_THREAD;
	case DT_OP_LDLS:
	case DT_OP_STLS: return DT_SCOPE_LOCAL;
	default: return DT_SCOPE_GLOBAL;
	}
}

/* What a shape requires beyond its registers. */
static int check_operand(struct verifier *v, uint32_t pc, enum dt_op_format format)
{
	dt_instr i = v->d->text[pc];
	uint32_t op = DT_I_OP(i), index = DT_I_INDEX(i);

	switch (format) {
	case DT_F_BRANCH:
		if (DT_I_LABEL(i) >= v->d->len)
			return BAD(v, pc, "branch target %u is outside the %u instructions",
				   DT_I_LABEL(i), v->d->len);
		if (DT_I_LABEL(i) <= pc)
			return BAD(v, pc, "backward branch to %u", DT_I_LABEL(i));
		return 0;
	case DT_F_SETX:
		if (index >= v->d->intlen)
			return BAD(v, pc, "integer index %u, but the table has %u", index,
				   v->d->intlen);
		return 0;
	case DT_F_SETS:
		if (index >= v->d->strlen)
			return BAD(v, pc, "string offset %u, but the table has %u bytes", index,
				   v->d->strlen);
		return 0;
	case DT_F_LDV: return check_variable(v, pc, scope_of(op), false);
	case DT_F_STV: return check_variable(v, pc, scope_of(op), true);
	case DT_F_STA: v->destructive = true; return 0;
	case DT_F_CALL:
		if (index >= DT_CALL_FUNCTION)
			return index - DT_CALL_FUNCTION < v->d->nfunctions ? 0 : BAD(v, pc, "invalid function %u", index - DT_CALL_FUNCTION);
		if (!dt_subr_find(index))
			return BAD(v, pc, "invalid subroutine %u", index);
		if (index == DT_SUBR_COPYOUT || index == DT_SUBR_COPYOUTSTR)
			v->destructive = true;
		return 0;
	case DT_F_PUSHTV:
		if (DT_I_TYPE(i) != DT_TYPE_CTF)
			return BAD(v, pc, "invalid value type %u", DT_I_TYPE(i));
		return 0;
	case DT_F_PUSHTR:
		if (DT_I_TYPE(i) != DT_TYPE_CTF && DT_I_TYPE(i) != DT_TYPE_STRING)
			return BAD(v, pc, "invalid reference type %u", DT_I_TYPE(i));
		return 0;
	case DT_F_XL: return v->allow_xlate ? 0 : BAD(v, pc, "unresolved translation");
	default: return 0;
	}
}

static int check_text(struct verifier *v)
{
	const dt_difo *d = v->d;

	for (uint32_t pc = 0; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		const struct dt_op_desc *op = &dt_op_table[DT_I_OP(i)];
		const struct roles *roles = &ROLES[op->format];

		if (!op->name)
			return BAD(v, pc, "invalid opcode %u", DT_I_OP(i));
		if (check_field(v, pc, roles->r1, DT_I_R1(i)) != 0 ||
		    check_field(v, pc, roles->r2, DT_I_R2(i)) != 0 ||
		    check_field(v, pc, roles->rd, DT_I_RD(i)) != 0 ||
		    check_operand(v, pc, op->format) != 0)
			return -1;
	}
	if (DT_I_OP(d->text[d->len - 1]) != DT_OP_RET)
		return BAD(v, d->len - 1, "the last instruction is not ret");
	return 0;
}

/* ---- tables ---- */

static int check_type(struct verifier *v, const dt_diftype *t, const char *what)
{
	if (t->kind != DT_TYPE_CTF && t->kind != DT_TYPE_STRING)
		return bad_table(v, "%s: invalid type kind %u", what, t->kind);
	if (t->ckind > DT_K_RESTRICT)
		return bad_table(v, "%s: invalid C type kind %u", what, t->ckind);
	if (t->flags & ~(DT_TF_BYREF | DT_TF_BYUREF))
		return bad_table(v, "%s: invalid type flags 0x%x", what, t->flags);
	return 0;
}

static int check_return(struct verifier *v)
{
	const dt_diftype *t = &v->d->rtype;

	if (check_type(v, t, "return type") != 0)
		return -1;
	if (t->flags & (DT_TF_BYREF | DT_TF_BYUREF))
		return 0;
	switch (t->size) {
	case 0:
	case 1:
	case 2:
	case 4:
	case 8: return 0;
	default: return bad_table(v, "return type: invalid size %u of a value", t->size);
	}
}

static int check_vars(struct verifier *v)
{
	const dt_difo *d = v->d;

	for (uint32_t i = 0; i < d->nvars; i++) {
		const dt_difvar *var = &d->vars[i];
		char what[32];

		snprintf(what, sizeof(what), "variable table entry %u", i);
		if (var->scope > DT_SCOPE_LOCAL)
			return bad_table(v, "%s: invalid scope %u", what, var->scope);
		if (var->kind != DT_VAR_ARRAY && var->kind != DT_VAR_SCALAR)
			return bad_table(v, "%s: invalid kind %u", what, var->kind);
		if (var->id > DT_VAR_MAX)
			return bad_table(v, "%s: invalid id 0x%x", what, var->id);
		if (var->name >= d->strlen)
			return bad_table(v, "%s: name outside the string table", what);
		if (var->id >= DT_VAR_USER_MIN && v->max_user[var->scope] &&
		    var->id > v->max_user[var->scope])
			return bad_table(v, "%s: id %u is above the highest declared one", what,
					 var->id);
		if (check_type(v, &var->type, what) != 0)
			return -1;
		if (!(var->type.flags & DT_TF_BYREF))
			continue;
		if (var->type.size == 0)
			return bad_table(v, "%s: size 0", what);
		if (var->scope != DT_SCOPE_THREAD && var->type.size > DT_STATIC_VAR_MAX)
			return bad_table(v, "%s: size %u is above the limit of %u", what,
					 var->type.size, DT_STATIC_VAR_MAX);
	}
	return 0;
}

static int check_relocs(struct verifier *v)
{
	const dt_difo *d = v->d;

	for (uint32_t i = 0; i < d->nrelocs; i++) {
		if (d->relocs[i].index >= d->intlen)
			return bad_table(v, "relocation %u: outside the integer table", i);
		if (d->relocs[i].name >= d->strlen)
			return bad_table(v, "relocation %u: name outside the string table", i);
	}
	return 0;
}

/* One level, so that every program ends. */
static int check_functions(struct verifier *v)
{
	const dt_difo *d = v->d;

	if (d->nfunctions > DT_FUNCTIONS_MAX)
		return bad_table(v, "%u functions, more than %u", d->nfunctions, DT_FUNCTIONS_MAX);
	for (uint32_t i = 0; i < d->nfunctions; i++)
		if (d->functions[i]->nfunctions)
			return bad_table(v, "function %u calls functions", i);
	return 0;
}

static int check_sizes(struct verifier *v)
{
	const dt_difo *d = v->d;
	uint64_t size =
	    (uint64_t)d->len * 4 + (uint64_t)d->intlen * 8 + d->strlen + (uint64_t)d->nvars * 20;

	if (d->len == 0)
		return bad_table(v, "no instructions");
	if (size > DT_DIFO_MAXSIZE)
		return dt_err(v->err, EDT_DIFSIZE, "DIFO of %llu bytes is above the limit of %u",
			      (unsigned long long)size, DT_DIFO_MAXSIZE);
	if (d->strlen > 0 && d->strtab[d->strlen - 1] != '\0')
		return bad_table(v, "string table is not NUL-terminated");
	return 0;
}

int dt_difo_verify(dt_difo *d, const struct dt_verify_opts *o, dt_error *err)
{
	struct verifier v = {.d = d, .nregs = DT_DIF_NREGS, .err = err};

	if (o) {
		if (o->nregs)
			v.nregs = o->nregs;
		v.max_user[DT_SCOPE_GLOBAL] = o->max_global;
		v.max_user[DT_SCOPE_THREAD] = o->max_thread;
		v.max_user[DT_SCOPE_LOCAL] = o->max_local;
		v.allow_xlate = o->allow_xlate;
	}
	if (check_sizes(&v) != 0 || check_return(&v) != 0 || check_vars(&v) != 0 ||
	    check_relocs(&v) != 0 || check_functions(&v) != 0 || check_text(&v) != 0)
		return -1;
	d->destructive = v.destructive;
	return 0;
}

/* ---- whole programs ---- */

/* Every DIFO of a program with its place, for messages. */
struct difo_ref {
	dt_difo *d;
	uint32_t clause, action; /* action 0: the predicate */
};
typedef DT_VEC(struct difo_ref) difo_refs;

static int compare_refs(const void *a, const void *b)
{
	const struct difo_ref *x = a, *y = b;

	if (x->d != y->d)
		return (uintptr_t)x->d < (uintptr_t)y->d ? -1 : 1;
	if (x->clause != y->clause)
		return x->clause < y->clause ? -1 : 1;
	return x->action < y->action ? -1 : x->action > y->action;
}

/* Clauses may share DIFOs (one clause body, many descriptions): each is checked once. */
static void collect_refs(dt_program *p, difo_refs *refs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nclauses; i++)
		for (const dt_clause *c = &p->clauses[i]; c; c = c->rest ? c->rest->clause : NULL)
			DT_EACH_DIFO(it, c)
				*dt_vec_add(refs, NULL) = (struct difo_ref){it.difo, i, it.action};
	if (refs->n > 0)
		qsort(refs->v, refs->n, sizeof(*refs->v), compare_refs);
	for (uint32_t i = 0; i < refs->n; i++)
		if (i == 0 || refs->v[i].d != refs->v[kept - 1].d)
			refs->v[kept++] = refs->v[i];
	refs->n = kept;
}

static int blame(const struct difo_ref *r, dt_error *err)
{
	char why[sizeof(err->text)];
	char place[64];

	snprintf(why, sizeof(why), "%.900s", err->text);
	if (r->action == 0)
		snprintf(place, sizeof(place), "clause %u, predicate", r->clause + 1);
	else
		snprintf(place, sizeof(place), "clause %u, action #%u", r->clause + 1, r->action);
	return dt_err(err, err->code, "%s: %s", place, why);
}

struct var_ref {
	const dt_difvar *v;
	const struct difo_ref *where;
};
typedef DT_VEC(struct var_ref) var_refs;

static int compare_var_refs(const void *a, const void *b)
{
	const struct var_ref *x = a, *y = b;

	if (x->v->scope != y->v->scope)
		return x->v->scope < y->v->scope ? -1 : 1;
	if (x->v->id != y->v->id)
		return x->v->id < y->v->id ? -1 : 1;
	if (x->where->clause != y->where->clause)
		return x->where->clause < y->where->clause ? -1 : 1;
	return x->where->action < y->where->action ? -1 : x->where->action > y->where->action;
}

static const char *disagreement(const dt_difvar *a, const dt_difvar *b)
{
	if (a->kind != b->kind)
		return "is an array in one place and a scalar in another";
	if (a->type.kind != b->type.kind)
		return "changed its type";
	if (a->type.flags != b->type.flags)
		return "changed between value and reference";
	if (a->type.size != 0 && b->type.size != 0 && a->type.size != b->type.size)
		return "changed its size";
	return NULL;
}

/* A user variable has one storage for all its uses: all its definitions must agree. */
static int check_agreement(const difo_refs *refs, dt_error *err)
{
	var_refs vars = {0};
	const struct var_ref *known = NULL;
	int rc = 0;

	for (uint32_t i = 0; i < refs->n; i++)
		for (uint32_t j = 0; j < refs->v[i].d->nvars; j++)
			if (refs->v[i].d->vars[j].id >= DT_VAR_USER_MIN)
				*dt_vec_add(&vars, NULL) =
				    (struct var_ref){&refs->v[i].d->vars[j], &refs->v[i]};
	if (vars.n > 0)
		qsort(vars.v, vars.n, sizeof(*vars.v), compare_var_refs);
	for (uint32_t i = 0; i < vars.n && rc == 0; i++) {
		const struct var_ref *r = &vars.v[i];
		const char *why;

		/* `known` is the first definition of this id with a size. */
		if (!known || known->v->id != r->v->id || known->v->scope != r->v->scope) {
			known = r;
			continue;
		}
		why = disagreement(known->v, r->v);
		if (why) {
			dt_err(err, EDT_DIFINVAL, "variable %u %s", r->v->id, why);
			rc = blame(r->where, err);
		}
		if (known->v->type.size == 0)
			known = r;
	}
	dt_vec_free(&vars);
	return rc;
}

int dt_program_verify(dt_program *p, const struct dt_verify_opts *o, dt_error *err)
{
	difo_refs refs = {0};
	int rc = 0;

	collect_refs(p, &refs);
	for (uint32_t i = 0; i < refs.n && rc == 0; i++)
		if (dt_difo_verify(refs.v[i].d, o, err) != 0)
			rc = blame(&refs.v[i], err);
	if (rc == 0)
		rc = check_agreement(&refs, err);
	for (uint32_t i = 0; i < p->nclauses && rc == 0; i++)
		for (dt_clause *c = &p->clauses[i]; c && rc == 0; c = c->rest ? c->rest->clause : NULL) {
			rc = dt_control_verify(c, err);
			c->destructive = dt_clause_is_destructive(c);
		}
	dt_vec_free(&refs);
	return rc;
}
