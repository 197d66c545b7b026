/*
 * agg_table: the consumer's copy of the aggregations.
 *
 * Every snapshot of an engine returns rows (keys and a value), which are merged here by key, per
 * aggregation, in a chained hash table. printa(), clear(), trunc() and normalize() work on this
 * copy. A row is one piece of memory: the struct, the keys, the value, the bytes of the keys.
 *
 * Keys that are symbols (sym, mod, usym, umod) are made canonical first: all addresses inside one
 * function become its first address, all addresses inside one module the first one seen, so that
 * equal names are one row. A function is the same in every process that maps the object, though at
 * other addresses: the first one seen stands for all. (Two static functions of the same name differ
 * by their offset in a page, which loading does not change.) Strings count up to their NUL only,
 * and integers by value, whatever their size; a row shows them in the size they had when it was
 * made. Stacks are compared by what is printed of them if the user wants that (options ustackmerge
 * and stackoffsets).
 *
 * What another machine makes us keep (rows, and names that stand for others) is taken from its account, and refused if that is
 * used up; a row gives it back when it is removed.
 *
 * Numbers of keys and words come from the aggregation (possibly from a file): rows are copied by
 * those numbers, and readers of a value check them against the function (dt_agg_number,
 * dt_buckets_of).
 */
#include <stdlib.h>

#include "consume/writer.h"
#include "dif/quantize.h"

#define PAGE 4096

struct place { /* what stands for a name */
	long pid;
	uint64_t addr;
};

struct dt_aggs {
	const struct dt_consumer_env *env;
	DT_VEC(dt_aggset *) sets; /* in order of id */
	dt_aggset *recent;
	dt_account *payer; /* of what is merged now; NULL: this machine */
	dt_payers payers;
	dt_map *names;	/* of modules and of functions in processes -> struct place * */
	dt_map *stacks; /* by the names of their frames -> dt_datum *, followed by its bytes */
};

dt_aggs *dt_aggs_new(const struct dt_consumer_env *env)
{
	dt_aggs *as = dt_xcalloc(1, sizeof(*as));

	as->env = env;
	return as;
}

/* ---- memory of rows ---- */

/*
 * There can be millions of rows, all of them small: they come from blocks, and those that are
 * removed are used again for rows of the same size. Large ones are allocated one by one.
 */
#define BLOCK	  (64u << 10)
#define SMALL_ROW 512

struct dt_rowpool {
	struct block {
		struct block *next;
		char rows[];
	} * blocks;
	size_t used;			  /* of the first block */
	dt_aggrow *removed[SMALL_ROW / 8]; /* by size / 8; linked by `chain` */
};

static size_t row_size(const dt_agg *agg, const dt_datum *keys)
{
	size_t n = sizeof(dt_aggrow) + agg->nkeys * sizeof(dt_datum) + agg->nwords * sizeof(uint64_t);

	for (uint32_t i = 0; i < agg->nkeys; i++)
		n += dt_align_up(keys[i].size, 8);
	return n;
}

/* Filled with zeros. */
static dt_aggrow *row_alloc(dt_aggset *s, size_t size)
{
	struct dt_rowpool *p = s->rows;
	dt_aggrow *r;

	if (size >= SMALL_ROW) {
		s->nlarge++;
		return dt_xcalloc(1, size);
	}
	if (!p)
		p = s->rows = dt_xcalloc(1, sizeof(*p));
	r = p->removed[size / 8];
	if (r) {
		p->removed[size / 8] = r->chain;
		memset(r, 0, size);
		return r;
	}
	if (!p->blocks || p->used + size > BLOCK) {
		struct block *b = dt_xcalloc(1, sizeof(*b) + BLOCK);

		b->next = p->blocks;
		p->blocks = b;
		p->used = 0;
	}
	r = (dt_aggrow *)(void *)(p->blocks->rows + p->used);
	p->used += size;
	return r;
}

