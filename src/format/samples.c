/*
 * samples: see samples.h.
 *
 * A set's nodes are in one array; a child is found by hashing its parent and frame. Names of
 * addresses are looked up once per table: the same instruction is on many stacks.
 */
#include <stdlib.h>

#include "dif/quantize.h"
#include "format/samples.h"

struct place { /* an address that has been looked up */
	uint64_t pc;
	long pid; /* -1: the kernel */
	bool caller;
	uint32_t frame; /* + 1; 0: free */
};

typedef DT_VEC(uint32_t) dt_framelist;
struct path {		      /* of a sample that is being put together */
	dt_framelist part[3]; /* keys, user, kernel */
	dt_framelist all;
	bool stacks; /* there are some */
};
enum { KEYS, USER, KERNEL };

struct dt_samples {
	const struct dt_consumer_env *env;
	dt_arena *text;
	DT_VEC(dt_sframe) frames;
	dt_map *by_name;	     /* -> number + 1 */
	DT_VEC(dt_sampleset *) sets; /* of aggregations, in order of their ids */
	dt_sampleset *records;
	struct place *places;
	uint32_t nplaces, used; /* a power of two */
	struct path path;
	struct path other; /* of rows while a record is put together: printa() comes in the middle of it */
	uint32_t nvalues; /* of the record so far */
	dt_buf key, word;
	uint64_t skipped;
};

dt_samples *dt_samples_new(const struct dt_consumer_env *env)
{
	dt_samples *s = dt_xcalloc(1, sizeof(*s));

	s->env = env;
	s->text = dt_arena_new();
	s->by_name = dt_map_new();
	return s;
}

static void free_set(dt_sampleset *set)
{
	if (!set)
		return;
	dt_vec_free(&set->nodes);
	free(set->slots);
	free(set->name);
	free(set);
}

void dt_samples_free(dt_samples *s)
{
	for (uint32_t i = 0; i < s->sets.n; i++)
		free_set(s->sets.v[i]);
	free_set(s->records);
	dt_vec_free(&s->sets);
	dt_vec_free(&s->frames);
	for (int i = 0; i < 3; i++) {
		dt_vec_free(&s->path.part[i]);
		dt_vec_free(&s->other.part[i]);
	}
	dt_vec_free(&s->path.all);
	dt_vec_free(&s->other.all);
	dt_map_free(s->by_name);
	dt_arena_free(s->text);
	dt_buf_free(&s->key);
	dt_buf_free(&s->word);
	free(s->places);
	free(s);
}

/* ---- frames ---- */

uint32_t dt_samples_frame(dt_samples *s, const dt_sframe *f)
{
	uintptr_t known;
	dt_sframe *new;

	dt_buf_reset(&s->key);
	dt_buf_printf(&s->key, "%d%s\n%s\n%s", (int)f->kind, f->label ? f->label : "", f->mod,
		      f->name);
	known = (uintptr_t)dt_map_get(s->by_name, s->key.s);
	if (known)
		return (uint32_t)known - 1;
	new = dt_vec_add(&s->frames, NULL);
	*new = *f;
	new->mod = dt_arena_strdup(s->text, f->mod);
	new->name = dt_arena_strdup(s->text, f->name);
	new->label = f->label ? dt_arena_strdup(s->text, f->label) : NULL;
	dt_map_set(s->by_name, s->key.s, (void *)(uintptr_t)s->frames.n);
	return s->frames.n - 1;
}

/* A frame without a symbol is a place in its file: an address differs from process to process. */
static uint32_t name_frame(dt_samples *s, const dt_frame *f, enum dt_frame_kind kind)
{
	dt_sframe new = {.kind = kind, .mod = f->mod ? f->mod : "", .addr = f->pc};
	char text[32];

	if (f->mod && strcmp(f->mod, "[jit]") == 0)
		new.kind = DT_FRAME_JIT;
	if (f->sym)
		new.name = f->sym;
	else if (f->mod && f->off) {
		snprintf(text, sizeof(text), "+0x%llx", (unsigned long long)f->off);
		new.name = text;
	} else
		new.name = "[unknown]";
	return dt_samples_frame(s, &new);
}

