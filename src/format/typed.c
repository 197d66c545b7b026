/*
 * typed: public values and rows, made from the consumer's.
 *
 * Values are allocated in chunks that are reused after a reset, so that a record costs no
 * allocation.
 */
#include <stdlib.h>

#include "dif/quantize.h"
#include "format/typed.h"

struct dtrace_value {
	struct dtrace_valueinfo info; /* first: dtrace_value_info() */
	dt_value v;
	dt_typed *maker;
};

#define CHUNK 64
struct chunk {
	dtrace_value_t *v;
	uint32_t n, cap;
};

struct dt_typed {
	const struct dt_consumer_env *env;
	DT_VEC(struct chunk) chunks;
	uint32_t current;
	dt_map *type_names; /* by address of the type */
	dt_buf text;
};

struct dtrace_row {
	struct dtrace_rowinfo info; /* first: dtrace_row_info() */
	dtrace_value_t *keys;
};

dt_typed *dt_typed_new(const struct dt_consumer_env *env)
{
	dt_typed *m = dt_xcalloc(1, sizeof(*m));

	m->env = env;
	return m;
}

void dt_typed_free(dt_typed *m)
{
	uint32_t it = 0;
	const char *key;
	void *value;

	if (!m)
		return;
	for (uint32_t i = 0; i < m->chunks.n; i++)
		free(m->chunks.v[i].v);
	dt_vec_free(&m->chunks);
	while (m->type_names && dt_map_next(m->type_names, &it, &key, &value))
		free(value);
	if (m->type_names)
		dt_map_free(m->type_names);
	dt_buf_free(&m->text);
	free(m);
}

void dt_typed_reset(dt_typed *m)
{
	for (uint32_t i = 0; i < m->chunks.n && i <= m->current; i++)
		m->chunks.v[i].n = 0;
	m->current = 0;
}

dtrace_value_t *dt_typed_values(dt_typed *m, uint32_t n)
{
	struct chunk *c;

	for (; m->current < m->chunks.n; m->current++) {
		c = &m->chunks.v[m->current];
		if (c->cap - c->n >= n) {
			c->n += n;
			return c->v + c->n - n;
		}
	}
	c = dt_vec_add(&m->chunks, NULL);
	c->cap = n > CHUNK ? n : CHUNK;
	c->v = dt_xcalloc(c->cap, sizeof(*c->v));
	c->n = n;
	return c->v;
}

dtrace_value_t *dt_typed_nth(dtrace_value_t *values, uint32_t i)
{
	return values + i;
}

/* ---- values ---- */

static enum dtrace_value_kind kind_of(const dt_value *v, uint32_t nchildren)
{
	static const enum dtrace_value_kind kinds[] = {
	    [DT_V_NONE] = DTRACE_VALUE_NONE,	 [DT_V_INT] = DTRACE_VALUE_INT,
	    [DT_V_FLOAT] = DTRACE_VALUE_FLOAT,	 [DT_V_STRING] = DTRACE_VALUE_STRING,
	    [DT_V_BYTES] = DTRACE_VALUE_BYTES,	 [DT_V_STACK] = DTRACE_VALUE_STACK,
	    [DT_V_SYMBOL] = DTRACE_VALUE_SYMBOL,
	};

	if (nchildren)
		return dt_value_is_structure(v) ? DTRACE_VALUE_STRUCT : DTRACE_VALUE_ARRAY;
	return kinds[v->kind];
}

void dt_typed_set(dt_typed *m, dtrace_value_t *to, const dt_value *v, const char *name)
{
	uint32_t n = v->kind == DT_V_BYTES ? dt_value_nchildren(m->env->types, v) : 0;

	to->v = *v;
	to->maker = m;
	to->info = (struct dtrace_valueinfo){
	    .kind = kind_of(v, n),
	    .name = name,
	    .data = v->data,
	    .size = v->size,
	    .u = v->u,
	    .is_signed = v->is_signed,
	    .pid = v->pid,
	    .nchildren = n,
	    .nframes = v->kind == DT_V_STACK ? v->nframes : v->kind == DT_V_SYMBOL,
	};
	if (v->kind == DT_V_INT && v->type)
		to->info.is_pointer = dt_type_is_pointer(v->type);
}

const struct dtrace_valueinfo *dtrace_value_info(const dtrace_value_t *v)
{
	return &v->info;
}

double dtrace_value_double(const dtrace_value_t *v)
{
	return v->v.kind == DT_V_FLOAT || v->v.kind == DT_V_INT ? dt_value_double(&v->v) : 0;
}

const char *dtrace_value_type(const dtrace_value_t *v)
{
	dt_typed *m = v->maker;
	char key[32], *name;
	dt_buf b = {0};

	if (!v->v.type)
		return NULL;
	snprintf(key, sizeof(key), "%p", (void *)v->v.type);
	if (!m->type_names)
		m->type_names = dt_map_new();
	name = dt_map_get(m->type_names, key);
	if (!name) {
		dt_type_print(m->env->types, v->v.type, NULL, &b);
		name = b.s ? b.s : dt_xstrdup("");
		dt_map_set(m->type_names, key, name);
	}
	return name;
}

const char *dtrace_value_enumerator(const dtrace_value_t *v)
{
	dt_type *t = v->v.type ? dt_type_resolve(v->v.type) : NULL;

	if (!t || v->v.kind != DT_V_INT || t->kind != DT_K_ENUM)
		return NULL;
	dt_type_complete(v->maker->env->types, t);
	for (uint32_t i = 0; i < t->nenumerators; i++)
		if (t->enumerators[i].value == (int64_t)v->v.u)
			return t->enumerators[i].name;
	return NULL;
}