/* What a row costs: the table has up to four buckets for it, and a byte for each. */
static uint64_t cost_of(const dt_agg *agg, const dt_datum *keys)
{
	return row_size(agg, keys) + 4 * (sizeof(dt_aggrow *) + 1);
}

static void pay_back(const dt_aggset *s, const dt_aggrow *r)
{
	if (r->payer)
		dt_account_give(s->payers->v[r->payer], cost_of(s->agg, r->keys));
}

static void row_free(dt_aggset *s, dt_aggrow *r)
{
	size_t size = row_size(s->agg, r->keys);

	pay_back(s, r);
	if (size >= SMALL_ROW) {
		s->nlarge--;
		free(r);
		return;
	}
	r->chain = s->rows->removed[size / 8];
	s->rows->removed[size / 8] = r;
}

static void pool_free(struct dt_rowpool *p)
{
	for (struct block *b = p ? p->blocks : NULL, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(p);
}

static void drop_rows(dt_aggset *s)
{
	for (uint32_t i = 0; i < s->nbuckets && (s->nlarge || s->payers->n); i++)
		for (dt_aggrow *r = s->buckets[i], *next; r; r = next) {
			next = r->chain;
			pay_back(s, r);
			if (row_size(s->agg, r->keys) >= SMALL_ROW)
				free(r);
		}
	free(s->buckets);
	free(s->tags);
	s->buckets = NULL;
	s->tags = NULL;
	s->nbuckets = s->nrows = s->nlarge = 0;
	pool_free(s->rows);
	s->rows = NULL;
}

static void free_map(dt_map *m)
{
	uint32_t it = 0;
	const char *key;
	void *value;

	while (m && dt_map_next(m, &it, &key, &value))
		free(value);
	dt_map_free(m);
}

void dt_aggs_free(dt_aggs *as)
{
	if (!as)
		return;
	for (uint32_t i = 0; i < as->sets.n; i++) {
		drop_rows(as->sets.v[i]);
		free(as->sets.v[i]);
	}
	dt_vec_free(&as->sets);
	dt_vec_free(&as->payers);
	free_map(as->names);
	free_map(as->stacks);
	free(as);
}

uint32_t dt_aggs_count(const dt_aggs *as)
{
	return as->sets.n;
}

dt_aggset *dt_aggs_nth(dt_aggs *as, uint32_t i)
{
	return as->sets.v[i];
}

dt_aggset *dt_aggs_get(dt_aggs *as, const dt_agg *agg)
{
	uint32_t i = 0, end = as->sets.n;
	dt_aggset *s;

	if (as->recent && as->recent->agg->id == agg->id)
		return as->recent;
	while (i < end) { /* the first with an id not below */
		uint32_t mid = i + (end - i) / 2;
		if (as->sets.v[mid]->agg->id < agg->id)
			i = mid + 1;
		else
			end = mid;
	}
	if (i == as->sets.n || as->sets.v[i]->agg->id != agg->id) {
		s = dt_xcalloc(1, sizeof(*s));
		s->agg = agg;
		s->normal = 1;
		s->payers = &as->payers;
		*dt_vec_add(&as->sets, NULL) = s;
		memmove(&as->sets.v[i + 1], &as->sets.v[i],
			(as->sets.n - 1 - i) * sizeof(*as->sets.v));
		as->sets.v[i] = s;
	}
	return as->recent = as->sets.v[i];
}

/* ---- keys ---- */

#define NAME_COST 150 /* of an entry, besides its characters */

/* May this many bytes be kept, for good, of what is merged now? */
static bool can_keep(const dt_aggs *as, size_t n)
{
	return !as->payer || dt_account_take(as->payer, n + NAME_COST);
}

/* The address that stands for all of this name: the first that was seen. */
static void stand_for(dt_aggs *as, char *name, dt_value *v)
{
	struct place *known;

	if (!as->names)
		as->names = dt_map_new();
	known = dt_map_get(as->names, name);
	if (!known && can_keep(as, strlen(name))) {
		known = dt_xmalloc(sizeof(*known));
		*known = (struct place){v->pid, v->u};
		dt_map_set(as->names, name, known);
	}
	if (known) {
		v->pid = known->pid;
		v->u = known->addr;
	}
	free(name);
}

static bool merges_stacks(const dt_aggs *as, bool user)
{
	return as->env->opts && ((user && dt_opt(as->env->opts, DT_O_USTACKMERGE)) ||
				 !dt_opt(as->env->opts, DT_O_STACKOFFSETS));
}

/* The first stack that was seen with these names stands for all. */
static void merge_stack(dt_aggs *as, const dt_action *key, dt_datum *d)
{
	dt_datum *known;
	dt_buf name = {0};
	dt_value v;

	dt_value_of(key, d, &v);
	if (v.kind != DT_V_STACK)
		return;
	dt_buf_printf(&name, "%d", (int)v.act);
	dt_text_stack(&name, &v, 0, as->env);
	if (!as->stacks)
		as->stacks = dt_map_new();
	known = dt_map_get(as->stacks, name.s);
	if (!known && can_keep(as, name.n + d->size)) {
		known = dt_xmalloc(sizeof(*known) + d->size);
		*known = *d;
		known->data = memcpy(known + 1, d->data, d->size);
		dt_map_set(as->stacks, name.s, known);
	}
	if (known)
		*d = *known;
	dt_buf_free(&name);
}

/* If the key is a symbol or a number, put its canonical form into words[] and point the datum there. */
static void canonical_key(dt_aggs *as, const dt_action *key, dt_datum *d, uint64_t words[2])
{
	bool module = key->kind == DT_ACT_MOD || key->kind == DT_ACT_UMOD, user = d->size == 16;
	enum dt_payload payload = dt_act(key->kind)->payload;
	dt_value v;
	dt_frame f;

	if (dt_act_is_stack(key->kind)) {
		if (merges_stacks(as, payload == DT_PAYLOAD_USTACK))
			merge_stack(as, key, d);
		return;
	}
	dt_value_of(key, d, &v);
	if (v.kind == DT_V_STRING) {
		d->size = v.size < d->size ? v.size + 1 : v.size;
		return;
	}
	if (v.kind == DT_V_INT && d->size < 8) {
		words[0] = v.u;
		*d = (dt_datum){words, 8, d->size};
		return;
	}
	if (v.kind != DT_V_SYMBOL || key->kind == DT_ACT_UADDR || (d->size != 8 && d->size != 16))
		return;
	dt_symbolise(as->env, &v, 0, &f);
	if (!module && f.sym)
		v.u -= f.off;
	if (module && f.mod)
		stand_for(as, dt_xasprintf("%c %s", user ? 'u' : 'k', f.mod), &v);
	else if (user && !module && f.mod && f.sym)
		stand_for(as, dt_xasprintf("u %s`%s %x", f.mod, f.sym, (unsigned)(v.u % PAGE)), &v);
	words[0] = user ? (uint64_t)v.pid : v.u;
	words[1] = v.u;
	d->data = words;
}

static uint32_t hash_keys(const dt_datum *keys, uint32_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ dt_hash_bytes(keys[i].data, keys[i].size)) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

static bool same_keys(const dt_datum *a, const dt_datum *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].size != b[i].size || memcmp(a[i].data, b[i].data, a[i].size) != 0)
			return false;
	return true;
}

