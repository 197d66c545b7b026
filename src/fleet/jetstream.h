/*
 * jetstream: private to src/fleet: the output of durable sessions in the JetStream of a NATS server (doc/fleet.md).
 *
 * A stream for each session. A message is a line {"type":"at","at":PLACE,"format":FORMAT} and then lines of output, the first of which has that
 * place in the store: so a reader knows what is missing, and the sender how far it had come.
 *
 * JetStream is asked by requests whose bodies are JSON; its functions in the library have structs that differ by version.
 */
#ifndef DT_JETSTREAM_H
#define DT_JETSTREAM_H

#include "fleet/nats.h"

#define DT_JS_NAME 160
typedef struct dt_js {
	dt_nats *nats;
	char stream[DT_JS_NAME], subject[DT_JS_NAME];
} dt_js;

struct dt_js_info {
	uint64_t first, last; /* numbers of messages; last < first: there is none */
	uint64_t bytes;
};

/* The stream of that session; nothing is asked. */
void dt_js_init(dt_js *js, dt_nats *n, const char *machine, const char *session);
/* Make it, or change its bounds to these. 0, or -1 with *err, as below. */
int dt_js_create(const dt_js *js, uint64_t bytes, uint64_t age, dt_error *err);
int dt_js_info(const dt_js *js, struct dt_js_info *out, dt_error *err);
struct dt_js_message {
	uint64_t at; /* the place of its lines */
	bool is_text; /* the format of the session */
	dt_buf lines;
};
/* Message `number`: the lines are added. 1; 0: there is none of that number; or -1. */
int dt_js_get(const dt_js *js, uint64_t number, struct dt_js_message *m, dt_error *err);
/* As the next message after `last`. 1; 0: another one has that number; or -1: it may have come, or not. */
int dt_js_put(const dt_js *js, uint64_t last, const struct dt_js_message *m, dt_error *err);
/* All streams of sessions of this name (NULL: all) at this server: machine and session. 0 or -1. */
typedef void dt_js_f(void *arg, dt_nats *n, const char *machine, const char *session);
int dt_js_list(dt_nats *n, const char *session, dt_js_f *f, void *arg, dt_error *err);

/* ---- answers, as they have come: whoever has sent them ---- */
bool dt_js_read_info(const dt_buf *answer, struct dt_js_info *out);
bool dt_js_read_message(const dt_buf *answer, struct dt_js_message *out);
/* How many streams it names; *total: how many there are. */
uint64_t dt_js_read_list(const dt_buf *answer, dt_nats *n, dt_js_f *f, void *arg, uint64_t *total);

#endif
