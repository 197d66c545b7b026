/*
 * nats: a NATS server as the carrier between fronts and agents (doc/fleet.md). The library libnats is loaded when it is used.
 *
 *   nats.c    the library; finding agents, and being found
 *   jetstream.h  streams that the server keeps
 *   tunnel.c  a stream of bytes in both directions over two subjects, at the other end of a socket pair
 *
 * NATS delivers a message at most once, and drops what a receiver does not take in time. So a tunnel numbers its bytes, keeps
 * what the other side has not acknowledged, sends it again, and has at most WINDOW bytes under way: nothing is lost when the
 * server is restarted, and a slow reader slows the sender down. For the rest of the program it is a descriptor.
 */
#ifndef DT_NATS_H
#define DT_NATS_H

#include "base/base.h"

typedef struct dt_nats dt_nats;

bool dt_nats_is_url(const char *s);
/* Connect to the server. NULL and *err. */
dt_nats *dt_nats_open(const char *url, bool front, dt_error *err);
void dt_nats_free(dt_nats *n); /* after the descriptors of all tunnels were closed: waits until that was passed on */
const char *dt_nats_url(const dt_nats *n);
const char *dt_nats_shown(const dt_nats *n); /* that, without a password */
bool dt_nats_trouble(dt_nats *n, dt_buf *out); /* what the server has refused, if that is new: it is added */

/* Ask, and wait for the answer, which is added. 0, or -1 with *err. */
struct dt_nats_asked {
	const char *subject, *header, *value; /* header NULL: none */
	const void *data;
	size_t len;
	int64_t ms; /* to wait */
	bool harmless; /* may be asked again; then a refusal of the server ends the waiting */
};
int dt_nats_question(dt_nats *n, const struct dt_nats_asked *q, dt_buf *answer, dt_error *err);

/*
 * A machine's name as a part of a subject: other characters than letters, digits, - and _ become _. All subjects of a machine have it,
 * so that the server can give each machine the right to use its own.
 */
#define DT_NATS_WORD 64
void dt_nats_word(char out[DT_NATS_WORD + 1], const char *name);

/* ---- the front ---- */
#define DT_NATS_ID (DT_NATS_WORD + 17) /* characters of the id of an agent, at most: the word, a dot, and 16 digits */
void dt_nats_ask(dt_nats *n);	 /* all agents shall answer */
void dt_nats_settle(dt_nats *n, uint64_t most); /* until no more answers come, or for this many ns */
bool dt_nats_next(dt_nats *n, char id[DT_NATS_ID + 1]); /* one that has answered; false: no more so far */
int dt_nats_connect(dt_nats *n, const char *id); /* a descriptor, or -1 */

/* ---- the agent ---- */
/* Be found as `name`, until the connection is closed for good, or the server refuses something. For each front, come(arg, fd). */
void dt_nats_serve(dt_nats *n, const char *name, void (*come)(void *arg, int fd), void *arg, dt_buf *why);

#endif
