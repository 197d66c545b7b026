/*
 * snapshot: reads aggregations from their maps, without losing a count.
 *
 * Every row belongs to one of two generations. A snapshot switches the control word to the other
 * one, waits until no firing that may still write the old one is in progress, and then has the old
 * rows to itself: they are read in batches, passed on, and set to zero. If such a firing does not
 * end, or the kernel currently has no memory for the read, the rows are kept for the next time.
 * After the end of tracing the rows of both generations are read; there is no next time then, so
 * failing to read them is an error.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/run/maps.h"
#include "bpf/run/ring.h"

#define BATCH_BYTES (1u << 20)
#define TRIES	    10	  /* to read a few rows even if the kernel has no memory */
#define DELETE_MAX  20000 /* rows deleted in one snapshot unless room is short */

/* ---- values ---- */

/* From the kernel's form to the consumer's. */
static void from_kernel(const struct dt_plan_agg *b, uint64_t *v)
{
	switch (dt_aggfunc(b->agg->func)) {
	case DT_AGG_MIN: v[0] ^= INT64_MAX; break;
	case DT_AGG_MAX: v[0] ^= 1ull << 63; break;
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE: v[0] = b->agg->param; break;
	case DT_AGG_COUNT:
	case DT_AGG_SUM:
	case DT_AGG_AVG:
	case DT_AGG_STDDEV:
	case DT_AGG_QUANTIZE: break;
	}
}

/* Add the value of one slot to the sum of all. */
static void merge(const struct dt_plan_agg *b, uint64_t *sum, const uint64_t *v)
{
	if (b->agg->func == DT_ACT_MIN || b->agg->func == DT_ACT_MAX) {
		if (v[0] > sum[0]) /* both only grow in the kernel's form */
			sum[0] = v[0];
	} else if (b->agg->func == DT_ACT_STDDEV) {
		unsigned __int128 x = (unsigned __int128)sum[3] << 64 | sum[2],
				  y = (unsigned __int128)v[3] << 64 | v[2];

		sum[0] += v[0];
		sum[1] += v[1];
		x += y;
		sum[2] = (uint64_t)x;
		sum[3] = (uint64_t)(x >> 64);
	} else {
		for (uint32_t i = 0; i < b->nwords; i++)
			sum[i] += v[i];
	}
}

struct reader {
	dt_bpf *e;
	const dt_sink *sink;
	dt_datum *keys;
	uint64_t *value; /* room for one */
	const struct dt_plan_agg **members; /* of the map that is being read */
	dt_error *err;
};

/* The CPU of a row, from the first word of its key. */
static uint32_t cpu_of(const dt_bpf *e, uint32_t word)
{
	return (word % (1 << ROW_MEMBER) >> 1) / e->at.nslots;
}

/* The row of an aggregation without keys: a word that says whether it was used, and the value */
static uint64_t *keyless_row(const dt_bpf *e, uint32_t slot, uint32_t gen, uint32_t agg)
{
	return (uint64_t *)(void *)(e->shared.aggs + (uint64_t)(slot << 1 | gen) * e->at.agg_size + e->at.agg[agg]);
}

/* Pass on and clear the rows of all slots: summed, or CPU by CPU for aggpercpu. */
static int hand_out(struct reader *r, const struct dt_plan_agg *b, uint32_t old)
{
	bool each = dt_opt(r->e->plan.opts, DT_O_AGGPERCPU);
	uint32_t nslots = r->e->plan.ncpus * r->e->at.nslots, first = UINT32_MAX;
	int rc = 0;

	memset(r->value, 0, b->nwords * 8);
	for (uint32_t slot = 0; slot < nslots && rc == 0; slot++) {
		uint64_t *row = keyless_row(r->e, slot, old, b->index);

		if (!row[0])
			continue;
		first = first == UINT32_MAX ? slot : first;
		merge(b, r->value, row + 1);
		memset(row, 0, 8 + b->nwords * 8);
		if (!each)
			continue;
		from_kernel(b, r->value);
		rc = r->sink->agg(r->sink->arg, b->agg, cpu_of(r->e, slot << 1), r->keys, r->value);
		memset(r->value, 0, b->nwords * 8);
	}
	if (rc == 0 && !each && first != UINT32_MAX) {
		from_kernel(b, r->value);
		rc = r->sink->agg(r->sink->arg, b->agg, cpu_of(r->e, first << 1), r->keys, r->value);
	}
	return rc;
}

