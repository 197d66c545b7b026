/*
 * agent: shared by agent.c (what the front asks), agent_send.c (what is traced), agent_relay.c (machines behind this one),
 * agent_watch.c (durable sessions) and agent_busy.c (signs of life).
 */
#ifndef DT_AGENT_H
#define DT_AGENT_H

#include <pthread.h>

#include "fleet/session_store.h"
#include "session/session.h"

/* The thread that tells the front that we are at work. */
struct dt_agent_busy {
	dt_link *link;
	pthread_t thread;
	bool runs;
	uint64_t since; /* dt_now() when the work began; 0: there is none */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool ending;
};

struct dt_agent {
	dtrace_hdl_t *h;
	dt_link *link;
	struct dt_agent_busy busy;
	struct dtrace_agent policy;
	struct dt_consumer_env env; /* names addresses */
	enum {
		DT_AGENT_NEW,	  /* HELLO has not come */
		DT_AGENT_ASKED,	  /* programs and questions may come */
		DT_AGENT_IDLE,	  /* the session runs, but no clause is for us */
		DT_AGENT_RUNNING, /* the engine runs */
		DT_AGENT_WATCHING, /* the front watches a durable session */
		DT_AGENT_DONE,
		DT_AGENT_REFUSED, /* we do not do it; why */
		DT_AGENT_BROKEN,  /* the front does not keep to the protocol */
	} state;
	uint64_t nonce; /* of the front */
	bool announced_itself;
	char why[1024];
	dt_buf body; /* of the next message */
	DT_VEC(const dt_program *) programs;
	DT_VEC(bool) announced; /* ECBs, by epid */
	DT_VEC(bool) described; /* aggregations, by id */
	dt_buf status;		/* as it was last sent */
	uint64_t records, rows;	/* sent */
	uint64_t flushed, aggregated; /* when */
	bool woken;		      /* by the engine, since then */
	bool exit_sent;
	struct dt_shedding shedding; /* as the front knows it */
	char *watched;	 /* the folder of the session that the front watches; NULL: none */
	dt_store_reader *reader;
	dt_aggs *merged; /* relay: rows of all machines, until they are sent; NULL: none */
	char number[32]; /* the name of an address that has none */
};

/* ---- agent.c ---- */
void dt_agent_send_probe(struct dt_agent *a, const struct dt_wire_probe *p); /* if the policy allows its provider */
bool dt_agent_is_listed(const char *patterns, const char *name); /* patterns with commas between; NULL: all */

/* ---- agent_watch.c ---- */
void dt_agent_take_sessions(struct dt_agent *a);
bool dt_agent_take_watch(struct dt_agent *a, dt_message *m); /* false: it is refused */
bool dt_agent_watch(struct dt_agent *a, size_t most); /* send what is new; true: there will be no more */
void dt_agent_watch_end(struct dt_agent *a); /* send its aggregations */
void dt_agent_watch_free(struct dt_agent *a);

/* ---- agent_send.c ---- */
void dt_agent_send_agg(struct dt_agent *a, const dt_agg *agg); /* its shape, once */
int dt_agent_send_row(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys, const uint64_t *value);
void dt_agent_pump(struct dt_agent *a, bool all); /* send what is due, or all that there is */
void dt_agent_free(struct dt_agent *a);

/* ---- agent_busy.c ---- */
void dt_agent_busy_open(struct dt_agent_busy *b, dt_link *link); /* once HELLO has been sent; once */
void dt_agent_busy_set(struct dt_agent_busy *b, bool works);	 /* it begins to work; false: it waits for the front */
void dt_agent_busy_close(struct dt_agent_busy *b);

/* ---- agent_relay.c ---- */
void dt_agent_relay_open(struct dt_agent *a); /* if it is a relay: find the machines behind it */
void dt_agent_relay_introduce(struct dt_agent *a); /* tell the front of them */
int dt_agent_relay_list(struct dt_agent *a, const char *machine, const char *desc, uint32_t spec); /* -1: the error is in the handle */
int dt_agent_relay_add(void *arg, const dt_agg *agg, uint32_t cpu, const dt_datum *keys, const uint64_t *value);
void dt_agent_relay_rows(struct dt_agent *a); /* send what was added */

#endif
