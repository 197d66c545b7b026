/*
 * wire: the bodies of the messages (messages.def), as values.
 *
 * Each has a function that adds it to a buffer and one that reads it. Reading is strict: true only if the body is
 * complete, nothing is left, and every number is in its range. Strings and data point into the body.
 */
#ifndef DT_WIRE_H
#define DT_WIRE_H

#include "engine/engine.h"
#include "fleet/frames.h"

#define DT_WIRE_NAME_MAX 255 /* characters of a name: of a machine, a provider, a symbol ... */
#define DT_WIRE_ARGS_MAX 4096
#define DT_WIRE_KEPT_MAX 4096

struct dt_wire_hello {
	uint32_t version; /* other versions: nothing after the nonce is read */
	uint64_t nonce;	  /* the front's; the agent repeats it */
	const char *name, *os, *release;
	uint32_t ncpus;
	uint64_t hostid;
	uint64_t clock; /* machines with the same one have one kernel, and one clock; 0: unknown */
	bool relay;	/* other machines are behind it */
};
uint64_t dt_wire_clock(void); /* that of this machine */
void dt_put_hello(dt_buf *b, const struct dt_wire_hello *h);
bool dt_get_hello(dt_message *m, struct dt_wire_hello *h);

/* A machine behind a relay. */
struct dt_wire_machine {
	const char *name, *os, *release;
	uint32_t ncpus;
	uint64_t hostid, uncertainty;
};
void dt_put_machine(dt_buf *b, const struct dt_wire_machine *w);
bool dt_get_machine(dt_message *m, struct dt_wire_machine *w);

bool dt_wire_has_option(enum dt_opt_id id); /* may a front set it on other machines? */

struct dt_wire_program {
	uint32_t number;
	bool is_cmdline;
	uint32_t spec;	  /* what the last field of a short description is */
	const char *name; /* of the script; NULL: none */
	const void *text;
	size_t len;
	uint32_t argc, nkept;
	const char *argv[DT_WIRE_ARGS_MAX];
	const char *kept[DT_WIRE_KEPT_MAX]; /* what is kept at the front: dt_compiler_keep() */
};
void dt_put_program(dt_buf *b, const struct dt_wire_program *p);
bool dt_get_program(dt_message *m, struct dt_wire_program *p);

/* An action of a clause, or a key. */
struct dt_wire_action {
	uint32_t kind, size;
	uint64_t layout; /* of an object: dt_type_layout(); of others 0 */
};
uint64_t dt_wire_layout(const dt_clause *c, const dt_action *a); /* c: its clause; NULL: it is a key */
struct dt_wire_clause {
	uint32_t program, number, matches, nactions;
	const struct dt_wire_action *actions; /* unaligned: dt_wire_action_at() */
};
void dt_put_clause(dt_buf *b, uint32_t program, const dt_clause *c, uint32_t matches);
bool dt_get_clause(dt_message *m, struct dt_wire_clause *c);
struct dt_wire_action dt_wire_action_at(const struct dt_wire_action *a, uint32_t i);

struct dt_wire_agg {
	uint32_t id, func, nwords, nkeys;
	uint64_t param;
	const char *name;
	const struct dt_wire_action *keys;
};
void dt_put_agg(dt_buf *b, const dt_agg *a);
bool dt_get_agg(dt_message *m, struct dt_wire_agg *a);

struct dt_wire_ecb {
	uint32_t epid, program, clause, probe;
	const char *prov, *mod, *func, *name;
	const char *machine; /* behind the relay that sends it; "": itself */
};
void dt_put_ecb(dt_buf *b, const struct dt_wire_ecb *e);
bool dt_get_ecb(dt_message *m, struct dt_wire_ecb *e);

struct dt_wire_probe {
	uint32_t id;
	const char *prov, *mod, *func, *name;
};
void dt_put_probe(dt_buf *b, const struct dt_wire_probe *p);
bool dt_get_probe(dt_message *m, struct dt_wire_probe *p);

/* A datum, and the names of the addresses in it, in their order. */
struct dt_wire_name {
	const char *mod, *sym; /* NULL: not known */
	uint64_t off;
};
struct dt_wire_datum {
	const void *data; /* NULL: the action recorded nothing */
	uint32_t size;
	uint32_t nnames;
	dt_message names; /* dt_get_name(), nnames times */
};
void dt_put_datum(dt_buf *b, const dt_datum *d, uint32_t nnames); /* then that many dt_put_name() */
void dt_put_name(dt_buf *b, const struct dt_wire_name *n);
bool dt_get_datum(dt_message *m, struct dt_wire_datum *d);
bool dt_get_name(dt_message *m, struct dt_wire_name *n);

/* A record: this, then a datum for each of its actions. */
struct dt_wire_record {
	uint32_t epid, cpu;
	uint64_t time;
	uint32_t first, nactions;
	bool continues;
};
void dt_put_record(dt_buf *b, const struct dt_wire_record *r);
bool dt_get_record(dt_message *m, struct dt_wire_record *r); /* the head; its data are checked as well, and follow */

struct dt_wire_fault {
	uint32_t cpu;
	uint64_t time;
	dt_fault fault;
};
void dt_put_fault(dt_buf *b, const struct dt_wire_fault *f);
bool dt_get_fault(dt_message *m, struct dt_wire_fault *f);

/* A row: this, a datum for each key, then the words. */
struct dt_wire_row {
	uint32_t agg, nkeys, nwords;
};
void dt_put_row(dt_buf *b, const struct dt_wire_row *r);
bool dt_get_row(dt_message *m, struct dt_wire_row *r); /* as dt_get_record() */

void dt_put_status(dt_buf *b, const dt_status *st);
bool dt_get_status(dt_message *m, dt_status *st, dt_arena *a); /* the arrays are the arena's */

/* A durable session. */
enum { DT_WS_SINCE, DT_WS_STARTS, DT_WS_BYTES, DT_WS_REMOVED, DT_WS_DROPS, DT_WS_LINES, DT_WS_LOST, DT_WS_UNSENT, DT_WS_MAX };
struct dt_wire_session {
	const char *name, *state, *why, *format;
	uint64_t n[DT_WS_MAX];
};
void dt_put_session(dt_buf *b, const struct dt_wire_session *s);
bool dt_get_session(dt_message *m, struct dt_wire_session *s);
void dt_put_lines(dt_buf *b, uint64_t missed, const void *lines, size_t n);
bool dt_get_lines(dt_message *m, uint64_t *missed, const char **lines, size_t *n);

/* Does the body of this type of message have its form? */
bool dt_wire_is_well_formed(uint32_t type, dt_message body);

#endif
