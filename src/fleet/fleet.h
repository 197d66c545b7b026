/*
 * fleet: the other machines of a session, as its front sees them (doc/fleet.md).
 *
 *   frames.c   frames on a stream           wire.c    the bodies of messages
 *   nats.h     NATS as a carrier
 *   front.c    which machines there are; asking them, and waiting for answers
 *   one_target.c  one of them: the state of its connection, what each message does
 *   accounts.c what is kept for each of them, and how much that may be
 *   shape.c    what a program looks like there is what it looks like here
 *   order.c    records of all machines in one order of time
 *   pace.c     when there is something to do: descriptors, promises, and asking for them
 *   rest.c     the front's part of clauses, when a record of their machine's part comes in its order
 *   far_names.c  names of addresses that other machines have resolved
 *   fleet_engine.c  the engine: that of this machine, and all targets
 *   viewer.c   durable sessions there, whose output is in files (session_store.h) and in JetStream (jetstream.h)
 *
 * The consumer does not know that there are several machines: it reads from one engine, whose records come in order of
 * time and whose rows add up. Nothing that a target says is trusted: a wrong word ends its connection, and no other.
 */
#ifndef DT_FLEET_H
#define DT_FLEET_H

#include "consume/writer.h"
#include "fleet/wire.h"

typedef struct dt_fleet dt_fleet;

struct dt_fleet_env {
	const dt_options *opts;
	const char *paths; /* sockets and directories of sockets, with colons between */
	const char *os;	   /* of this machine */
	void *arg;
	int (*tell)(void *arg, const dt_diag *d); /* 0, or -1 to abort */
	bool relay; /* for a front: the rest of clauses is run there */
	void (*met)(void *arg, const struct dt_wire_machine *m); /* a machine has answered; NULL: nobody wants to know */
};
/* Connect to all that answer. Those that do not are reported. Never NULL. */
dt_fleet *dt_fleet_new(const struct dt_fleet_env *env);
void dt_fleet_also(dt_fleet *f, const char *paths); /* connect to these, too */
void dt_fleet_free(dt_fleet *f);

bool dt_fleet_nth(const dt_fleet *f, uint32_t i, struct dt_wire_machine *out); /* false: there are no more */

/* The probes of this machine that match; 0, or -1 with *err: it cannot say, or has none. */
typedef int dt_fleet_probe_f(void *arg, const struct dt_wire_probe *p);
int dt_fleet_list(dt_fleet *f, const char *machine, const char *desc, uint32_t spec, dt_fleet_probe_f *each, void *arg, dt_error *err);

/* Does the program use what cannot be done over machines? 0, or -1 with *err. */
int dt_fleet_check(const dt_program *p, dt_error *err);
uint32_t dt_fleet_count(const dt_fleet *f); /* of programs so far */
/* A program was compiled here: all machines get it, when it is enabled. Its text is copied. */
void dt_fleet_keep_text(dt_fleet *f, const dt_program *p, const struct dt_wire_program *text);
/* Put it on their probes. matches: how many, for each clause of the program, is added. 0, or -1 with *err. */
int dt_fleet_enable(dt_fleet *f, const dt_program *p, uint32_t *matches, dt_error *err);

uint32_t dt_fleet_matches(const dt_fleet *f, const dt_program *p, uint32_t clause); /* probes, on all of them */

uint32_t dt_fleet_epid(dt_fleet *f); /* a new number of an ECB, of any machine; the engine is open */

/* ---- for a relay ---- */
uint64_t dt_fleet_released(const dt_fleet *f); /* no record that consume() will pass on is older */
void dt_fleet_want(dt_fleet *f); /* that to be now: attend() is true when it is */

/* The name of an address in the data of other machines. False: it is not such an address. */
bool dt_fleet_name(const dt_fleet *f, uint64_t addr, const char **mod, const char **sym, uint64_t *off);

/* The engine: `inner` is that of this machine, env.fleet the others. */
void dt_fleet_set_inner(dt_fleet *f, const struct dt_engine_ops *inner);
extern const struct dt_engine_ops dt_engine_fleet;

#endif