/* ---- rows ---- */

static dt_aggrow *new_row(dt_aggset *s, const dt_datum *keys, uint32_t hash)
{
	const dt_agg *agg = s->agg;
	dt_aggrow *r = row_alloc(s, row_size(agg, keys));
	char *p;

	r->agg = agg;
	r->hash = hash;
	r->empty = true;
	r->keys = (dt_datum *)(r + 1);
	p = (char *)(r->keys + agg->nkeys);
	r->value = (uint64_t *)p;
	p += agg->nwords * sizeof(uint64_t);
	for (uint32_t i = 0; i < agg->nkeys; i++) {
		r->keys[i] = (dt_datum){p, keys[i].size, keys[i].shown};
		if (keys[i].size)
			memcpy(p, keys[i].data, keys[i].size);
		p += dt_align_up(keys[i].size, 8);
	}
	return r;
}

/*
 * With a million rows, finding out that a key is new would mean two or three misses of the cache: the bucket, and the rows in
 * it. A byte for each bucket, small enough to stay in the cache, says by one bit of eight whether it can have a row of this
 * hash. Bits of rows that are removed stay.
 */
static uint8_t tag_of(uint32_t hash)
{
	return (uint8_t)(1u << (hash >> 29)); /* bits that do not choose the bucket, up to 2^29 of them */
}

