/*
 * ship: the output of a durable session goes to JetStream. See ship.c.
 */
#ifndef DT_SHIP_H
#define DT_SHIP_H

#include "base/base.h"

bool dt_ship_is_due(const char *dir); /* its script asks for that, and there is something to send, or may be */
/* As long as there is more, or the session runs. For a process of its own: NATS has threads. 0, or -1 with *err. */
int dt_ship(const char *dir, const char *machine, const char *session, dt_error *err);

#endif
