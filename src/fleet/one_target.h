/*
 * one_target: private to src/fleet. The front's data: the fleet, its targets, and the records and rows that came.
 */
#ifndef DT_ONE_TARGET_H
#define DT_ONE_TARGET_H

#include "fleet/fleet.h"
#include "fleet/nats.h"
#include "vm/vm.h"

#define DT_NAMES_BASE UINT64_C(0x00f1000000000000) /* no address of this CPU, of the kernel or of a process */

/* ---- far_names.c ---- */
typedef struct dt_farnames dt_farnames;
dt_farnames *dt_farnames_new(void);
void dt_farnames_free(dt_farnames *ns);
/* The address that stands for this name on all machines; 0: it is new, and there is no room for more of them. */
uint64_t dt_farnames_add(dt_farnames *ns, dt_account *payer, const struct dt_wire_name *n, uint64_t addr);
bool dt_farnames_find(const dt_farnames *ns, uint64_t addr, const char **mod, const char **sym, uint64_t *off);

/* ---- order.c ---- */
struct dt_waiting_record {
	uint64_t time; /* of the front's clock */
	uint32_t machine;
	dt_account *payer; /* NULL: this machine */
	uint64_t arrival;
	size_t size;
	dt_record rec;
	dt_fault fault;
	dt_datum *values;
	char *bytes;
};
typedef struct dt_order {
	DT_VEC(struct dt_waiting_record) v;
	uint64_t arrivals;
	size_t bytes;
	uint64_t first, last; /* times of the oldest and the newest, if there are any */
} dt_order;
/* Copy a record of this machine (0: the front's own). NULL: there is no room for it, which is counted. */
struct dt_waiting_record *dt_order_add(dt_order *o, const dt_record *r, uint32_t machine, dt_account *payer);
void dt_order_refuse_last(dt_order *o); /* the one that was added last; it is counted */
/* Those up to this time, in order. 0, or what the function said. */
typedef int dt_order_f(void *arg, const struct dt_waiting_record *w);
int dt_order_release(dt_order *o, uint64_t until, dt_order_f *pass, void *arg);
void dt_order_free(dt_order *o);

/* ---- one_target.c ---- */
enum dt_target_state {
	DT_T_NEW,      /* HELLO is sent */
	DT_T_KNOWN,    /* and answered */
	DT_T_RUNNING,  /* GO is sent */
	DT_T_STOPPING, /* STOP is sent */
	DT_T_DONE,     /* BYE has come */
	DT_T_GONE,
};

#define DT_PINGS 8 /* before anything is traced */
struct dt_clock {
	uint64_t best[16]; /* round trips, of which the shortest counts */
	int64_t offset[16];
	uint32_t n, pongs;
	int64_t use;	/* target's time - front's time */
	uint64_t error; /* half the round trip */
	uint64_t last;	/* the last time that was converted: time does not go back */
	bool same;	/* it is our own */
};

struct dt_target_clause {
	uint32_t program, number;
	dt_clause *clause;
};

struct dt_target_agg {
	uint32_t id;
	const dt_agg *agg;
};

/* A machine behind a relay. */
struct dt_below {
	uint32_t index; /* as that of a target */
	char name[DT_WIRE_NAME_MAX + 1], os[DT_WIRE_NAME_MAX + 1], release[DT_WIRE_NAME_MAX + 1];
	uint32_t ncpus;
	uint64_t hostid, uncertainty;
};

typedef struct dt_target {
	dt_fleet *fleet;
	dt_account *payer;
	uint32_t index; /* from 1 */
	char *path;
	char word[DT_NATS_WORD + 1]; /* of its subjects, if it is reached over NATS: that of its name */
	dt_link *link;
	enum dt_target_state state;
	uint64_t nonce, knocked;
	dt_buf hello; /* as it was sent */
	char name[DT_WIRE_NAME_MAX + 1], os[DT_WIRE_NAME_MAX + 1], release[DT_WIRE_NAME_MAX + 1];
	uint32_t ncpus;
	uint64_t hostid;
	bool relay;
	DT_VEC(struct dt_below *) below;
	dt_map *below_by_name;
	uint32_t namings; /* of machines behind it */
	struct dt_clock clock;
	uint64_t heard;	  /* dt_now() of the last frame */
	uint64_t pinged;  /* dt_now() */
	uint64_t ping;	  /* what the last one says */
	uint64_t promise; /* in the front's time; 0: none yet */
	bool refused;	  /* it has refused: it is not asked again */
	bool late;	  /* it is not waited for; that was said */
	bool asked;	  /* for a promise, which has not come yet */
	uint64_t wanted, since; /* records wait for a promise of this time, since then (dt_now()); since 0: for none */
	uint32_t enabled; /* programs */
	bool started;
	bool exits;	  /* a clause of it may call exit() */
	DT_VEC(struct dt_target_clause) clauses;
	DT_VEC(struct dt_target_agg) aggs;
	DT_VEC(struct dt_far_ecb *) ecbs; /* by their number there */
	uint64_t records, rows;
	dt_losses *losses;
	uint64_t told_rows, told_records; /* refused ones */
	uint64_t spoke; /* dt_now() from which its notes are counted: see may_speak() */
	uint64_t hidden; /* notes that were not shown */
	bool held; /* nothing is read from it: too much of it waits for others */
	const struct dt_listing *listing; /* NULL: no list was asked for */
	bool listed;
	uint32_t named; /* probes of the list */
	char why_no_list[256];
} dt_target;

