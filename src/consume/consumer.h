/*
 * consumer: shared by consumer.c (what is due, records, output) and statements.c (the statements of
 * a record).
 */
#ifndef DT_CONSUMER_H
#define DT_CONSUMER_H

#include "consume/pcap.h"

struct dt_held { /* a deep copy of a record */
	struct dt_held *next; /* a further part of it */
	dt_record rec;
	dt_datum *values;
	char *bytes;
};

struct dt_look { /* the engine, in the current call */
	const struct dt_engine_ops *ops;
	dt_engine *e;
};

struct dt_consumer {
	struct dt_consumer_env env;
	const struct dt_writer_ops *ops;
	dt_writer *w;
	dt_writer *also; /* by env.also; NULL: none */
	FILE *out;	/* env.out, or reopened */
	FILE *reopened; /* by freopen(); NULL: none. Not `out` if it is a file of packets */
	char *reopened_path;
	bool reopened_empty; /* when it was opened */
	dt_pcap *pcap;
	dt_aggs *aggs;
	dt_losses *losses;
	dt_faults *faults;
	dt_flow_state flow;
	struct dt_held *held;
	const dt_ecb *open; /* the writer has begun a record of it, which may have more parts ... */
	uint32_t open_cpu;  /* ... from there */
	dt_who who;	    /* of a firing whose first part shows nothing */
	dt_error *err;		/* of the current call */
	const struct dt_look *untaken; /* the engine, until aggregations have been read in this call */
	uint64_t consumed, taken, checked; /* when records, aggregations and the status last were */
	bool exiting;
	bool ended; /* the writer has ended its output */
	int exit_status;
};

/* An event for the writers, where they support it. */
#define DT_TELL(c, event, ...)                                                                     \
	do {                                                                                       \
		if ((c)->ops->event)                                                               \
			(c)->ops->event((c)->w, ##__VA_ARGS__);                                    \
		if ((c)->also && (c)->env.also->event)                                             \
			(c)->env.also->event((c)->also, ##__VA_ARGS__);                            \
	} while (0)

int dt_consumer_give_aggs(dt_consumer *c, const dt_aggtable *t); /* to the writers. 0 or -1 */

int dt_consumer_flush(dt_consumer *c); /* what is written so far reaches the file. 0 or -1 */
int dt_consumer_catch_up(dt_consumer *c); /* take the aggregations, if that has not been done yet */
void dt_consumer_set_output(dt_consumer *c, FILE *out);
/* A message for the user: to the writer, or else to the session. 0, or -1 to abort. */
int dt_consumer_tell(dt_consumer *c, const dt_diag *d);

/* ---- statements.c ---- */
int dt_do_statement(dt_consumer *c, const dt_record *r, const dt_stmt *s);
/* Tell how many packets pcap() could not write since the last time. 0, or -1 to abort. */
int dt_report_lost_packets(dt_consumer *c);

#endif