/* ---- keys ---- */

/* `used`: the first word of the row */
static void read_keys(struct reader *r, const struct dt_plan_agg *b, const uint8_t *key,
		      uint64_t used)
{
	for (uint32_t i = 0; i < b->nkeys; i++) {
		const struct dt_plan_aggkey *k = &b->keys[i];
		const uint8_t *p = key + k->offset;
		uint32_t probe;

		r->keys[i] = (dt_datum){
		    p, k->size, k->mixed && i < DT_AGG_SIZED_KEYS ? DT_AGG_SIZE_OF(used, i) : 0};
		if (k->name >= 0) {
			memcpy(&probe, p, 4);
			r->keys[i].data = probe < r->e->plan.probes.n
					      ? dt_layout_name(r->e->plan.probes.v[probe].probe,
							       (uint32_t)k->name)
					      : "";
			r->keys[i].size = (uint32_t)strlen(r->keys[i].data) + 1;
		} else if (k->is_string) {
			r->keys[i].size = (uint32_t)strnlen((const char *)p, k->size - 1) + 1;
		}
	}
	for (uint32_t i = b->nkeys; i < b->agg->nkeys; i++)
		r->keys[i] = (dt_datum){0};
}

/* ---- maps ---- */

/* Rows read in one call, and what to do with them afterwards. */
struct batch {
	uint8_t *keys, *values;
	uint32_t max;
	uint64_t value_size;
	dt_buf used, unused; /* keys */
};

static void batch_make(struct batch *t, const struct dt_plan_agg *b, uint32_t max)
{
	free(t->keys);
	free(t->values);
	t->max = max;
	t->keys = dt_xmalloc((size_t)max * b->key_size);
	t->values = dt_xmalloc(max * t->value_size);
}

static int handle_batch(struct reader *r, const struct dt_plan_agg *b, struct batch *t, uint32_t n,
			uint32_t old)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const uint8_t *key = t->keys + (uint64_t)i * b->key_size;
		const uint64_t *value =
		    (const uint64_t *)(const void *)(t->values + i * t->value_size);
		const struct dt_plan_agg *own;
		uint32_t word;

		memcpy(&word, key, 4);
		if ((word & CTL_GEN) != old && r->e->state != BPF_STOPPED)
			continue;
		if (!value[0]) {
			dt_buf_add(&t->unused, key, b->key_size);
			continue;
		}
		if (r->e->state != BPF_STOPPED) /* at the end maps need no cleanup */
			dt_buf_add(&t->used, key, b->key_size);
		own = r->members[word >> ROW_MEMBER <= b->members ? word >> ROW_MEMBER : 0];
		read_keys(r, own, key, value[0]);
		memcpy(r->value, value + 1, own->nwords * 8);
		from_kernel(own, r->value);
		rc = r->sink->agg(r->sink->arg, own->agg, cpu_of(r->e, word), r->keys, r->value);
	}
	return rc;
}

/*
 * Set some rows to zero; returns how many were handled. This takes memory, which the kernel may not
 * have: a row that cannot be set to zero is deleted, or it would be counted again. 0: not even that
 * is possible.
 */
static uint32_t zero_rows(const struct dt_plan_agg *b, int fd, const char *keys,
			  const uint8_t *zeros, uint32_t n)
{
	uint32_t done = n;

	if (bpf_map_update_batch(fd, keys, zeros, &done, NULL) == 0)
		return n;
	if (done >= n)
		done = 0; /* it has not even begun */
	if (bpf_map_delete_elem(fd, keys + (uint64_t)done * b->key_size) == 0 || errno == ENOENT)
		done++;
	return done;
}

/*
 * Rows that were used are set to zero and kept: most keys come again, and then the row exists
 * already. Rows that were not used since the last time are deleted.
 */
