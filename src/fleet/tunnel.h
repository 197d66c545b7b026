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
bool dt_nats_is_connected(dt_nats *n);

/* ---- tunnel.c ---- */
typedef struct dt_tunnel dt_tunnel;
/* `knock`: where the other side learns of it; NULL: it knows. *fd is ours. NULL: failed. */
dt_tunnel *dt_tunnel_new(dt_nats *n, const char *nonce, bool front, const char *knock, int *fd);
bool dt_tunnel_is(const dt_tunnel *t, const char *nonce);
bool dt_tunnel_is_over(dt_tunnel *t); /* its thread has ended */
void dt_tunnel_free(dt_tunnel *t); /* waits for its end */

#endif
