/*
 * actions: actions.def as data, and the size of a datum.
 *
 * The compiler and the DOF reader set the size of every action with dt_datum_size(); the engines
 * rely on that size, and the consumer checks what it reads against it.
 */
#include "dif/dif.h"

enum { RECORDED_IF_DATA = false, RECORDED_ALWAYS = true };
enum { KEY_NO_KEY = false, KEY_KEY = true };
enum { FORMAT_NO_FORMAT = false, FORMAT_FORMAT = true };

const struct dt_act_desc *dt_act_find(uint32_t kind)
{
	switch (kind) {
#define DT_ACT(sym, number, expr, pay, rec, key_, needs_, fx, st)                                  \
	case number: {                                                                             \
		static const struct dt_act_desc desc = {                                           \
		    .kind = DT_ACT_##sym,                                                          \
		    .expression = DT_EXPR_##expr,                                                  \
		    .payload = DT_PAYLOAD_##pay,                                                   \
		    .always_recorded = RECORDED_##rec,                                             \
		    .is_key = KEY_##key_,                                                          \
		    .needs = DT_NEEDS_##needs_,                                                    \
		    .effect = DT_EFFECT_##fx,                                                      \
		    .stmt = DT_ST_##st,                                                            \
		};                                                                                 \
		return &desc;                                                                      \
	}
#include "dif/actions.def"
#undef DT_ACT
	default: return NULL;
	}
}

const struct dt_act_desc *dt_act(enum dt_act kind)
{
	static const struct dt_act_desc none;
	const struct dt_act_desc *d = dt_act_find(kind);

	return d ? d : &none;
}

const char *dt_act_name(enum dt_act kind)
{
	static const struct {
		enum dt_act kind;
		const char *name;
	} names[] = {
#define DT_ACTION(name, act, ...)  {DT_ACT_##act, name},
#define DT_AGGFUNC(name, act, ...) {DT_ACT_##act, name},
#include "dif/actions.def"
#undef DT_ACTION
#undef DT_AGGFUNC
	};

	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (names[i].kind == kind)
			return names[i].name;
	return "";
}

bool dt_act_makes(enum dt_act kind, enum dt_stmt_kind stmt)
{
	static const struct {
		enum dt_act kind;
		enum dt_stmt_kind stmt;
	} rows[] = {
#define DT_ACTION(name, act, st, ...) {DT_ACT_##act, DT_ST_##st},
#include "dif/actions.def"
#undef DT_ACTION
	};

	for (size_t i = 0; i < DT_NELEM(rows); i++)
		if (rows[i].kind == kind && rows[i].stmt == stmt)
			return true;
	return dt_act(kind)->stmt == stmt;
}

const struct dt_stmt_desc dt_stmts[DT_ST_MAX] = {
#define DT_STMT(sym, n, format) [DT_ST_##sym] = {DT_AGGS_##n, FORMAT_##format},
#include "dif/actions.def"
#undef DT_STMT
};

/* A value's alignment follows from its type. DIF does not record that of an object; it is at most
 * 8. */
static uint64_t value_size(const dt_diftype *t, uint32_t *align)
{
	if (!t || t->size == 0)
		return 0;
	if (t->kind == DT_TYPE_STRING)
		*align = 1;
	else if (t->flags & (DT_TF_BYREF | DT_TF_BYUREF))
		*align = 8;
	else
		*align = t->size; /* 1, 2, 4 or 8: the verifier checks it */
	return t->size;
}

uint64_t dt_datum_size(const dt_action *a, uint32_t *align)
{
	const dt_diftype *t = a->difo ? &a->difo->rtype : NULL;
	uint64_t frames = a->arg & 0xffffffff, strsize = a->arg >> 32;

	*align = 8;
	switch (dt_act(a->kind)->payload) {
	case DT_PAYLOAD_STACK: return frames * 8;
	case DT_PAYLOAD_USTACK: return (frames + 1) * 8 + strsize;
	case DT_PAYLOAD_IMMSTACK: return frames * strsize;
	case DT_PAYLOAD_SYM: return 8;
	case DT_PAYLOAD_USYM: return 16;
	case DT_PAYLOAD_COUNTED:
	case DT_PAYLOAD_PACKET: return a->arg + 8;
	case DT_PAYLOAD_BYTES: *align = 1; return a->arg || !t ? a->arg : t->size;
	case DT_PAYLOAD_VALUE: *align = 0; return value_size(t, align);
	case DT_PAYLOAD_NONE: break;
	}
	*align = 0;
	return 0;
}

bool dt_datum_is_string(const dt_action *a)
{
	return dt_act(a->kind)->payload == DT_PAYLOAD_VALUE && a->difo &&
	       a->difo->rtype.kind == DT_TYPE_STRING;
}

bool dt_key_is_number(const dt_action *a)
{
	return a->kind == DT_ACT_DIFEXPR && a->difo && !dt_datum_is_string(a) &&
	       !(a->difo->rtype.flags & (DT_TF_BYREF | DT_TF_BYUREF)) &&
	       (a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8);
}

void dt_agg_widen_keys(dt_agg *agg, const dt_action *keys)
{
	for (uint32_t i = 0; i < agg->nkeys; i++)
		if (agg->keys[i].size < keys[i].size && dt_key_is_number(&agg->keys[i]) &&
		    dt_key_is_number(&keys[i]))
			agg->keys[i] = keys[i];
}