static int tidy(const struct dt_plan_agg *b, int fd, uint64_t rows, struct batch *t, dt_error *err)
{
	uint32_t n = (uint32_t)(t->unused.n / b->key_size), most;
	uint8_t *zeros;
	int rc = 0;

	if (n > DELETE_MAX && (t->used.n + t->unused.n) / b->key_size < rows / 2)
		n = DELETE_MAX; /* there is space left: do not make the user wait for the rest */
	if (n)
		bpf_map_delete_batch(fd, t->unused.s, &n, NULL);
	most = (uint32_t)(BATCH_BYTES / t->value_size) + 1;
	zeros = dt_xcalloc(most, t->value_size);
	for (uint64_t at = 0; at < t->used.n && rc == 0; at += (uint64_t)n * b->key_size) {
		n = (uint32_t)((t->used.n - at) / b->key_size);
		n = zero_rows(b, fd, t->used.s + at, zeros, n < most ? n : most);
		if (n == 0)
			rc = dt_err(err, errno, "cannot clear an aggregation in the kernel: %s",
				    dt_strerror(errno));
	}
	free(zeros);
	return rc;
}

/* The kernel has not returned the rows: try again? At the end of tracing there is time, and no
 * later chance. */
static bool again(const struct reader *r, uint32_t *tries)
{
	if (!r->e->drained || errno != ENOMEM || ++*tries > TRIES)
		return false;
	usleep(10000);
	return true;
}

/* The kernel has not returned the rows: an error at the end of tracing. */
static int unread(const struct reader *r)
{
	if (!r->e->drained)
		return 0;
	return dt_err(r->err, errno, "cannot read an aggregation from the kernel: %s",
		      dt_strerror(errno));
}

/* The aggregations in the map of b. */
static void find_members(struct reader *r, const struct dt_plan_agg *b)
{
	const dt_plan *p = &r->e->plan;
	uint32_t left = b->members;

	r->members[0] = b;
	for (uint32_t i = b->index + 1; i < p->aggs.n && left; i++)
		if (p->aggs.v[i]->home == b->index) {
			r->members[p->aggs.v[i]->member] = p->aggs.v[i];
			left--;
		}
}

static int drain(struct reader *r, const struct dt_plan_agg *b, uint32_t old)
{
	struct batch t = {.value_size = 8 + (uint64_t)b->nwords * 8};
	uint64_t in = 0, out = 0, max = BATCH_BYTES / (b->key_size + t.value_size);
	int rc = 0, end = 0, fd = r->e->maps.agg[b->index];
	uint32_t tries = 0;
	bool first = true;

	find_members(r, b);
	batch_make(&t, b, max < 256 ? 256 : (uint32_t)max);
	while (rc == 0 && !end) {
		uint32_t n = t.max;
		int got =
		    bpf_map_lookup_batch(fd, first ? NULL : &in, &out, t.keys, t.values, &n, NULL);

		if (got < 0 && errno == ENOSPC) { /* one bucket holds more than that */
			batch_make(&t, b, t.max * 2);
			continue;
		}
		if (got < 0 && errno != ENOENT) {
			if (again(r, &tries))
				continue;
			rc = unread(r);
			break;
		}
		end = got < 0;
		rc = handle_batch(r, b, &t, n, old);
		in = out;
		first = false;
	}
	if (r->e->state != BPF_STOPPED &&
	    tidy(b, fd, r->e->agg_maps[b->index].rows, &t, r->err) < 0)
		rc = -1; /* at the end maps need no cleanup */
	dt_buf_free(&t.used);
	dt_buf_free(&t.unused);
	free(t.keys);
	free(t.values);
	return rc;
}

static int drain_keyless(struct reader *r, uint32_t old)
{
	dt_bpf *e = r->e;
	int rc = 0;

	for (uint32_t i = 0; i < e->plan.aggs.n && rc == 0 && e->shared.aggs; i++)
		if (e->plan.aggs.v[i]->key_size == 0 && e->plan.aggs.v[i]->nkeys != UINT32_MAX)
			rc = hand_out(r, e->plan.aggs.v[i], old);
	return rc;
}

/* ---- updates that a map has refused: tr_agg.c ---- */