static void add_row(dt_aggrow **buckets, uint8_t *tags, uint32_t n, dt_aggrow *r)
{
	uint32_t at = r->hash & (n - 1);

	r->chain = tags[at] ? buckets[at] : NULL;
	buckets[at] = r;
	tags[at] |= tag_of(r->hash);
}

static void grow(dt_aggset *s)
{
	uint32_t n = s->nbuckets ? s->nbuckets * 4 : 64; /* rows are visited each time */
	dt_aggrow **b = dt_xcalloc(n, sizeof(*b));
	uint8_t *tags = dt_xcalloc(n, 1);

	for (uint32_t i = 0; i < s->nbuckets; i++) {
		for (dt_aggrow *r = s->buckets[i], *next; r; r = next) {
			next = r->chain;
			add_row(b, tags, n, r);
		}
	}
	free(s->buckets);
	free(s->tags);
	s->buckets = b;
	s->tags = tags;
	s->nbuckets = n;
}

/* NULL: it is new, and its machine has used up its account. */
static dt_aggrow *find_row(dt_aggset *s, dt_account *payer, const dt_datum *keys)
{
	uint32_t hash = hash_keys(keys, s->agg->nkeys);
	dt_aggrow *r;

	if (s->nrows >= s->nbuckets)
		grow(s);
	if (s->tags[hash & (s->nbuckets - 1)] & tag_of(hash))
		for (r = s->buckets[hash & (s->nbuckets - 1)]; r; r = r->chain)
			if (r->hash == hash && same_keys(r->keys, keys, s->agg->nkeys))
				return r;
	if (payer && !dt_account_take(payer, cost_of(s->agg, keys)))
		return NULL;
	r = new_row(s, keys, hash);
	r->payer = payer ? payer->number : 0;
	add_row(s->buckets, s->tags, s->nbuckets, r);
	s->nrows++;
	return r;
}

/* stddev: the last two words are one 128-bit number. */
static void add_squares(uint64_t *to, const uint64_t *from)
{
	uint64_t low = to[0] + from[0];

	to[1] += from[1] + (low < to[0]);
	to[0] = low;
}

static void merge_value(const dt_agg *agg, uint64_t *to, const uint64_t *from)
{
	uint32_t i = dt_agg_first_bucket(agg->func), n = agg->nwords;

	switch (dt_aggfunc(agg->func)) {
	case DT_AGG_MIN:
		if (n > 0 && (int64_t)from[0] < (int64_t)to[0])
			to[0] = from[0];
		return;
	case DT_AGG_MAX:
		if (n > 0 && (int64_t)from[0] > (int64_t)to[0])
			to[0] = from[0];
		return;
	case DT_AGG_STDDEV:
		if (n >= 4) {
			add_squares(to + 2, from + 2);
			n = 2;
		}
		break;
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_AVG:
	case DT_AGG_QUANTIZE:
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE: break;
	}
	for (; i < n; i++)
		to[i] += from[i];
}

