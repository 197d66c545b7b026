/*
 * agent: shared by agent.c (what the front asks) and agent_send.c (what is traced).
 */
#ifndef DT_AGENT_H
#define DT_AGENT_H

#include "session/session.h"

struct dt_agent {
	dtrace_hdl_t *h;
	dt_link *link;
	struct dtrace_agent policy;
	struct dt_consumer_env env; /* names addresses */
	enum {
		DT_AGENT_NEW,	  /* HELLO has not come */
		DT_AGENT_ASKED,	  /* programs and questions may come */
		DT_AGENT_IDLE,	  /* the session runs, but no clause is for us */
		DT_AGENT_RUNNING, /* the engine runs */
		DT_AGENT_DONE,
		DT_AGENT_REFUSED, /* we do not do it; why */
		DT_AGENT_BROKEN,  /* the front does not keep to the protocol */
	} state;
	char why[1024];
	dt_buf body; /* of the next message */
	DT_VEC(const dt_program *) programs;
	DT_VEC(bool) announced; /* ECBs, by epid */
	DT_VEC(bool) described; /* aggregations, by id */
	dt_buf status;		/* as it was last sent */
	uint64_t records, rows;	/* sent */
	uint64_t flushed, aggregated; /* when */
	bool exit_sent;
	char number[32]; /* the name of an address that has none */
};

void dt_agent_send_agg(struct dt_agent *a, const dt_agg *agg); /* its shape, once */
void dt_agent_pump(struct dt_agent *a, bool all); /* send what is due, or all that there is */
void dt_agent_free(struct dt_agent *a);

#endif