const dtrace_value_t *dtrace_value_child(const dtrace_value_t *v, unsigned i)
{
	dt_typed *m = v->maker;
	dtrace_value_t *to;
	const char *name;
	dt_value child;

	if (!dt_value_child(m->env->types, &v->v, i, &child, &name))
		return NULL;
	to = dt_typed_values(m, 1);
	dt_typed_set(m, to, &child, name);
	return to;
}

static const char *helper_of(const dt_value *v, unsigned i)
{
	const char *helper = "";
	size_t at = 0;

	if (!v->strings)
		return NULL;
	for (unsigned k = 0; k <= i; k++)
		helper = dt_value_helper(v, &at);
	return helper[0] ? helper : NULL;
}

int dtrace_value_frame(const dtrace_value_t *v, unsigned i, struct dtrace_frame *out)
{
	struct dtrace_frame f = {.size = out->size};
	dt_frame found;

	if (i >= v->info.nframes)
		return -1;
	dt_symbolise(v->maker->env, &v->v, i, &found);
	dt_find_line(v->maker->env, &v->v, i, &found);
	f.address = found.pc;
	f.file = found.file;
	f.line = found.line;
	f.module = found.mod;
	f.symbol = found.sym;
	f.offset = found.sym ? found.off : 0;
	f.helper = helper_of(&v->v, i);
	if (v->v.kind == DT_V_SYMBOL && (v->v.act == DT_ACT_MOD || v->v.act == DT_ACT_UMOD))
		f.symbol = NULL;
	memcpy(out, &f, out->size < sizeof(f) ? out->size : sizeof(f));
	return 0;
}

/* ---- rows ---- */

/* Those that are not empty; to be freed. */
static struct dtrace_bucket *buckets_of(const dt_aggset *s, const uint64_t *value, unsigned *n)
{
	struct dtrace_bucket *v;
	struct dt_buckets b;

	*n = 0;
	if (!dt_agg_is_quantizer(s->agg) || !dt_buckets_of(s->agg, value, &b))
		return NULL;
	v = dt_xcalloc(b.n, sizeof(*v));
	for (uint32_t i = 0; i < b.n; i++) {
		if (dt_bucket_count(&b, i, 1) == 0)
			continue;
		dt_bucket_range(&b, i, &v[*n].low, &v[*n].high);
		v[(*n)++].count = dt_bucket_count(&b, i, s->normal);
	}
	return v;
}

static int give_row(dt_typed *m, const dt_aggtable *t, const dt_aggline *l, uint32_t which,
		    struct dtrace_row *r, dtrace_row_f *f, void *arg)
{
	const dt_aggset *s = t->sets[which];
	const uint64_t *value = l->values[which];
	struct dtrace_bucket *buckets = buckets_of(s, value, &r->info.nbuckets);
	dt_error err;
	bool sums = s->agg->func == DT_ACT_AVG || s->agg->func == DT_ACT_STDDEV;
	int rc;

	dt_typed_reset(m);
	r->info.name = s->agg->name;
	r->info.function = dt_act_name(s->agg->func);
	r->info.id = s->agg->id;
	r->info.nkeys = l->agg->nkeys;
	r->info.normal = s->normal;
	r->info.buckets = buckets;
	r->info.value = dt_agg_is_quantizer(s->agg) ? 0 : dt_agg_number(s->agg, value, s->normal);
	if (sums && s->agg->nwords >= 2) {
		r->info.count = value[0];
		r->info.sum = (int64_t)value[1];
	}
	dt_buf_reset(&m->text);
	if (t->format && which == 0 && dt_text_aggline(&m->text, t, l, m->env, &err) == 0) {
		r->info.text = m->text.n ? m->text.s : "";
		r->info.textlen = m->text.n;
	}
	r->keys = dt_typed_values(m, l->agg->nkeys);
	for (uint32_t i = 0; i < l->agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&l->agg->keys[i], &l->keys[i], &v);
		dt_typed_set(m, &r->keys[i], &v, v.name);
	}
	rc = f(r, arg);
	free(buckets);
	return rc;
}

int dt_typed_rows(dt_typed *m, const dt_aggtable *t, unsigned snapshot, dtrace_row_f *f, void *arg)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->nlines && rc == 0; i++) {
		for (uint32_t j = 0; j < t->nsets && rc == 0; j++) {
			struct dtrace_row r = {
			    .info = {.snapshot = snapshot,
				     .at_exit = t->at_exit,
				     .place = i,
				     .nplaces = t->nlines}};

			if (t->lines[i].values[j])
				rc = give_row(m, t, &t->lines[i], j, &r, f, arg);
		}
	}
	return rc;
}

const struct dtrace_rowinfo *dtrace_row_info(const dtrace_row_t *r)
{
	return &r->info;
}

const dtrace_value_t *dtrace_row_key(const dtrace_row_t *r, unsigned i)
{
	return i < r->info.nkeys ? &r->keys[i] : NULL;
}

void dt_typed_probe(const dt_probe *p, struct dtrace_probeinfo *out)
{
	*out = (struct dtrace_probeinfo){
	    .id = p->id,
	    .provider = p->prov,
	    .module = p->mod,
	    .function = p->func,
	    .name = p->name,
	};
}