static uint64_t hash_place(uint64_t pc, long pid, bool caller)
{
	uint64_t h = (pc ^ (uint64_t)pid << 48) * 0x9e3779b97f4a7c15u + caller;

	return h ^ h >> 32;
}

static struct place *find_place(dt_samples *s, uint64_t pc, long pid, bool caller)
{
	uint32_t i = (uint32_t)hash_place(pc, pid, caller);

	for (;; i++) {
		struct place *p = &s->places[i & (s->nplaces - 1)];

		if (!p->frame || (p->pc == pc && p->pid == pid && p->caller == caller))
			return p;
	}
}

static void grow_places(dt_samples *s)
{
	struct place *old = s->places;
	uint32_t n = s->nplaces;

	s->nplaces = n ? n * 2 : 1024;
	s->places = dt_xcalloc(s->nplaces, sizeof(*s->places));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].frame)
			*find_place(s, old[i].pc, old[i].pid, old[i].caller) = old[i];
	free(old);
}

/* A process may run another program at another time: look-ups are remembered only for one time. */
static void forget_places(dt_samples *s)
{
	if (s->used)
		memset(s->places, 0, s->nplaces * sizeof(*s->places));
	s->used = 0;
}

static uint32_t frame_of(dt_samples *s, const dt_value *v, uint32_t i)
{
	bool text = dt_act(v->act)->payload == DT_PAYLOAD_IMMSTACK;
	bool kernel = text || dt_act(v->act)->payload == DT_PAYLOAD_STACK;
	enum dt_frame_kind kind = kernel ? DT_FRAME_KERNEL : DT_FRAME_USER;
	long pid = kernel ? -1 : v->pid;
	bool caller = !kernel && i > 0;
	struct place *p;
	dt_frame f;

	if (text || (!kernel && v->time)) {
		dt_symbolise(s->env, v, i, &f);
		return name_frame(s, &f, kind);
	}
	if (s->used * 2 >= s->nplaces)
		grow_places(s);
	p = find_place(s, dt_value_pc(v, i), pid, caller);
	if (!p->frame) {
		dt_symbolise(s->env, v, i, &f);
		*p = (struct place){dt_value_pc(v, i), pid, caller, name_frame(s, &f, kind) + 1};
		s->used++;
	}
	return p->frame - 1;
}

/* What helpers say about frames comes in the order of the stack, innermost first. */
static void add_stack(dt_samples *s, const dt_value *v, dt_framelist *to)
{
	uint32_t from = to->n, n;
	size_t at = 0;

	for (uint32_t i = 0; i < v->nframes; i++) {
		const char *helper = dt_value_helper(v, &at);
		dt_sframe f = {
		    .kind = DT_FRAME_JIT, .mod = "", .name = helper, .addr = dt_value_pc(v, i)};
		bool named = helper[0] && helper[0] != '@';

		*dt_vec_add(to, NULL) = named ? dt_samples_frame(s, &f) : frame_of(s, v, i);
	}
	n = to->n - from;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t *a = &to->v[from + i], *b = &to->v[from + n - 1 - i], swap = *a;

		*a = *b;
		*b = swap;
	}
}

/* ---- sets ---- */

static dt_sampleset *new_set(const dt_agg *agg)
{
	dt_sampleset *set = dt_xcalloc(1, sizeof(*set));
	bool bare = agg && strcmp(agg->name, "_") == 0;

	set->agg = agg;
	set->name = agg ? dt_xasprintf("@%s", bare ? "" : agg->name) : dt_xstrdup("stacks");
	set->unit = agg && agg->func == DT_ACT_SUM ? "sum" : "count";
	dt_vec_add(&set->nodes, NULL);
	return set;
}