/* A clause on a probe of another machine. */
struct dt_far_ecb {
	dt_ecb ecb;
	dt_probe probe;
	uint32_t machine; /* its index */
	dt_account *payer;
	char text[];
};

struct dt_listing {
	dt_fleet_probe_f *each;
	void *arg;
};

dt_target *dt_target_new(dt_fleet *f, dt_account *payer, int fd, const char *path);
void dt_target_free(dt_target *t);
/* Read, act, write. False: it is gone, and that was reported. */
bool dt_target_work(dt_target *t);
void dt_target_say(dt_target *t, enum dt_diag_kind kind, const char *fmt, ...) DT_PRINTF(3, 4);
/* It is gone from now on, for this reason. */
void dt_target_drop(dt_target *t, const char *fmt, ...) DT_PRINTF(2, 3);
void dt_target_ping(dt_target *t);
void dt_target_knock(dt_target *t); /* HELLO was not answered: each second, once more */
void dt_target_promised(dt_target *t, uint64_t time); /* no record that is older, on our clock, will come; nor one before its last one */
dt_target *dt_target_called(const dt_fleet *f, const char *name); /* that is called so, or the relay it is behind; NULL: none */
struct dt_below *dt_target_below(const dt_target *t, const char *name); /* NULL: it has none of this name */
static inline bool dt_target_is_there(const dt_target *t)
{
	return t->state != DT_T_NEW && t->state != DT_T_GONE && t->state != DT_T_DONE;
}

/* ---- accounts.c ---- */
void dt_accounts_open(dt_fleet *f);
void dt_accounts_close(dt_fleet *f);
bool dt_account_has_room(const dt_fleet *f, const char *path); /* it has one, or may have */
dt_account *dt_account_of(dt_fleet *f, const char *path); /* for another connection; NULL: there is no room for it */
void dt_accounts_set_limits(dt_fleet *f); /* by the options and the program, as they are now */
void dt_accounts_report(dt_fleet *f); /* what was refused */
void dt_accounts_forget_gone(dt_fleet *f); /* machines that have gone are no targets; what was kept of them stays */

/* ---- shape.c: each is NULL, or what is wrong ---- */
const char *dt_shape_clause(dt_target *t, const struct dt_wire_clause *c);
const char *dt_shape_agg(dt_target *t, const struct dt_wire_agg *a);
const char *dt_shape_ecb(dt_target *t, const struct dt_wire_ecb *e);
const char *dt_shape_record(dt_target *t, dt_message *m);
const char *dt_shape_fault(dt_target *t, const struct dt_wire_fault *w);
const char *dt_shape_row(dt_target *t, dt_message *m);

/* ---- vsock.c ---- */
struct dt_knock {
	char *address;
	int fd;
};
/* A descriptor, or -1 and errno. EINPROGRESS: there is no answer yet; ask again. */
int dt_vsock_connect(dt_fleet *f, const char *address);
void dt_vsock_close(dt_fleet *f);

/* ---- front.c ---- */
struct dt_fleet_program {
	const dt_program *prog;
	dt_buf message;	   /* PROGRAM */
	uint32_t *matches; /* of its clauses, on all targets */
	bool enabled;
};

struct dt_fleet_row {
	const dt_agg *agg;
	dt_account *payer;
	size_t cost;
	dt_datum *keys;
	uint64_t *words;
};

