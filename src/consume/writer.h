/*
 * writer: the interface between the consumer and an output writer.
 *
 * A writer gets typed values and whole tables, never text. The text writer (text.c) prints as
 * DTrace always has; others implement the same table of functions (src/format). Pointers are valid
 * only during the call.
 *
 * Data can come from programs read from a file, so no size is trusted: value.c decodes the bytes
 * that a datum has and never reads past them.
 */
#ifndef DT_WRITER_H
#define DT_WRITER_H

#include "consume/consume.h"

/* ---- values ---- */
enum dt_vkind {
	DT_V_NONE,   /* nothing was recorded */
	DT_V_INT,    /* integers, enums, pointers */
	DT_V_FLOAT,  /* 4, 8 or 16 bytes */
	DT_V_STRING, /* data and size, without the NUL */
	DT_V_BYTES,  /* arrays, structures, memory */
	DT_V_STACK,  /* frames: dt_value_pc(), dt_symbolise() */
	DT_V_SYMBOL, /* sym mod usym umod uaddr: one address */
};

typedef struct dt_value {
	enum dt_vkind kind;
	enum dt_act act; /* stacks and symbols: what recorded them */
	bool is_signed;	 /* integers */
	dt_type *type;	 /* NULL: not known (DOF) */
	const char *name; /* of the variable or member that it is; NULL: neither */
	const void *data;
	uint32_t size;	     /* bytes of data; strings: without NUL */
	uint32_t full;	     /* strings: bytes of the type; what is past `size` is NUL */
	uint64_t u;	     /* integers, extended to 64 bits by their sign; symbols: the address; immstack(): bytes of a frame */
	long pid;	     /* user stacks and symbols; 0: the target */
	uint64_t time;	     /* when it was recorded; 0: not known (keys) */
	uint32_t nframes;    /* stacks */
	const char *strings; /* ustack helpers: one string per frame; NULL: none */
	uint32_t strings_size;
} dt_value;

/* Decode what an action (or a key) recorded. */
void dt_value_of(const dt_action *a, const dt_datum *d, dt_value *v);
/* An integer without its sign extension: as wide as the type. */
uint64_t dt_value_unsigned(const dt_value *v);
double dt_value_double(const dt_value *v);
long double dt_value_long_double(const dt_value *v);
uint64_t dt_value_pc(const dt_value *v, uint32_t frame);
/* What a ustack helper said about the next frame, "" for nothing; *at starts at 0. */
const char *dt_value_helper(const dt_value *v, size_t *at);
/* Little-endian integer of n bytes (more than 8: the first 8), sign-extended if asked. */
uint64_t dt_load_int(const void *p, uint32_t n, bool is_signed);


/* ---- inside structures and arrays: value_tree.c ---- */
uint32_t dt_value_nchildren(dt_types *ts, const dt_value *v); /* members or elements; 0: it is a leaf */
bool dt_value_is_structure(const dt_value *v);
/* Child i; *name is a member's, NULL: none. False: there is no such child. Not recorded: DT_V_NONE. */
bool dt_value_child(dt_types *ts, const dt_value *v, uint32_t i, dt_value *child, const char **name);
/* The same bytes as a value of this type (print() has one of its own); type NULL: as it is. */
void dt_value_as(dt_types *ts, const dt_value *v, dt_type *type, dt_value *out);

/* ---- text.c ---- */
/* Strings of a program may hold anything: make those from here on in `out` harmless if they go to a
 * terminal. */
void dt_text_guard(dt_buf *out, size_t from, const struct dt_consumer_env *env);

/* ---- addresses ---- */
typedef struct dt_frame {
	uint64_t pc;
	const char *mod; /* module, or base name of the object; NULL: unknown */
	const char *sym; /* NULL: unknown */
	uint64_t off;
	const char *file; /* source; NULL: unknown, or not asked for (option srclines) */
	unsigned line;
} dt_frame;
void dt_symbolise_kernel(const struct dt_consumer_env *env, uint64_t pc, dt_frame *f);
void dt_symbolise_user(const struct dt_consumer_env *env, long pid, uint64_t time, uint64_t pc,
		       dt_frame *f);