dt_sampleset *dt_samples_set(dt_samples *s, const dt_agg *agg)
{
	uint32_t i = 0;

	if (!agg)
		return s->records ? s->records : (s->records = new_set(NULL));
	while (i < s->sets.n && s->sets.v[i]->agg->id < agg->id)
		i++;
	if (i < s->sets.n && s->sets.v[i]->agg->id == agg->id)
		return s->sets.v[i];
	dt_vec_add(&s->sets, NULL);
	memmove(&s->sets.v[i + 1], &s->sets.v[i], (s->sets.n - 1 - i) * sizeof(*s->sets.v));
	return s->sets.v[i] = new_set(agg);
}

uint32_t dt_samples_count(const dt_samples *s)
{
	return s->sets.n + (s->records != NULL);
}

dt_sampleset *dt_samples_nth(const dt_samples *s, uint32_t i)
{
	return i < s->sets.n ? s->sets.v[i] : s->records;
}

const dt_sframe *dt_samples_nth_frame(const dt_samples *s, uint32_t i)
{
	return &s->frames.v[i];
}

uint32_t dt_samples_nframes(const dt_samples *s)
{
	return s->frames.n;
}

uint64_t dt_samples_skipped(const dt_samples *s)
{
	return s->skipped;
}

/* ---- nodes ---- */

static uint32_t *find_slot(dt_sampleset *set, uint32_t parent, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15u;

	for (uint32_t i = (uint32_t)(h >> 32);; i++) {
		uint32_t *slot = &set->slots[i & (set->nslots - 1)];

		if (!*slot ||
		    (set->nodes.v[*slot].parent == parent && set->nodes.v[*slot].frame == frame))
			return slot;
	}
}

static void grow_set(dt_sampleset *set)
{
	free(set->slots);
	set->nslots = set->nslots ? set->nslots * 2 : 256;
	set->slots = dt_xcalloc(set->nslots, sizeof(*set->slots));
	for (uint32_t i = 1; i < set->nodes.n; i++)
		*find_slot(set, set->nodes.v[i].parent, set->nodes.v[i].frame) = i;
}

struct dt_snode *dt_sampleset_node(dt_sampleset *set, const uint32_t *frames, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t *slot;

		if (set->nodes.n * 2 >= set->nslots)
			grow_set(set);
		slot = find_slot(set, at, frames[i]);
		if (!*slot) {
			struct dt_snode *node = dt_vec_add(&set->nodes, NULL);

			node->parent = at;
			node->frame = frames[i];
			*slot = set->nodes.n - 1;
		}
		at = *slot;
	}
	return &set->nodes.v[at];
}

/* ---- what is counted ---- */

static void add_key(dt_samples *s, const dt_agg *agg, uint32_t i, const dt_value *v)
{
	dt_sframe f = {.kind = DT_FRAME_KEY, .mod = ""};
	dt_buf name = {0};

	if (agg)
		dt_key_name(&name, agg, i);
	else if (v->name)
		dt_buf_puts(&name, v->name);
	else
		dt_buf_printf(&name, "value%u", i + 1);
	dt_buf_reset(&s->word);
	dt_buf_puts(&s->word, "");
	dt_key_text(&s->word, v, s->env);
	f.name = s->word.s;
	f.label = name.s;
	*dt_vec_add(&s->path.part[KEYS], NULL) = dt_samples_frame(s, &f);
	dt_buf_free(&name);
}

/* Option ustackmerge=no: the stacks of each process separately. */
static void add_process(dt_samples *s, long pid)
{
	char name[32];

	snprintf(name, sizeof(name), "pid %ld", pid);
	*dt_vec_add(&s->path.part[KEYS], NULL) = dt_samples_frame(
	    s, &(dt_sframe){.kind = DT_FRAME_KEY, .mod = "", .name = name, .label = "pid"});
}

static void begin_path(dt_samples *s)
{
	for (int i = 0; i < 3; i++)
		s->path.part[i].n = 0;
	s->path.all.n = 0;
	s->path.stacks = false;
}

static void add_value(dt_samples *s, const dt_agg *agg, uint32_t i, const dt_value *v)
{
	bool user = dt_act(v->act)->payload == DT_PAYLOAD_USTACK;

	if (v->kind == DT_V_STACK) {
		s->path.stacks = true;
		if (user && s->env->opts->is_set[DT_O_USTACKMERGE] &&
		    !dt_opt(s->env->opts, DT_O_USTACKMERGE))
			add_process(s, v->pid);
		add_stack(s, v, &s->path.part[user ? USER : KERNEL]);
	} else if (v->kind != DT_V_NONE) {
		add_key(s, agg, i, v);
	}
}

