/*
 * samples: stacks and their counts, for the formats for stacks (folded, flamegraph, pprof).
 *
 * A sample is a path of frames from the outermost to the innermost: first the keys other than
 * stacks (execname), then the user stack, then the kernel's. Samples of an aggregation, or of the
 * records with stacks, are a set; a set is a tree, in which equal prefixes are shared. Frames are
 * equal if their names are, so the stacks of forked processes are merged.
 *
 * An aggregation may be printed many times. What printa() shows replaces what it showed before,
 * unless it was cleared or truncated in between: then both count.
 */
#ifndef DT_FORMAT_SAMPLES_H
#define DT_FORMAT_SAMPLES_H

#include "consume/writer.h"

enum dt_frame_kind { DT_FRAME_KEY, DT_FRAME_USER, DT_FRAME_JIT, DT_FRAME_KERNEL };

typedef struct dt_sframe {
	enum dt_frame_kind kind;
	const char *mod;   /* object or kernel module; "": unknown */
	const char *name;  /* symbol, or an offset in the object; keys: the value as text */
	const char *label; /* keys: its name in the program ("execname", "key2"); else NULL */
	uint64_t addr;	   /* of some instruction in it; 0: none */
} dt_sframe;

struct dt_snode {
	uint32_t parent, frame;
	uint64_t kept;	/* of before clear() */
	uint64_t now;	/* as last printed */
	uint64_t other; /* of an earlier run (option flamediff) */
};

typedef struct dt_sampleset {
	const dt_agg *agg; /* NULL: records */
	char *name;	   /* "@", "@reads", "stacks" */
	const char *unit;  /* what is counted: "count", "sum" ... */
	DT_VEC(struct dt_snode) nodes; /* the first is the root; parents come before children */
	uint32_t *slots;	       /* node by parent and frame; 0: none */
	uint32_t nslots;
} dt_sampleset;

typedef struct dt_samples dt_samples;

dt_samples *dt_samples_new(const struct dt_consumer_env *env);
void dt_samples_free(dt_samples *s);
/* printa(), and what is left at the end. */
void dt_samples_aggs(dt_samples *s, const dt_aggtable *t);
/* clear() or trunc(): the next table of this aggregation counts in addition to the last one. */
void dt_samples_clear(dt_samples *s, const dt_agg *agg);
/* The values of one record, in turn; it counts as one sample if there is a stack among them. */
void dt_samples_record_begin(dt_samples *s);
void dt_samples_record_value(dt_samples *s, const dt_value *v);
void dt_samples_record_end(dt_samples *s);
/* The node of a path, created if necessary. Valid until the next one is created. */
struct dt_snode *dt_sampleset_node(dt_sampleset *set, const uint32_t *frames, uint32_t n);
uint32_t dt_samples_frame(dt_samples *s, const dt_sframe *f); /* its number; the strings are copied */

uint32_t dt_samples_count(const dt_samples *s);
dt_sampleset *dt_samples_nth(const dt_samples *s, uint32_t i); /* records last */
dt_sampleset *dt_samples_set(dt_samples *s, const dt_agg *agg); /* created if necessary; NULL: of records */
const dt_sframe *dt_samples_nth_frame(const dt_samples *s, uint32_t i);
uint32_t dt_samples_nframes(const dt_samples *s);
uint64_t dt_samples_skipped(const dt_samples *s); /* rows that cannot be counted: below zero, min(), max() */

/* Every node of a set: outer ones first, those of one parent by name. path: frames, of which the last is the node's; what was
 * counted exactly there (dt_snode_self) may be 0. */
typedef void dt_sample_f(void *arg, const uint32_t *path, uint32_t depth, const struct dt_snode *node);
static inline uint64_t dt_snode_self(const struct dt_snode *n)
{
	return n->kept + n->now;
}
void dt_sampleset_each(const dt_samples *s, const dt_sampleset *set, dt_sample_f *f, void *arg);

/* "libc.so.6`read", the name of a frame in text; control characters and `not` are replaced. */
void dt_sframe_text(dt_buf *out, const dt_sframe *f, char not);

/* The name of a key of an aggregation: the variable, or "key2" for the second. */
void dt_key_name(dt_buf *out, const dt_agg *agg, uint32_t i);
/* A key or value as one piece of text; stacks: frames from the outermost on, joined by ';'. */
void dt_key_text(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env);

/* ---- a writer of samples (sample_writer.c) ---- */
/* The whole document, from all samples, at the end. 0, or -1 with *err. */
typedef int dt_samples_emit_f(dt_samples *s, const struct dt_consumer_env *env, dt_buf *out, dt_error *err);
dt_writer *dt_sample_writer_open(const struct dt_consumer_env *env, dt_samples_emit_f *emit);
void dt_sample_writer_close(dt_writer *w);
void dt_sample_writer_begin(dt_writer *w, const dt_record_event *r);
void dt_sample_writer_value(dt_writer *w, const dt_value *v);
void dt_sample_writer_record_end(dt_writer *w);
int dt_sample_writer_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err);
void dt_sample_writer_clear(dt_writer *w, const dt_agg *agg);
int dt_sample_writer_end(dt_writer *w, dt_error *err);
dt_buf *dt_sample_writer_output(dt_writer *w);
#define DT_SAMPLE_WRITER                                                                           \
	.flags = DT_WRITER_DOCUMENT | DT_WRITER_ALL_AGGS, .close = dt_sample_writer_close,         \
	.record_begin = dt_sample_writer_begin, .trace = dt_sample_writer_value,                   \
	.stack = dt_sample_writer_value, .symbol = dt_sample_writer_value,                         \
	.record_end = dt_sample_writer_record_end, .aggs = dt_sample_writer_aggs,                  \
	.clear = dt_sample_writer_clear, .end = dt_sample_writer_end,                              \
	.output = dt_sample_writer_output

/* ---- folded.c ---- */
/* Add the samples of a folded file to the sets, as those of an earlier run. 0, or -1 with *err. */
int dt_folded_read(dt_samples *s, const char *path, dt_error *err);

#endif