struct dt_fleet {
	struct dt_fleet_env env;
	DT_VEC(dt_target *) targets;
	DT_VEC(dt_target *) past; /* those that have gone */
	struct dt_accounts all;
	dt_map *accounts; /* by path */
	uint64_t told_refused; /* dt_now() */
	dt_map *called; /* name of a machine -> dt_target *, that has or had it, itself or behind it */
	DT_VEC(struct dt_fleet_program) programs;
	dt_map *agg_by_name; /* -> const dt_agg * of the front */
	dt_map *seen;	     /* paths of sockets that were tried */
	dt_map *connected;   /* path -> dt_target *, the last one there */
	DT_VEC(dt_nats *) nats; /* servers */
	DT_VEC(struct dt_opening *) openings; /* those that a thread connects to */
	DT_VEC(struct dt_knock) knocks; /* vsock: those that have not answered yet */
	dt_farnames *names;
	dt_order order;
	DT_VEC(struct dt_fleet_row) rows; /* that came since the last snapshot; one piece of memory each */
	uint32_t epid, machines; /* last ones given */
	bool aborted; /* tell() said so */
	uint32_t lost; /* machines, while they were traced */
	bool exiting;
	int exit_status;
	bool going, stopped;
	uint64_t scanned; /* dt_now() */
	dt_engine *rest; /* the vm that runs it; NULL: no clause has such a part */
	DT_VEC(dt_ecb *) rest_ecbs;
	dt_ecb *rest_errors; /* ERROR of this machine */
	uint64_t *rest_drops; /* of aggregations, with those of the engine of this machine */
	/* the engine */
	const struct dt_engine_ops *inner_ops;
	dt_engine *inner;
	bool overflowed;
	/* pace.c */
	int epoll, timer;
	uint32_t watched; /* targets */
	uint32_t behind;  /* one of them that has perhaps not promised enough; those before it, from the last round on, have */
	uint32_t owing;	  /* one of them that has perhaps not answered; those before it have */
	uint64_t cared;	  /* dt_now() */
	uint32_t holding; /* targets that are not read */
	bool eager; /* records are passed on as soon as their order is known */
	uint64_t consumed, asked; /* when */
	struct dt_viewer *viewer; /* durable sessions are asked for; NULL: they are not */
	uint64_t released, wanted; /* in time of records: dt_fleet_released(), dt_fleet_want(); 0: not */
};
void dt_fleet_scan(dt_fleet *f);	    /* connect to new sockets */
void dt_fleet_care(dt_fleet *f); /* what all of them need now and then: pings, and what they did not take before */
/* A machine has answered: what it has to know of the session so far. */
void dt_fleet_brief(dt_target *t);
/* How long a machine is waited for. One that works says so each second (DT_M_BUSY): one that is silent has vanished. */
struct dt_patience {
	uint64_t silence, most; /* ns without a word; ns in which it says other things than what is waited for */
	const char *what;	/* is said of it then */
};
void dt_fleet_wait(dt_fleet *f, bool (*done)(const dt_target *t), const struct dt_patience *p); /* until it is true of all */
uint64_t dt_fleet_silence(const dt_fleet *f); /* after which a machine that is asked something has vanished */
int dt_fleet_tell(dt_fleet *f, enum dt_diag_kind kind, const char *text);

/* ---- servers.c ---- */
dt_nats *dt_fleet_server(dt_fleet *f, const char *url); /* NULL: not connected, yet */
void dt_fleet_leave_servers(dt_fleet *f);

/* ---- pace.c ---- */
void dt_pace_open(dt_fleet *f);
void dt_pace_close(dt_fleet *f);
void dt_pace_begin(dt_fleet *f); /* tracing begins */
/* Do what the targets want. True: records can be passed on, and it is time to. */
bool dt_pace_work(dt_fleet *f);
uint64_t dt_pace_promised(dt_fleet *f, uint64_t here); /* up to when all records are there; says who is silent */
void dt_pace_let_go(dt_fleet *f); /* records were passed on: read again from those that were not */
void dt_pace_ask(dt_fleet *f); /* those whose promise is older than the newest record that waits */

/* ---- rest.c ---- */
int dt_rest_open(dt_fleet *f, const struct dt_engine_env *env, dt_error *err);
void dt_rest_close(dt_fleet *f);
/* Such a clause is on a probe: fill in ecb->front. 0, or -1 with *err. */
int dt_rest_add(dt_fleet *f, dt_ecb *ecb, dt_error *err);
/* Run the front's part with this record; what it records goes to the sink. 0, or what the sink said. */
int dt_rest_run(dt_fleet *f, const struct dt_waiting_record *w, const dt_sink *sink);
void dt_rest_status(dt_fleet *f, dt_status *st); /* adds its counters */

#endif