/* The row will be printed, possibly long after the process has ended. */
static void keep_processes(const dt_aggs *as, const dt_aggrow *r)
{
	for (uint32_t i = 0; as->env->keep && i < r->agg->nkeys; i++) {
		dt_value v;

		dt_value_of(&r->agg->keys[i], &r->keys[i], &v);
		if (v.pid > 0)
			as->env->keep(as->env->arg, v.pid);
	}
}

/* Its rows name it by its number. */
static void note_payer(dt_aggs *as, dt_account *payer)
{
	as->payer = payer;
	if (!payer)
		return;
	while (as->payers.n <= payer->number)
		*dt_vec_add(&as->payers, NULL) = NULL;
	as->payers.v[payer->number] = payer;
}

void dt_aggs_merge(dt_aggs *as, dt_account *payer, const dt_agg *agg, const dt_datum *keys, const uint64_t *value)
{
	dt_aggset *s = dt_aggs_get(as, agg);
	uint32_t n = s->agg->nkeys;
	dt_datum small[8], *k = n <= DT_NELEM(small) ? small : dt_xcalloc(n, sizeof(*k));
	uint64_t words[8][2], (*w)[2] = n <= DT_NELEM(words) ? words : dt_xcalloc(n, sizeof(*w));
	dt_aggrow *r;

	note_payer(as, payer);
	for (uint32_t i = 0; i < n; i++) {
		k[i] = keys[i].data ? keys[i] : (dt_datum){"", 0, 0};
		canonical_key(as, &s->agg->keys[i], &k[i], w[i]);
	}
	r = find_row(s, payer, k);
	if (!r) {
		payer->refused_rows++;
	} else if (r->empty) {
		memcpy(r->value, value, s->agg->nwords * sizeof(*value));
		if (!payer)
			keep_processes(as, r);
	} else {
		merge_value(s->agg, r->value, value);
	}
	if (r)
		r->empty = false;
	if (k != small)
		free(k);
	if (w != words)
		free(w);
}

void dt_aggset_clear(dt_aggset *s)
{
	uint32_t keep = dt_agg_first_bucket(s->agg->func); /* the parameter word */

	for (uint32_t i = 0; i < s->nbuckets; i++) {
		for (dt_aggrow *r = s->buckets[i]; r; r = r->chain) {
			for (uint32_t j = keep; j < s->agg->nwords; j++)
				r->value[j] = 0;
			r->empty = true;
		}
	}
}

/* Remove the rows of these lines from the set. */
static void remove_lines(dt_aggset *s, const dt_aggline *lines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hash = hash_keys(lines[i].keys, s->agg->nkeys);

		for (dt_aggrow **p = &s->buckets[hash & (s->nbuckets - 1)]; *p; p = &(*p)->chain) {
			dt_aggrow *r = *p;

			if (r->keys == lines[i].keys) {
				*p = r->chain;
				row_free(s, r);
				s->nrows--;
				break;
			}
		}
	}
}

void dt_aggset_trunc(dt_aggset *s, int64_t n)
{
	uint64_t keep = n < 0 ? -(uint64_t)n : (uint64_t)n;
	dt_aggtable t;

	if (n == 0) {
		drop_rows(s);
		return;
	}
	if (keep >= s->nrows)
		return;
	dt_aggtable_make(&t, &s, 1, NULL); /* by value, smallest first */
	if (n > 0)
		remove_lines(s, t.lines, t.nlines - (uint32_t)keep);
	else
		remove_lines(s, t.lines + keep, t.nlines - (uint32_t)keep);
	dt_aggtable_free(&t);
}

/* ---- numbers ---- */

bool dt_agg_is_quantizer(const dt_agg *agg)
{
	return agg->func == DT_ACT_QUANTIZE || agg->func == DT_ACT_LQUANTIZE ||
	       agg->func == DT_ACT_LLQUANTIZE;
}

