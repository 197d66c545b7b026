/*
 * tunnel: private to src/fleet: what nats.c and tunnel.c need of each other.
 */
#ifndef DT_TUNNEL_H
#define DT_TUNNEL_H

#include "fleet/nats.h"

/* ---- nats.c ---- */
typedef void dt_nats_f(void *arg, const void *data, size_t n, const char *reply);
struct dt_nats_sub; /* a subscription */
struct dt_nats_sub *dt_nats_subscribe(dt_nats *n, const char *subject, dt_nats_f *f, void *arg); /* NULL: failed */
void dt_nats_unsubscribe(struct dt_nats_sub *s);
void dt_nats_publish(dt_nats *n, const char *subject, const void *data, size_t len);
/* If nobody listens, the server sends an empty message to `reply`. */
void dt_nats_request(dt_nats *n, const char *subject, const char *reply, const void *data, size_t len);
bool dt_nats_is_connected(dt_nats *n);
struct dt_tunnels *dt_nats_tunnels(dt_nats *n);
uint64_t dt_nats_lost(dt_nats *n); /* dt_now() when the connection was last lost; 0: never */

/* ---- tunnel.c ---- */
enum dt_tunnel_kind { DT_TUNNEL_BAD, DT_TUNNEL_DATA, DT_TUNNEL_ACK, DT_TUNNEL_END, DT_TUNNEL_ALONE };
struct dt_tunnel_message {
	enum dt_tunnel_kind kind;
	uint64_t offset;
	const uint8_t *data; /* DATA: what continues the stream after the `expected` bytes that have come ... */
	size_t n;	     /* ... 0: nothing does */
};
/* What somebody has sent; nothing of it is trusted. */
struct dt_tunnel_message dt_tunnel_read(const void *data, size_t n, uint64_t expected);

/* All tunnels of a connection: a thread. NULL: failed. */
struct dt_tunnels *dt_tunnels_new(void);
void dt_tunnels_free(struct dt_tunnels *all); /* waits for the end of all */

typedef struct dt_tunnel dt_tunnel;
#define DT_TUNNEL_NONCE 32 /* digits */
/* `word`: of the agent. `knock`: where it learns of the tunnel; NULL: we are the agent. *fd is ours. NULL: failed. */
dt_tunnel *dt_tunnel_new(dt_nats *n, const char *word, const char *nonce, const char *knock, int *fd);
bool dt_tunnel_is(const dt_tunnel *t, const char *nonce);
bool dt_tunnel_is_over(dt_tunnel *t); /* nothing uses it any more */
void dt_tunnel_free(dt_tunnel *t); /* waits for its end */

#endif