/* The value of a row that has had this update only, in the kernel's form. scaled: it counts `incr` times, see tr_agg.c. */
static void updated_once(const struct dt_plan_agg *b, bool scaled, uint64_t value, uint64_t incr, uint64_t *v)
{
	unsigned __int128 square = value >> 63 ? -value : value;
	uint64_t times = scaled ? incr : 1;

	memset(v, 0, b->nwords * 8);
	switch (dt_aggfunc(b->agg->func)) {
	case DT_AGG_COUNT: v[0] = times; break;
	case DT_AGG_SUM: v[0] = value; break;
	case DT_AGG_MIN: v[0] = value ^ INT64_MAX; break;
	case DT_AGG_MAX: v[0] = value ^ 1ull << 63; break;
	case DT_AGG_AVG:
	case DT_AGG_STDDEV:
		v[0] = b->agg->func == DT_ACT_STDDEV ? 1 : times;
		v[1] = value;
		if (b->agg->func != DT_ACT_STDDEV)
			break;
		square *= square;
		v[2] = (uint64_t)square;
		v[3] = (uint64_t)(square >> 64);
		break;
	case DT_AGG_QUANTIZE:
	case DT_AGG_LQUANTIZE:
	case DT_AGG_LLQUANTIZE:
		if (value < b->nwords)
			v[value] = incr;
	}
}

static int drain_refused(struct reader *r, uint32_t old)
{
	dt_bpf *e = r->e;
	int rc = 0;

	if (!e->shared.refused || !__atomic_load_n(dt_control(e, CTL_REFUSED), __ATOMIC_ACQUIRE))
		return 0;
	for (uint64_t i = 0; i >> e->at.refused_bits == 0 && rc == 0; i++) {
		uint8_t *p = e->shared.refused + i * e->at.refused_size;
		uint64_t *w = (uint64_t *)(void *)p,
			 state = __atomic_load_n(&w[REFUSED_STATE / 8], __ATOMIC_ACQUIRE);
		const struct dt_plan_agg *b;
		uint32_t word;

		if (!state || ((state & CTL_GEN) != old && e->state != BPF_STOPPED) ||
		    w[REFUSED_AGG / 8] >= e->plan.aggs.n)
			continue;
		b = e->plan.aggs.v[w[REFUSED_AGG / 8]];
		memcpy(&word, p + REFUSED_KEY, 4);
		read_keys(r, b, p + REFUSED_KEY, 0); /* sizes of keys are not written down */
		updated_once(b, e->plan.budget, w[REFUSED_VALUE / 8], w[REFUSED_INCR / 8], r->value);
		from_kernel(b, r->value);
		rc = r->sink->agg(r->sink->arg, b->agg, cpu_of(e, word), r->keys, r->value);
		__atomic_store_n(&w[REFUSED_STATE / 8], 0, __ATOMIC_RELEASE);
	}
	return rc;
}

int dt_snapshot(dt_bpf *e, const dt_sink *sink, dt_error *err)
{
	struct reader r = {.e = e, .sink = sink, .err = err};
	uint32_t nkeys = 1, nwords = 1, old;
	int rc;

	if (!e->shared.control || e->plan.aggs.n == 0 || e->state == BPF_NEW || e->drained)
		return 0;
	for (uint32_t i = 0; i < e->plan.aggs.n; i++) {
		const struct dt_plan_agg *b = e->plan.aggs.v[i];

		nkeys = b->agg->nkeys > nkeys ? b->agg->nkeys : nkeys;
		nkeys = b->nkeys != UINT32_MAX && b->nkeys > nkeys ? b->nkeys : nkeys;
		nwords = b->nwords > nwords ? b->nwords : nwords;
	}
	old = __atomic_fetch_xor(dt_control(e, CTL_WORD), CTL_GEN, __ATOMIC_SEQ_CST) & CTL_GEN;
	e->drained = e->state == BPF_STOPPED;
	if (!e->drained && !dt_ring_quiesce(e, DT_RING_PATIENCE))
		return 0;
	r.keys = dt_xcalloc(nkeys, sizeof(*r.keys));
	r.value = dt_xcalloc(nwords, 8);
	r.members = dt_xcalloc(e->plan.aggs.n, sizeof(*r.members));
	rc = drain_keyless(&r, old);
	if (e->drained && rc == 0)
		rc = drain_keyless(&r, !old);
	for (uint32_t i = 0; i < e->plan.aggs.n && rc == 0; i++)
		if (e->maps.agg[i] >= 0 && e->plan.aggs.v[i]->home == i)
			rc = drain(&r, e->plan.aggs.v[i], old);
	if (rc == 0)
		rc = drain_refused(&r, old);
	free(r.keys);
	free(r.value);
	free(r.members);
	return rc;
}