/* With option srclines: f->file and f->line of what dt_symbolise() has found. */
void dt_find_line(const struct dt_consumer_env *env, const dt_value *v, uint32_t frame, dt_frame *f);
/* The frame of a stack, or the address of a symbol value (frame 0). */
void dt_symbolise(const struct dt_consumer_env *env, const dt_value *v, uint32_t frame,
		  dt_frame *f);

/* ---- aggregations: agg_table.c keeps them, agg_sort.c orders them, text_quantize.c ---- */
typedef DT_VEC(dt_account *) dt_payers; /* by number */
typedef struct dt_aggset { /* one aggregation and its rows */
	const dt_agg *agg;
	dt_aggrow **buckets; /* by hash */
	uint8_t *tags;	     /* of each bucket, which bits of hashes its rows may have: agg_table.c */
	uint32_t nbuckets;
	uint32_t nrows, nlarge; /* nlarge: of these, not in `rows` */
	struct dt_rowpool *rows; /* their memory */
	const dt_payers *payers; /* for the rows of other machines */
	uint64_t normal;	 /* normalize(); 1 otherwise */
	bool printed;	 /* by a printa() */
} dt_aggset;

typedef struct dt_aggs dt_aggs;
dt_aggs *dt_aggs_new(const struct dt_consumer_env *env);
void dt_aggs_free(dt_aggs *as);
dt_aggset *dt_aggs_get(dt_aggs *as, const dt_agg *agg); /* created if necessary */
uint32_t dt_aggs_count(const dt_aggs *as);
dt_aggset *dt_aggs_nth(dt_aggs *as, uint32_t i); /* in order of id */
/* Add a row of a snapshot. payer: of the machine that sent it, whose new keys are refused above its limit; NULL: this one. */
void dt_aggs_merge(dt_aggs *as, dt_account *payer, const dt_agg *agg, const dt_datum *keys, const uint64_t *value);
void dt_aggset_clear(dt_aggset *s);	       /* zero the values, keep the keys */
void dt_aggset_trunc(dt_aggset *s, int64_t n); /* keep n largest, -n smallest; 0: none */

/* A table to print: the rows of one or more aggregations with equal keys, in order. */
typedef struct dt_aggline {
	const dt_agg *agg; /* whose key types these are */
	const dt_datum *keys;
	const uint64_t *const *values; /* one per aggregation; NULL: no such row there */
	uint64_t sort[2];	       /* agg_sort.c */
} dt_aggline;
typedef struct dt_aggtable {
	dt_aggset **sets;
	uint32_t nsets;
	dt_aggline *lines;
	uint32_t nlines;
	const struct dt_format *format; /* printa() with a format */
	bool at_exit;			/* not by printa() */
	const uint64_t **values;	/* memory of lines[].values if there are several sets */
} dt_aggtable;
void dt_aggtable_make(dt_aggtable *t, dt_aggset **sets, uint32_t nsets, const dt_options *opts);
void dt_aggtable_free(dt_aggtable *t);

/* The one number of a value, normalised; not for quantizers. zero if value is NULL. */
int64_t dt_agg_number(const dt_agg *agg, const uint64_t *value, uint64_t normal);
bool dt_agg_is_quantizer(const dt_agg *agg);
/* The buckets of a quantizer's value; 0 when the words are not what the parameters say. */
struct dt_buckets {
	enum dt_act func;
	uint64_t param;
	const uint64_t *count; /* NULL: all zero */
	uint32_t n;
};
bool dt_buckets_of(const dt_agg *agg, const uint64_t *value, struct dt_buckets *b);
int64_t dt_bucket_count(const struct dt_buckets *b, uint32_t i, uint64_t normal);
int64_t dt_bucket_bound(const struct dt_buckets *b, uint32_t i); /* lower bound */
/* What part/whole of a distribution is at or below, estimated: numbers are taken to be spread evenly over their bucket.
 * 0 if it has none. */
int64_t dt_agg_quantile(const dt_agg *agg, const uint64_t *value, uint32_t part, uint32_t whole);
/* The numbers that fall into a bucket, both ends included; INT64_MIN and INT64_MAX where it is open. */
void dt_bucket_range(const struct dt_buckets *b, uint32_t i, int64_t *low, int64_t *high);

