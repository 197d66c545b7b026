/*
 * consume: from an engine's records to output.
 *
 * The consumer walks the statements of each record's clause, keeps the aggregations, and passes
 * typed events to a writer (writer.h). The text writer (text.c) prints as DTrace does; writers of
 * other formats are in src/format.
 */
#ifndef DT_CONSUME_H
#define DT_CONSUME_H

#include <stdio.h>

#include "engine/engine.h"
#include "dif/format.h"

typedef struct dt_consumer dt_consumer;

enum dt_diag_kind {
	DT_DIAG_DROP,
	DT_DIAG_FAULT,
	DT_DIAG_NOTE,
	DT_DIAG_PROCESS,
	DT_DIAG_COST, /* a notice that is shown with option quiet as well: what tracing did to processes, or left out */
};

/* A message for the user, apart from the trace. */
typedef struct dt_diag {
	enum dt_diag_kind kind;
	const char *text; /* "12 drops on CPU 0", "error on enabled probe ID ..." without "dtrace: " */
	/* drops that an engine counts */
	const char *tag;       /* "PRINCIPAL" ...; NULL: not such a drop */
	int number;	       /* DTrace's for that kind of drop */
	bool on_cpu;	       /* they happened on `cpu`; else anywhere */
	uint32_t cpu;
	uint64_t count, total; /* now, and since the start */
	/* faults of a clause */
	const dt_fault *fault; /* NULL: not such a fault */
	const struct dt_fault_cause *cause; /* where in the source, and why; NULL: not known */
	const dt_ecb *ecb;
	uint64_t timestamp;
	/* processes */
	long pid;
	bool ended; /* it is gone; status is what wait(2) says */
	int status;
} dt_diag;

struct dt_writer_ops; /* writer.h */

struct dt_consumer_env {
	dt_options *opts; /* setopt() changes it */
	dt_types *types;
	const struct dt_writer_ops *writer; /* NULL: text */
	const void *writer_arg;		    /* for its open() */
	FILE *out;	      /* output of the trace, not closed; NULL: to emit() */
	int (*emit)(void *arg, const void *data, size_t n); /* 0, or an errno */
	const struct dt_writer_ops *also; /* a second writer of the same events; NULL: none */
	int (*emit_also)(void *arg, const void *data, size_t n); /* what it writes; likewise */
	bool terminal;	      /* the consumer's: output currently goes to a terminal */
	FILE *stream;	      /* the consumer's: where output currently goes, if a writer has much of it; NULL: it keeps it */
	const char *out_path; /* -o file: what ftruncate() truncates; NULL: none */
	void *arg;
	/* Diagnostics that the writer does not take. 0, or -1 to abort. */
	int (*diag)(void *arg, const dt_diag *d);
	/* symbols; NULL or false when unknown. kernel: "vmlinux`vfs_read+0x12" pieces; *sym may be
	 * NULL when only the module is known. pid 0: the target of -c or -p. time: when the address was
	 * seen (a process may run another program later); 0: not known. */
	bool (*ksym)(void *arg, uint64_t addr, const char **mod, const char **sym, uint64_t *off);
	/* Without *sym, *off is the offset in the object; 0: unknown. */
	bool (*usym)(void *arg, long pid, uint64_t time, uint64_t addr, const char **obj,
		     const char **sym, uint64_t *off);
	/* Names of this process will be needed at the end; may be NULL. */
	void (*keep)(void *arg, long pid);
	/* The source of an address in a process; the string lives until the next call. May be NULL. */
	bool (*line)(void *arg, long pid, uint64_t time, uint64_t addr, const char **file, unsigned *line);
};

dt_consumer *dt_consumer_new(const struct dt_consumer_env *env);
void dt_consumer_free(dt_consumer *c);
/* Do what is due: print records (switchrate), merge aggregations (aggrate), report losses and look for exit()
 * (statusrate). After tracing has stopped all of that is due; before_end: records are. 0; 1 when exit() or a filled buffer
 * ends tracing; -1 with *err. */
int dt_consumer_work(dt_consumer *c, const struct dt_engine_ops *ops, dt_engine *e, bool before_end,
		     dt_error *err);
/* Aggregations as they are now, whenever they are due. 0, or -1 with *err. */
int dt_consumer_read_aggs(dt_consumer *c, const struct dt_engine_ops *ops, dt_engine *e, dt_error *err);
uint64_t dt_consumer_next(const dt_consumer *c); /* when something is due again (dt_now()) */
int dt_consumer_exit_status(const dt_consumer *c);
/* Does the writer put this into the output? If so, it need not be printed elsewhere. */
bool dt_consumer_takes(dt_consumer *c, const dt_diag *d);
/* At the end: aggregations that no printa() has printed, and what the writer puts last. 0, or -1 when they cannot be written. */
int dt_consumer_print_aggs(dt_consumer *c, dt_error *err);

/* Every aggregation as it is now, to the writer, as if by printa(). 0, or -1 when they cannot be written. */
int dt_consumer_show_aggs(dt_consumer *c, dt_error *err);
/* Every aggregation as it is now, in order of id. 0, or what f returned if that was not 0. */
struct dt_aggtable;
int dt_consumer_walk_aggs(dt_consumer *c, int (*f)(void *arg, const struct dt_aggtable *t), void *arg);
/* Every aggregation as it is now, as a document of this writer, added to *out. 0, or -1 with *err. */
int dt_consumer_write_aggs(dt_consumer *c, const struct dt_writer_ops *ops, dt_buf *out, dt_error *err);
const struct dt_consumer_env *dt_consumer_environment(const dt_consumer *c);

/* ---- aggregations: agg_table.c ---- */
typedef struct dt_aggrow {
	const dt_agg *agg;
	dt_datum *keys;
	uint64_t *value; /* agg->nwords */
	struct dt_aggrow *chain;
	uint32_t hash;
	bool empty; /* cleared, and nothing merged since */
	uint16_t payer; /* the number of the account that its memory is from; 0: none */
} dt_aggrow;

/* ---- value formatting shared by text output, printf and printa ---- */
/* These go to a dt_buf; the writer decides where it is flushed. */
void dt_text_quantize(dt_buf *out, const dt_agg *agg, const uint64_t *value, uint64_t normal,
		      const dt_options *opts);
void dt_text_hexdump(dt_buf *out, const void *p, size_t n);
/* print(): type-directed (text_print.c). */
void dt_text_print(dt_buf *out, dt_types *ts, dt_type *t, const void *data, size_t n,
		   const struct dt_consumer_env *env);

#endif
