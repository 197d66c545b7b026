/*
 * session: the handle of include/dtrace.h. It owns one of everything (options, types,
 * compiler, probes, engine, consumer) and connects them; it decides nothing about D, DIF or text.
 *
 *   session.c  open, close, options, errors
 *   program.c  text or file -> program; DOF in and out
 *   cpp.c      the C preprocessor (-C)
 *   libs.c     D libraries: found, ordered, loaded when a program needs them
 *   enable.c   program -> ECBs; listing probes;  grow.c: probes added during tracing
 *   events.c   where an ECB's probe fires, and the DIF that is computed there first
 *   probe_source.c  what the compiler asks about probes
 *   run.c      go, work, stop;  output.c: where output goes;  wait.c: sleeping, and a descriptor for poll(2)
 *   symbols.c  names of addresses in processes
 *   target.c   the processes of -c and -p; process_objects.c: their objects, for types
 *   report.c   stability and argument reports (-v, -lv)
 *   machines.c this machine's name, and the others of option machines; agent.c: their side of it
 *   durable.c  a durable session (dtraced);  attached.c: showing them
 *   header.c   C header of a provider (-h); dof_object.c: the object of -G
 */
#ifndef DT_SESSION_H
#define DT_SESSION_H

#include "dtrace.h"
#include "base/base.h"
#include "base/options.h"
#include "lang/lang.h"
#include "probe/probe.h"
#include "engine/engine.h"
#include "consume/consume.h"
#include "format/typed.h"
#include "fleet/fleet.h"
#include "proc/control.h"

struct dtrace_hdl {
	dt_options opts;
	dt_types *types;
	dt_probes *probes;
	dt_compiler *cc;
	struct dt_macros macros;
	dt_error err;
	char errtext[1600];	/* err as the user reads it */
	struct dt_libs *libs;	/* NULL until a program is compiled or a name is unknown */
	FILE *sugar_out;
	DT_VEC(dt_ecb) ecbs;
	dt_map *events; /* id of a probe -> dt_events; NULL until tracing begins */
	DT_VEC(struct dt_engine_clause) clauses; /* all that are enabled, in order */
	struct dt_grow *grow;			  /* NULL: no probe can be added */
	const struct dt_engine_ops *engine_ops;
	dt_engine *engine;
	void *placed; /* dt_engine_process.places() */
	dt_consumer *consumer;
	struct dt_symbols *symbols; /* names of user addresses; NULL: not needed */
	char *out_path;
	dt_jail *jail;	 /* reads files of programs */
	dt_procs *procs; /* of -c, -p and of probes in processes */
	enum { DT_SESSION_NEW, DT_SESSION_ACTIVE, DT_SESSION_STOPPED } state;
	int wake[2]; /* dtrace_interrupt() */
	dt_stop stop; /* dtrace_abandon() */
	dt_progress progress; /* dtrace_progress() */
	dtrace_diag_f *diag;
	void *diag_arg;
	struct dtrace_consumer typed; /* dtrace_consume(); size 0: none */
	dtrace_output_f *output;      /* dtrace_handle_output(); NULL: none */
	void *output_arg;
	dtrace_output_f *copy;        /* dtrace_handle_events(); NULL: none */
	void *copy_arg;
	struct dt_waiting *waiting; /* dtrace_fd(); NULL: not asked for */
	struct dt_here here; /* this machine */
	char here_name[64], here_os[160]; /* what it points to */
	dt_fleet *fleet; /* other machines; NULL: none */
	struct dt_attached *attached; /* dtrace_attach(); NULL: none */
};

/* Compose h->errtext from h->err; returns -1. Every failing API function ends here. */
int dt_session_fail(dtrace_hdl_t *h);
/* The same after filling h->err. */
int dt_session_err(dtrace_hdl_t *h, int code, const char *fmt, ...) DT_PRINTF(3, 4);
/* A diagnostic for the user: into the output, if its format supports it; else to the handler. 0, or
 * -1 to abort. */
int dt_session_tell(dtrace_hdl_t *h, const dt_diag *d);
int dt_session_diag(dtrace_hdl_t *h, enum dt_diag_kind kind, const char *text);
/* To the user's handler; without one to stderr. */
int dt_session_hand_over(dtrace_hdl_t *h, const dt_diag *d);
/* With option debug (or DTRACE_DEBUG in the environment): a line on stderr. */
void dt_session_debug(const dtrace_hdl_t *h, const char *fmt, ...) DT_PRINTF(2, 3);

/* ---- cpp.c ---- */
/* Run the preprocessor over text; its output is added to *out. 0, or -1 with h->err. */
int dt_cpp_run(dtrace_hdl_t *h, const char *text, size_t len, const char *path, dt_buf *out);