static void end_path(dt_samples *s, dt_sampleset *set, uint64_t weight)
{
	static const dt_sframe none = {.kind = DT_FRAME_USER, .mod = "", .name = "[no stack]"};

	for (int i = 0; i < 3; i++)
		for (uint32_t j = 0; j < s->path.part[i].n; j++)
			*dt_vec_add(&s->path.all, NULL) = s->path.part[i].v[j];
	if (s->path.all.n == 0)
		*dt_vec_add(&s->path.all, NULL) = dt_samples_frame(s, &none);
	dt_sampleset_node(set, s->path.all.v, s->path.all.n)->now += weight;
}

/* How much a row counts; false: it cannot be added to others. */
static bool row_weight(const dt_aggset *set, const uint64_t *value, uint64_t *weight)
{
	struct dt_buckets b;
	__int128 total = 0;

	switch (set->agg->func) {
	case DT_ACT_COUNT:
	case DT_ACT_SUM: total = dt_agg_number(set->agg, value, set->normal); break;
	case DT_ACT_AVG:
	case DT_ACT_STDDEV: total = value && set->agg->nwords ? (int64_t)value[0] : 0; break;
	default:
		if (!dt_buckets_of(set->agg, value, &b))
			return false;
		for (uint32_t i = 0; i < b.n; i++)
			total += dt_bucket_count(&b, i, set->normal);
	}
	*weight = (uint64_t)total;
	return total >= 0 && total <= INT64_MAX;
}

static void take_rows(dt_samples *s, const dt_aggtable *t, uint32_t which)
{
	const dt_aggset *from = t->sets[which];
	dt_sampleset *set = dt_samples_set(s, from->agg);

	for (uint32_t i = 0; i < set->nodes.n; i++)
		set->nodes.v[i].now = 0;
	for (uint32_t i = 0; i < t->nlines; i++) {
		const dt_aggline *l = &t->lines[i];
		uint64_t weight;

		if (!l->values[which])
			continue;
		if (!row_weight(from, l->values[which], &weight)) {
			s->skipped++;
			continue;
		}
		begin_path(s);
		for (uint32_t k = 0; k < l->agg->nkeys; k++) {
			dt_value v;

			dt_value_of(&l->agg->keys[k], &l->keys[k], &v);
			add_value(s, l->agg, k, &v);
		}
		if (weight)
			end_path(s, set, weight);
	}
}

static void change_path(dt_samples *s)
{
	struct path p = s->path;

	s->path = s->other;
	s->other = p;
}

void dt_samples_aggs(dt_samples *s, const dt_aggtable *t)
{
	forget_places(s);
	change_path(s);
	for (uint32_t i = 0; i < t->nsets; i++)
		if (t->sets[i]->agg->nkeys)
			take_rows(s, t, i);
	change_path(s);
}

void dt_samples_clear(dt_samples *s, const dt_agg *agg)
{
	dt_sampleset *set = dt_samples_set(s, agg);

	for (uint32_t i = 0; i < set->nodes.n; i++) {
		set->nodes.v[i].kept += set->nodes.v[i].now;
		set->nodes.v[i].now = 0;
	}
}

void dt_samples_record_begin(dt_samples *s)
{
	s->nvalues = 0;
	begin_path(s);
}

void dt_samples_record_value(dt_samples *s, const dt_value *v)
{
	add_value(s, NULL, s->nvalues++, v);
}

void dt_samples_record_end(dt_samples *s)
{
	if (s->path.stacks)
		end_path(s, dt_samples_set(s, NULL), 1);
}

/* ---- in order ---- */