/* ---- flow (-F): flow.c ---- */
enum dt_flow_kind { DT_FLOW_NONE, DT_FLOW_ENTRY, DT_FLOW_RETURN };
typedef struct dt_flow {
	enum dt_flow_kind kind;
	uint32_t indent;
} dt_flow;
typedef struct dt_flow_state {
	struct dt_flow_stream {
		uint32_t indent;
		const dt_ecb *last;
	} * streams;
	uint32_t nstreams;
} dt_flow_state;
enum dt_flow_kind dt_flow_kind_of(const dt_probe *p);
/* next: the record after this one in the stream, if known. */
dt_flow dt_flow_step(dt_flow_state *fs, uint32_t stream, const dt_ecb *ecb, const dt_ecb *next);

/* ---- faults: fault.c ---- */
const char *dt_fault_name(uint32_t code); /* "invalid address" ... */
/* Text of a fault, without "dtrace: ". */
void dt_fault_text(const dt_fault *f, const dt_ecb *ecb, dt_buf *out);
struct dt_fault_cause { /* where in the source, and why */
	const dt_place *place;
	dt_buf expression, reason;
};
/* False: not known (a program read from DOF, an action without an expression). The buffers may be used again. */
bool dt_fault_explain(const dt_fault *f, const dt_ecb *ecb, struct dt_fault_cause *out);
void dt_fault_cause_free(struct dt_fault_cause *c);
/* "script.d:12: this->p->name: address 0x0 is not mapped" */
void dt_fault_cause_text(const struct dt_fault_cause *c, dt_buf *out);
/* Faults that repeat are counted. */
typedef struct dt_faults dt_faults;
dt_faults *dt_faults_new(void);
void dt_faults_free(dt_faults *fs);
enum dt_fault_news {
	DT_FAULT_COUNTED,   /* no line: there were `max` lines for this one already (0: no limit) */
	DT_FAULT_AGAIN,	    /* a line */
	DT_FAULT_NEW_PLACE, /* and one for the first fault of this place in the source */
};
enum dt_fault_news dt_faults_add(dt_faults *fs, const dt_fault *f, const dt_ecb *ecb, const dt_place *in_source,
				 uint64_t max);
struct dt_losses_to;
/* Tell how many were counted since the last call. 0, or -1 when tell() says so. */
int dt_faults_report(dt_faults *fs, const struct dt_losses_to *to);

/* ---- losses: diag.c ---- */
/* Report every counter that grew since the last call; what only tell() takes is added up for a second. 0, or -1 if tell() says
 * so. */
typedef struct dt_losses dt_losses;
dt_losses *dt_losses_new(void);
void dt_losses_free(dt_losses *l);
struct dt_losses_to {
	const dt_options *opts;
	bool (*takes)(void *arg, const dt_diag *d); /* the writer has taken it; NULL: it takes none */
	int (*tell)(void *arg, const dt_diag *d);
	void *arg;
	uint64_t now; /* dt_now() */
};
int dt_losses_report(dt_losses *l, const dt_status *st, const struct dt_losses_to *to);

/* ---- diag_shedding.c: option overhead ---- */
int dt_shedding_report(struct dt_shedding *told, const struct dt_shedding *now, const struct dt_losses_to *to);

/* ---- the writer ---- */
typedef struct dt_who { /* the thread that a record is about */
	long pid, tid;
	char execname[64];
} dt_who;

typedef struct dt_record_event {
	const dt_probe *probe;
	const dt_clause *clause;
	uint32_t epid, cpu;
	uint64_t timestamp;
	dt_flow flow;
	dt_who who; /* only for DT_WRITER_THREADS */
} dt_record_event;

enum dt_writer_flags {
	DT_WRITER_PLAIN = 1,	/* text for people: on a terminal control characters are made harmless */
	DT_WRITER_DOCUMENT = 2, /* one document from begin to end: -o replaces the file, freopen() has no effect */
	DT_WRITER_ALL_AGGS = 4, /* at the end come all aggregations, also those that printa() has printed */
	DT_WRITER_THREADS = 8,	/* every record says which thread it is about */
};

/*
 * In order: open; then for each record record_begin, its events, record_end; diag whenever there is one; at the end
 * exit_begin, aggs (at_exit) for each aggregation, end; close. A run that fails ends with close
 * alone. Every function except open, close and output may be NULL: the writer ignores it.
 */