static uint64_t square_root(unsigned __int128 v)
{
	unsigned __int128 root = 0, bit = (unsigned __int128)1 << 126;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

/* sqrt(average of squares - square of average), each of the numbers divided by `normal`. */
static int64_t deviation(const uint64_t *v, uint64_t normal)
{
	unsigned __int128 squares = (unsigned __int128)v[3] << 64 | v[2];
	__int128 average;

	if (v[0] == 0)
		return 0;
	squares = squares / normal / normal / v[0];
	average = (__int128)(int64_t)v[1] / (__int128)normal / (__int128)v[0];
	average *= average;
	return squares > (unsigned __int128)average
		   ? (int64_t)square_root(squares - (unsigned __int128)average)
		   : 0;
}

int64_t dt_agg_number(const dt_agg *agg, const uint64_t *v, uint64_t normal)
{
	__int128 n;

	if (!v || agg->nwords < dt_agg_words(agg->func, agg->param) || agg->nwords == 0)
		return 0;
	if (normal == 0)
		normal = 1;
	if (agg->func == DT_ACT_STDDEV)
		return deviation(v, normal);
	n = (int64_t)(agg->func == DT_ACT_AVG ? v[1] : v[0]);
	n /= (__int128)normal;
	if (agg->func == DT_ACT_AVG)
		n = v[0] ? n / (__int128)v[0] : 0;
	return (int64_t)n;
}

bool dt_buckets_of(const dt_agg *agg, const uint64_t *value, struct dt_buckets *b)
{
	uint32_t first = dt_agg_first_bucket(agg->func);

	*b = (struct dt_buckets){.func = agg->func, .param = agg->param};
	switch (dt_aggfunc(agg->func)) {
	case DT_AGG_QUANTIZE: b->n = DT_QUANTIZE_NBUCKETS; break;
	case DT_AGG_LQUANTIZE: b->n = dt_lquantize_nbuckets(agg->param); break;
	case DT_AGG_LLQUANTIZE:
		if (!dt_llquantize_valid(agg->param))
			return false;
		b->n = dt_llquantize_nbuckets(agg->param);
		break;
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_AVG:
	case DT_AGG_MIN:
	case DT_AGG_MAX:
	case DT_AGG_STDDEV: return false;
	}
	if (b->n == 0 || agg->nwords < (uint64_t)first + b->n)
		return false;
	b->count = value ? value + first : NULL;
	return true;
}

int64_t dt_bucket_count(const struct dt_buckets *b, uint32_t i, uint64_t normal)
{
	if (!b->count || i >= b->n)
		return 0;
	return (int64_t)((__int128)(int64_t)b->count[i] / (__int128)(normal ? normal : 1));
}

int64_t dt_bucket_bound(const struct dt_buckets *b, uint32_t i)
{
	switch (b->func) {
	case DT_ACT_QUANTIZE: return dt_quantize_value((int)i);
	case DT_ACT_LQUANTIZE: return dt_lquantize_value(b->param, i);
	default: return dt_llquantize_value(b->param, i);
	}
}

void dt_bucket_range(const struct dt_buckets *b, uint32_t i, int64_t *low, int64_t *high)
{
	int64_t at = dt_bucket_bound(b, i);
	bool below = b->func == DT_ACT_QUANTIZE ? i < DT_QUANTIZE_ZERO : i == 0;

	if (below && b->func == DT_ACT_QUANTIZE) { /* down from its bound */
		*high = at;
		*low = i > 0 ? dt_bucket_bound(b, i - 1) + 1 : INT64_MIN;
	} else if (below) {
		*high = at - 1;
		*low = INT64_MIN;
	} else {
		int64_t next = i + 1 < b->n ? dt_bucket_bound(b, i + 1) : INT64_MAX;

		*low = at;
		*high = i + 1 < b->n && next > at ? next - 1 : INT64_MAX;
	}
}