/* ---- libs.c ---- */
struct dt_libs;
void dt_libs_open(dtrace_hdl_t *h); /* lets the compiler ask for names that libraries define */
/* Compile the libraries that define a type, such as "bufinfo_t *". */
void dt_libs_define(dtrace_hdl_t *h, const char *type);
/* Compile the -L libraries that are not compiled yet. 0, or -1 with *err. */
int dt_libs_load_user(dtrace_hdl_t *h, dt_error *err);
void dt_libs_free(struct dt_libs *libs);

/* ---- output.c ---- */
/* Make the consumer, if there is none. 0, or -1 with the error in h. */
int dt_output_open(dtrace_hdl_t *h, FILE *out);
int dt_output_check(dtrace_hdl_t *h); /* can the output format be made? 0 or -1 */

/* What names addresses, and the arg of that. */
void dt_output_symbols(dtrace_hdl_t *h, struct dt_consumer_env *env);

/* ---- choose.c ---- */
int dt_engine_choose(dtrace_hdl_t *h); /* h->engine_ops, as far as it is known before events; -1 with the error in h */
/* Open it, or another one that can run the program. 0, or -1 with the error in h. */
int dt_engine_open(dtrace_hdl_t *h, struct dt_engine_env *env);

/* ---- run.c ---- */
int dt_session_update_processes(dtrace_hdl_t *h); /* news of them, and of probes in them; -1: abort */

/* ---- machines.c ---- */
void dt_machines_init(dtrace_hdl_t *h, const char *name); /* NULL: this is the front */
uint64_t dt_machines_hostid(const char *name);
/* vmname and hostid: 1: defined now, 0: it is another name, -1: *err */
int dt_machines_define(dtrace_hdl_t *h, const char *name, dt_error *err);
/* A program was compiled from this text: other machines will get it. 0, or -1 with h->err. */
int dt_machines_program(dtrace_hdl_t *h, const dt_program *p, const struct dt_source *src);
/* Put its clauses on probes there. 0, or -1 with the error in h. here[i]: probes of clause i on this machine. */
int dt_machines_enable(dtrace_hdl_t *h, const dt_program *p, uint32_t *matches);

void dt_machines_open(dtrace_hdl_t *h, bool local); /* connect to the others; local: also to the dtraced of this one */

/* ---- attached.c ---- */
struct dt_attached;
void dt_attached_free(dtrace_hdl_t *h);

/* ---- wait.c ---- */
void dt_wait_done(dtrace_hdl_t *h); /* after work: when will there be more? */
void dt_wait_free(dtrace_hdl_t *h);

/* ---- symbols.c ---- */
struct dt_symbols;
void dt_symbols_open(dtrace_hdl_t *h); /* if the program needs it; h->engine_ops is chosen */
void dt_symbols_free(dtrace_hdl_t *h);
int dt_symbols_update(dtrace_hdl_t *h); /* before records are printed; -1 when the handler says so */
int dt_readers_report(dtrace_hdl_t *h); /* which files could not be read; -1 likewise */
int dt_symbols_report(dtrace_hdl_t *h); /* why addresses may be without names; -1 likewise */
/* For the consumer: arg is the handle. */
bool dt_symbols_find(void *arg, long pid, uint64_t time, uint64_t addr, const char **obj,
		     const char **sym, uint64_t *off);
bool dt_symbols_line(void *arg, long pid, uint64_t time, uint64_t addr, const char **file, unsigned *line);
void dt_symbols_keep(void *arg, long pid);

/* ---- events.c ---- */
void dt_events_begin(dtrace_hdl_t *h); /* tracing begins: options are settled */
/* Fill in ecb->events. -1 with *err: the probe cannot be enabled here. */
int dt_events_of(dtrace_hdl_t *h, dt_ecb *ecb, dt_error *err);

/* ---- grow.c ---- */
/* A clause is enabled: the kinds of probes that may be added to it (1 << DT_AT_*). */
uint32_t dt_grow_clause(dtrace_hdl_t *h, dt_clause *c);
void dt_grow_open(dtrace_hdl_t *h); /* before the engine is opened */
void dt_grow_begin(dtrace_hdl_t *h); /* where processes wait for us; before they are released */
void dt_grow_anew(dtrace_hdl_t *h); /* processes have changed: the next update matches all again */
bool dt_grow_is_awaited(const dtrace_hdl_t *h); /* one does now */
int dt_grow_ms(const dtrace_hdl_t *h); /* interval for checking processes without a gate; -1: there are none */
int dt_grow_update(dtrace_hdl_t *h); /* enable new probes; -1: the handler asked to abort */
void dt_grow_free(dtrace_hdl_t *h);

/* ---- target.c ---- */
void dt_targets_new(dtrace_hdl_t *h); /* an empty h->procs */

/* ---- process_objects.c ---- */
void dt_objects_offer(dtrace_hdl_t *h); /* types of processes: to h->types */

#endif