typedef struct dt_writer dt_writer;
struct dt_writer_ops {
	const char *name;
	unsigned flags; /* DT_WRITER_* */
	int (*prepare)(const dt_options *opts, dt_error *err); /* before tracing begins: what can be said already */
	dt_writer *(*open)(const struct dt_consumer_env *env); /* env lives as long as the writer */
	void (*close)(dt_writer *w);
	void (*record_begin)(dt_writer *w, const dt_record_event *r);
	void (*trace)(dt_writer *w, const dt_value *v);
	void (*print)(dt_writer *w, const dt_value *v, dt_type *type);
	void (*memory)(dt_writer *w, const dt_value *v);
	void (*stack)(dt_writer *w, const dt_value *v);
	void (*symbol)(dt_writer *w, const dt_value *v);
	/* printf(): the formatted text, and its arguments */
	void (*printf)(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
		       const dt_value *args, uint32_t nargs);
	/* printa(), and the remaining aggregations at the end; -1 with *err */
	int (*aggs)(dt_writer *w, const dt_aggtable *t, dt_error *err);
	void (*clear)(dt_writer *w, const dt_agg *agg); /* after clear() and trunc(): it has no values now */
	void (*exit_begin)(dt_writer *w); /* before the aggregations at the end */
	void (*record_end)(dt_writer *w);
	int (*end)(dt_writer *w, dt_error *err); /* the last words; -1 with *err */
	int (*check)(dt_writer *w, dt_error *err); /* after a record or a diagnostic: -1 with *err ends tracing */
	/* Losses, faults, notices. True: it is in the output and need not be printed on stderr. */
	bool (*diag)(dt_writer *w, const dt_diag *d);
	/* The output so far, any bytes; the consumer takes it and resets it. */
	dt_buf *(*output)(dt_writer *w);
};
extern const struct dt_writer_ops dt_writer_text;

/* ---- text, shared between the files of the text writer and printf ---- */
/* " %16d": an integer of that many bytes, as trace() and keys print it; quiet: the number only. */
void dt_text_int(dt_buf *out, const dt_value *v, bool quiet);
/* A string or bytes: text when printable, else a dump. */
void dt_text_bytes(dt_buf *out, const dt_value *v, int width, bool quiet, bool force_dump);
/* A newline, then the frames, one per line. */
void dt_text_stack(dt_buf *out, const dt_value *v, int indent, const struct dt_consumer_env *env);
/* sym, mod, usym, umod, uaddr: just the text. */
void dt_text_symbol(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env);
void dt_text_frame(dt_buf *out, const dt_frame *f); /* mod`sym+0xoff */
/* Default layout of a table (text_agg.c); with aggpack and agghist: text_pack.c. */
int dt_text_aggs(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env,
		 dt_error *err);
/* One line of a table that has a format. */
int dt_text_aggline(dt_buf *out, const dt_aggtable *t, const dt_aggline *l, const struct dt_consumer_env *env, dt_error *err);
bool dt_text_packs(const dt_aggtable *t, const dt_options *opts);
void dt_text_pack(dt_buf *out, const dt_aggtable *t, const struct dt_consumer_env *env);
/* One bar of a graph: 41 columns with its axis. `total` is the value of a full bar. */
struct dt_bar_scale {
	bool positive, negative; /* signs that occur */
	unsigned __int128 total; /* in 1/scale units: a full bar is total / unit */
	uint32_t unit;
	bool utf8;
};
void dt_text_bar(dt_buf *out, const struct dt_bar_scale *s, int64_t count);
void dt_text_bar_head(dt_buf *out, const char *label, int width);
bool dt_text_utf8(const dt_options *opts, bool by_default);

/* printf and printa: what the conversions of a format are applied to. */
struct dt_format_env {
	const struct dt_consumer_env *env;
	const dt_value *args; /* arguments, or keys */
	uint32_t nargs;
	dt_aggset **sets; /* printa: the aggregations of %@ */
	const uint64_t *const *values;
	uint32_t nsets, nlines;
	bool command; /* the text is not output, but a command or a path: strings as they are */
};
int dt_text_format(dt_buf *out, const dt_format *f, const struct dt_format_env *fe, dt_error *err);

#endif