void dt_sframe_text(dt_buf *out, const dt_sframe *f, char not )
{
	size_t from = out->n;

	dt_buf_puts(out, f->mod);
	if (f->mod[0] && f->name[0] != '+')
		dt_buf_putc(out, '`');
	dt_buf_puts(out, f->name);
	dt_make_safe(out->s + from, out->n - from, false);
	for (size_t i = from; i < out->n; i++)
		if (out->s[i] == not )
			out->s[i] = ':';
}

static int compare_frames(const void *pa, const void *pb, void *arg)
{
	const dt_samples *s = arg;
	const dt_sframe *a = &s->frames.v[*(const uint32_t *)pa],
			*b = &s->frames.v[*(const uint32_t *)pb];
	int c = strcmp(a->mod, b->mod);

	if (c == 0)
		c = strcmp(a->name, b->name);
	return c ? c : (int)a->kind - (int)b->kind;
}

/* rank[frame]: its place among all, by name. To be freed. */
static uint32_t *rank_frames(const dt_samples *s)
{
	uint32_t n = s->frames.n, *order = dt_xcalloc(n + 1, sizeof(*order)),
		 *rank = dt_xcalloc(n + 1, sizeof(*rank));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_frames, (void *)(uintptr_t)s);
	for (uint32_t i = 0; i < n; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

/* A stable sort of `in` by key[in[i]], which is below nkeys. start[k]: where those of key k begin. */
static void sort_by(const uint32_t *in, uint32_t *out, uint32_t n, const uint32_t *key,
		    uint32_t *start, uint32_t nkeys)
{
	memset(start, 0, (nkeys + 1) * sizeof(*start));
	for (uint32_t i = 0; i < n; i++)
		start[key[in[i]] + 1]++;
	for (uint32_t k = 0; k < nkeys; k++)
		start[k + 1] += start[k];
	for (uint32_t i = 0; i < n; i++)
		out[start[key[in[i]]]++] = in[i];
	for (uint32_t k = nkeys; k > 0; k--)
		start[k] = start[k - 1];
	start[0] = 0;
}

/* The children of node i, by name: child[start[i]] up to child[start[i + 1]]. */
struct order {
	uint32_t *child, *start;
};

static struct order order_nodes(const dt_samples *s, const dt_sampleset *set)
{
	uint32_t n = set->nodes.n, nframes = s->frames.n, most = n > nframes ? n : nframes;
	uint32_t *rank = rank_frames(s), *a = dt_xcalloc(n + 1, sizeof(*a)),
		 *key = dt_xcalloc(n + 1, sizeof(*key));
	struct order o = {dt_xcalloc(n + 1, sizeof(*o.child)),
			  dt_xcalloc(most + 2, sizeof(*o.start))};

	for (uint32_t i = 1; i < n; i++) {
		a[i - 1] = i;
		key[i] = rank[set->nodes.v[i].frame];
	}
	sort_by(a, o.child, n - 1, key, o.start, nframes);
	for (uint32_t i = 1; i < n; i++)
		key[i] = set->nodes.v[i].parent;
	memcpy(a, o.child, (n - 1) * sizeof(*a));
	sort_by(a, o.child, n - 1, key, o.start, n);
	free(rank);
	free(a);
	free(key);
	return o;
}

void dt_sampleset_each(const dt_samples *s, const dt_sampleset *set, dt_sample_f *f, void *arg)
{
	struct order o = order_nodes(s, set);
	DT_VEC(uint32_t) path = {0}, next = {0}; /* next: of each open node, the child to come */

	*dt_vec_add(&next, NULL) = o.start[0];
	*dt_vec_add(&path, NULL) = 0;
	for (uint32_t at = 0; next.n > 0;) {
		const struct dt_snode *node;

		if (next.v[next.n - 1] == o.start[at + 1]) {
			next.n--;
			path.n--;
			at = set->nodes.v[at].parent;
			continue;
		}
		at = o.child[next.v[next.n - 1]++];
		node = &set->nodes.v[at];
		*dt_vec_add(&next, NULL) = o.start[at];
		*dt_vec_add(&path, NULL) = node->frame;
		f(arg, path.v + 1, path.n - 1, node);
	}
	dt_vec_free(&path);
	dt_vec_free(&next);
	free(o.child);
	free(o.start);
}
