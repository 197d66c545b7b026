/*
 * libdtrace: compile D programs and run them.
 *
 * A handle (dtrace_hdl_t) is one tracing session. There are no globals: several handles can be
 * used in one process, each by one thread at a time. Functions that can fail return -1 or NULL
 * and leave the reason in the handle: dtrace_errno(), dtrace_errtext().
 *
 * The usual order:
 *
 *	dtrace_hdl_t *h = dtrace_open(NULL);
 *	dtrace_setopt(h, "strsize", "64");
 *	dtrace_prog_t *p = dtrace_compile_string(h, "BEGIN { exit(0); }", NULL);
 *	dtrace_enable(h, p, NULL);
 *	dtrace_go(h);
 *	while (dtrace_work(h, stdout) == DTRACE_WORK_OKAY)
 *		dtrace_sleep(h);
 *	dtrace_stop(h);
 *	dtrace_work(h, stdout);
 *	dtrace_aggregate_print(h, stdout);
 *	dtrace_close(h);
 *
 * For typed values instead of text: dtrace_consume(), below.
 */
#ifndef DTRACE_H
#define DTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DTRACE_API __attribute__((visibility("default")))

typedef struct dtrace_hdl dtrace_hdl_t;	  /* owned by the caller: dtrace_close() */
typedef struct dt_program dtrace_prog_t; /* owned by its handle */

/* ---- handle ---- */
struct dtrace_open_opts {
	size_t size;	/* sizeof (struct dtrace_open_opts) */
	int *error;	/* why dtrace_open() returned NULL */
};
DTRACE_API dtrace_hdl_t *dtrace_open(const struct dtrace_open_opts *opts); /* opts may be NULL */
DTRACE_API void dtrace_close(dtrace_hdl_t *h);
DTRACE_API const char *dtrace_version(void); /* "1.14" */

/* ---- errors ---- */
DTRACE_API int dtrace_errno(const dtrace_hdl_t *h);		  /* EDT_* (1000...) or an errno */
DTRACE_API const char *dtrace_errtext(const dtrace_hdl_t *h);	  /* "line 3: syntax error near \"}\"" */
DTRACE_API const char *dtrace_errtag(const dtrace_hdl_t *h);	  /* "D_SYNTAX" or NULL */
struct dtrace_errpos { /* does not grow: it is the caller's */
	const char *file; /* NULL: the program itself */
	unsigned line, column;
	const char *source; /* that line, or "" */
	const char *message; /* without position and tag */
};
DTRACE_API void dtrace_errwhere(const dtrace_hdl_t *h, struct dtrace_errpos *pos);

/* ---- options: see dtrace(1) ---- */
DTRACE_API int dtrace_setopt(dtrace_hdl_t *h, const char *name, const char *value); /* value may be NULL */
DTRACE_API int dtrace_getopt(dtrace_hdl_t *h, const char *name, uint64_t *value);
/* Names of all options in turn: i from 0; NULL at the end. */
DTRACE_API const char *dtrace_option_name(int i);
DTRACE_API const char *dtrace_option_help(int i); /* one line */
DTRACE_API const char *dtrace_getopt_text(dtrace_hdl_t *h, const char *name); /* one that is text; NULL: it is not set */
/* What an option can be, if it is a choice: "exec|preinit|postinit|main"; NULL: it is not. */
DTRACE_API const char *dtrace_option_values(const char *name);

/* ---- this machine ---- */
/* What the kernel, the machine and the user's privilege allow: a row each, then one for each provider. */
enum dtrace_has { DTRACE_HAS_NO, DTRACE_HAS_PARTLY, DTRACE_HAS_YES };
struct dtrace_inforow {
	size_t size;
	const char *what; /* "privilege", "provider fbt" */
	enum dtrace_has has;
	const char *detail; /* what there is, or what is missing; may be "" */
	const char *remedy; /* what to do about it; may be "" */
};
typedef int dtrace_info_f(dtrace_hdl_t *h, const struct dtrace_inforow *row, void *arg); /* -1: end */
DTRACE_API int dtrace_info(dtrace_hdl_t *h, dtrace_info_f *f, void *arg);

/* Files inside the program (make static): number i from 0; false: no more. `dir` is "lib" or "tools". */
DTRACE_API int dtrace_embedded(int i, const char **dir, const char **name, const char **text, size_t *len);

/* ---- compiling ---- */
enum dtrace_spec { DTRACE_SPEC_NAME, DTRACE_SPEC_FUNC, DTRACE_SPEC_MOD, DTRACE_SPEC_PROVIDER };
struct dtrace_compile_opts {
	size_t size;	       /* sizeof (struct dtrace_compile_opts) */
	enum dtrace_spec spec; /* what the last field of a short description is */
	int argc;	       /* macro arguments $0, $1 ... */
	char *const *argv;
	const char *name; /* name of the program in messages; files: their path */
};
/* As -n, -f, -m, -P, -i: a bare description is allowed. opts may be NULL. */
DTRACE_API dtrace_prog_t *dtrace_compile_string(dtrace_hdl_t *h, const char *text,
						const struct dtrace_compile_opts *opts);
/* As -s; the file is read to its end, not closed. */
DTRACE_API dtrace_prog_t *dtrace_compile_file(dtrace_hdl_t *h, FILE *f,
					      const struct dtrace_compile_opts *opts);
/* From now on, also print programs there as they are compiled (-d): see option control. */
DTRACE_API void dtrace_dump_sugar(dtrace_hdl_t *h, FILE *out); /* NULL: no more */
DTRACE_API void dtrace_dump(const dtrace_prog_t *p, FILE *out);	     /* -S */
DTRACE_API void dtrace_stability(const dtrace_prog_t *p, FILE *out); /* -v */
DTRACE_API int dtrace_header(dtrace_hdl_t *h, const dtrace_prog_t *p, FILE *out); /* -h */
/* -G: an ELF object with the program's DOF (option linktype=dof: the DOF alone). p may be NULL. */
DTRACE_API int dtrace_object(dtrace_hdl_t *h, const dtrace_prog_t *p, FILE *out);

/* ---- DOF ---- */
DTRACE_API int dtrace_dof_create(dtrace_hdl_t *h, const dtrace_prog_t *p, void **data, size_t *n); /* free(*data) */
DTRACE_API dtrace_prog_t *dtrace_dof_load(dtrace_hdl_t *h, const void *data, size_t n);
DTRACE_API int dtrace_dof_dump(dtrace_hdl_t *h, const void *data, size_t n, FILE *out);

/* ---- probes ---- */
struct dtrace_probeinfo { /* does not grow: it is a part of others */
	unsigned id;
	const char *provider, *module, *function, *name;
};
typedef int dtrace_probe_f(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg);
/* Every probe that matches a description ("" or NULL: all), in order of id. */
DTRACE_API int dtrace_probe_iter(dtrace_hdl_t *h, const char *desc, enum dtrace_spec spec,
				 dtrace_probe_f *f, void *arg);
/* Every probe the program's descriptions match. When a description matches none, the others are
 * still reported; then -1 and "failed to match a:b:c:d: ...". */
DTRACE_API int dtrace_program_probes(dtrace_hdl_t *h, const dtrace_prog_t *p, dtrace_probe_f *f,
				     void *arg);
/* The -lv block: stability and argument types. */
DTRACE_API int dtrace_probe_report(dtrace_hdl_t *h, unsigned id, FILE *out);

/* ---- target processes: $target is the first ---- */
/* Start a command; it is held (by ptrace) right after its exec, or at the point that option evaltime names,
 * until dtrace_go(), and ended by dtrace_close() if it still runs. */
DTRACE_API long dtrace_proc_create(dtrace_hdl_t *h, char *const argv[]); /* its pid, or -1 */
/* Stop a process until dtrace_go() or dtrace_close(). With processes, all calls up to these must come from one
 * thread: ptrace knows its tracer by thread. */
DTRACE_API int dtrace_proc_grab(dtrace_hdl_t *h, long pid);

/* ---- running ---- */
struct dtrace_proginfo { /* does not grow: it is the caller's */
	unsigned matches; /* probes matched, summed over clauses */
	unsigned growing; /* clauses to which probes may be added during tracing */
};
DTRACE_API int dtrace_enable(dtrace_hdl_t *h, dtrace_prog_t *p, struct dtrace_proginfo *info);
DTRACE_API int dtrace_go(dtrace_hdl_t *h);
DTRACE_API int dtrace_stop(dtrace_hdl_t *h);
DTRACE_API void dtrace_sleep(dtrace_hdl_t *h); /* until there may be work */
DTRACE_API void dtrace_interrupt(dtrace_hdl_t *h); /* wake dtrace_sleep(); safe in signal handlers */
/* From now on, end long work on files of traced processes (for example reading their symbols) as
 * soon as possible, incomplete. For a user who does not want to wait for the output; safe in signal
 * handlers. */
DTRACE_API void dtrace_abandon(dtrace_hdl_t *h);
/* What a call that takes long is doing now, for another thread to show. */
struct dtrace_progress {
	size_t size;    /* sizeof (struct dtrace_progress): set it before the call */
	char what[160]; /* "attaching", "reading types of a.out"; empty: nothing in particular */
	uint64_t done, total; /* total 0: not known */
};
DTRACE_API void dtrace_progress(dtrace_hdl_t *h, struct dtrace_progress *p);

/* DONE: exit() was called, a buffer is full (bufpolicy=fill), or all target processes are gone. */
enum dtrace_work_status { DTRACE_WORK_ERROR = -1, DTRACE_WORK_OKAY, DTRACE_WORK_DONE };
/* out may be NULL if there is a consumer or an output function. */
DTRACE_API enum dtrace_work_status dtrace_work(dtrace_hdl_t *h, FILE *out);
DTRACE_API int dtrace_exit_status(const dtrace_hdl_t *h); /* of exit() */
/* At the end: an empty line, then the aggregations that no printa() has printed. */
DTRACE_API int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *out);

/* Where output goes, before anything is traced: messages during the start of tracing are then part
 * of it, if the format supports that. After this dtrace_work() takes the same stream. */
DTRACE_API int dtrace_set_output(dtrace_hdl_t *h, FILE *out);
/* Now: all aggregations as they are, as if by printa(). */
DTRACE_API int dtrace_aggregate_show(dtrace_hdl_t *h);

/* How fopen() should open a file for the output format (option oformat): "ae", or "we" if it is one document. */
DTRACE_API const char *dtrace_output_mode(const dtrace_hdl_t *h);

/* Drops, run-time faults, notices, unless the output format has a place for them. Return 0 to
 * continue, -1 to abort. */
enum dtrace_diag_kind { DTRACE_DIAG_DROP, DTRACE_DIAG_FAULT, DTRACE_DIAG_NOTE };
typedef int dtrace_diag_f(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg);
DTRACE_API void dtrace_handle_diag(dtrace_hdl_t *h, dtrace_diag_f *f, void *arg);
/* Print a message as the library would: into the output if the format supports that, else to the
 * handler. */
DTRACE_API int dtrace_tell(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text);

/* A message (standard error) in the output format, if that has a form for messages (ndjson): 1; else 0, and nothing is
 * written. with_error: it is about the handle's error. */
DTRACE_API int dtrace_message_write(const dtrace_hdl_t *h, const char *text, int with_error, FILE *out);

/* Text from processes, for a terminal: control characters become '?', as in the output of the library. With lines,
 * newlines and tabs stay. */
DTRACE_API void dtrace_make_safe(char *text, size_t n, int lines);

/* ---- typed output ----
 *
 * Instead of output, a program can take what is traced as typed values: it sets a consumer before dtrace_go(), and
 * dtrace_work(h, NULL) and dtrace_aggregate_print(h, NULL) call its functions. Nothing is written then.
 *
 * Everything passed to a function is valid until it returns, and belongs to the library. Structs of
 * the library grow at their end only; those that the caller fills in begin with their size.
 * See doc/api.md.
 */
#define DTRACE_API_VERSION 8 /* grows with every addition to this file */
DTRACE_API int dtrace_api_version(void); /* that of the library */

typedef struct dtrace_value dtrace_value_t;
enum dtrace_value_kind {
	DTRACE_VALUE_NONE,    /* nothing was recorded */
	DTRACE_VALUE_INT,     /* integers, enums, pointers */
	DTRACE_VALUE_FLOAT,   /* 4, 8 or 16 bytes */
	DTRACE_VALUE_STRING,  /* bytes up to a NUL, in an unknown encoding */
	DTRACE_VALUE_BYTES,   /* memory */
	DTRACE_VALUE_STRUCT,  /* structs and unions: children are members */
	DTRACE_VALUE_ARRAY,   /* children are elements */
	DTRACE_VALUE_STACK,   /* frames */
	DTRACE_VALUE_SYMBOL,  /* one frame: sym(), mod(), usym(), umod(), uaddr() */
};
struct dtrace_valueinfo {
	enum dtrace_value_kind kind;
	const char *name; /* of the variable or member that it is; NULL: neither */
	const void *data; /* its bytes; strings: a NUL follows only if the type has room for it */
	size_t size;	  /* bytes of data; strings: without NUL */
	uint64_t u;	  /* integers, extended to 64 bits by their sign */
	int is_signed;	  /* integers */
	int is_pointer;	  /* integers that are addresses */
	long pid;	  /* of user stacks and symbols; 0: kernel */
	unsigned nchildren; /* members, elements */
	unsigned nframes;   /* stacks and symbols */
};
DTRACE_API const struct dtrace_valueinfo *dtrace_value_info(const dtrace_value_t *v);
DTRACE_API double dtrace_value_double(const dtrace_value_t *v);
DTRACE_API const char *dtrace_value_type(const dtrace_value_t *v);	/* C's name of its type: "struct file *"; NULL: unknown */
DTRACE_API const char *dtrace_value_enumerator(const dtrace_value_t *v); /* the name of an enum's value; NULL: none */
DTRACE_API const dtrace_value_t *dtrace_value_child(const dtrace_value_t *v, unsigned i); /* NULL: there is none */
struct dtrace_frame {
	size_t size; /* sizeof (struct dtrace_frame): set it before the call */
	uint64_t address;
	const char *module; /* kernel module, or base name of the file; NULL: unknown */
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* from the symbol */
	const char *helper; /* what a ustack helper said; NULL: nothing */
	const char *file;   /* source, if it is known; else NULL */
	unsigned line;
};
/* Its strings live until the next call of this function. */
DTRACE_API int dtrace_value_frame(const dtrace_value_t *v, unsigned i, struct dtrace_frame *f);

/* A firing of a clause: what its actions would have printed, in order. */
typedef struct dtrace_record dtrace_record_t;
struct dtrace_recordinfo {
	struct dtrace_probeinfo probe;
	unsigned cpu;
	uint64_t time;	 /* nanoseconds, as the D variable timestamp */
	unsigned clause; /* from 1: a clause on a probe */
	unsigned line;	 /* of the clause in its program; 0: unknown */
	unsigned nitems;
};
DTRACE_API const struct dtrace_recordinfo *dtrace_record_info(const dtrace_record_t *r);
struct dtrace_item {
	const char *action; /* "trace", "printf", "stack" ... */
	const char *text;   /* printf(): the finished text; NULL: none */
	size_t textlen;
	unsigned nvalues; /* printf(): its arguments; others: 1 */
};
DTRACE_API const struct dtrace_item *dtrace_record_item(const dtrace_record_t *r, unsigned i); /* NULL: there is none */
DTRACE_API const dtrace_value_t *dtrace_record_value(const dtrace_record_t *r, unsigned item, unsigned i);

/* A row of an aggregation. */
typedef struct dtrace_row dtrace_row_t;
struct dtrace_bucket { /* does not grow: there are arrays of it */
	int64_t low, high; /* both included; INT64_MIN, INT64_MAX: open */
	int64_t count;
};
struct dtrace_rowinfo {
	const char *name;     /* without @; "_" for a bare one */
	const char *function; /* "count", "quantize" ... */
	unsigned id;
	unsigned nkeys;
	uint64_t normal; /* what values have been divided by: normalize(); else 1 */
	int64_t value;	 /* 0 for distributions */
	const struct dtrace_bucket *buckets; /* distributions: those that are not empty, in order */
	unsigned nbuckets;
	unsigned snapshot; /* rows of one printa(), or of one walk, have the same number */
	int at_exit;	   /* not by a printa() */
	uint64_t count;	   /* avg(), stddev(): how many */
	int64_t sum;	   /* avg(), stddev(): of what */
	const char *text; /* printa() with a format: the finished text, with the first row of these keys; else NULL */
	size_t textlen;
	unsigned place, nplaces; /* in the order of the keys: from 0, and how many there are */
};
DTRACE_API const struct dtrace_rowinfo *dtrace_row_info(const dtrace_row_t *r);
DTRACE_API const dtrace_value_t *dtrace_row_key(const dtrace_row_t *r, unsigned i); /* NULL: there is none */
/* All aggregations as they are now, each sorted as printa() would. 0, or what f returned if that was not 0. */
typedef int dtrace_row_f(const dtrace_row_t *r, void *arg);
DTRACE_API int dtrace_aggregate_walk(dtrace_hdl_t *h, dtrace_row_f *f, void *arg);

struct dtrace_drop {
	const char *text; /* "5 drops on CPU 0" */
	const char *kind; /* "PRINCIPAL", "AGGREGATION" ...; NULL: told by the text */
	uint64_t count, total;
	int cpu; /* -1: none */
};
struct dtrace_fault {
	const char *text;
	struct dtrace_probeinfo probe; /* id 0: not a fault of a clause */
	unsigned clause, cpu;
	uint64_t time;
	unsigned code;	  /* of DTrace: 1 invalid address ... */
	const char *what; /* "invalid address" */
	unsigned action;  /* 0: the predicate; else from 1 */
	int offset;	  /* of the DIF instruction; -1: unknown */
	uint64_t value;	  /* the address */
	const char *file; /* the source; NULL: the command line */
	unsigned line, column;	/* 0: not known, or a program of one line on the command line */
	const char *expression; /* as written; NULL: not known (a program read from DOF) */
	const char *reason;	/* "address 0x0 is not mapped"; NULL: not known */
};
struct dtrace_process {
	const char *text; /* "pid 12 exited with status 1" */
	long pid;
	int ended;  /* it is gone; status is what wait(2) says */
	int status;
};
/* Any function may be NULL. They return 0 to continue; else dtrace_work() fails with EDT_DIRABORT. */
struct dtrace_consumer {
	size_t size; /* sizeof (struct dtrace_consumer) */
	void *arg;
	int (*record)(const dtrace_record_t *r, void *arg);
	int (*aggregation)(const dtrace_row_t *r, void *arg); /* printa(), and at the end */
	int (*drop)(const struct dtrace_drop *d, void *arg);
	int (*fault)(const struct dtrace_fault *f, void *arg);
	int (*process)(const struct dtrace_process *p, void *arg);
	int (*note)(const char *text, void *arg);
};
DTRACE_API int dtrace_consume(dtrace_hdl_t *h, const struct dtrace_consumer *c);

/* ---- output to a function, in the format of option oformat: pieces of any size ---- */
typedef int dtrace_output_f(const void *data, size_t n, void *arg); /* 0, or an errno that ends the work */
DTRACE_API void dtrace_handle_output(dtrace_hdl_t *h, dtrace_output_f *f, void *arg);

/* In addition to the output, whatever its form: everything as ndjson (doc/ndjson.md) to a function, in pieces of whole lines.
 * Before dtrace_go(). */
DTRACE_API void dtrace_handle_events(dtrace_hdl_t *h, dtrace_output_f *f, void *arg);
/* Now: all aggregations as they are, as a document in a format of option oformat, "prometheus" for example. */
DTRACE_API int dtrace_aggregate_write(dtrace_hdl_t *h, const char *format, FILE *out);

/* ---- many machines: doc/fleet.md ----
 *
 * With option machines (-E) a program also runs on other machines, those that its descriptions of five parts name. All
 * output comes out here, as if it were one machine. */
struct dtrace_machine {
	size_t size;
	const char *name, *os; /* "host" is this one; "Linux-6.12.115" */
	const char *version;   /* of its DTrace */
	unsigned ncpus;
	uint64_t hostid;
	uint64_t uncertainty; /* of the comparison of its clock with ours, in nanoseconds */
};
typedef int dtrace_machine_f(dtrace_hdl_t *h, const struct dtrace_machine *m, void *arg);
DTRACE_API int dtrace_machine_iter(dtrace_hdl_t *h, dtrace_machine_f *f, void *arg); /* this one first */
typedef int dtrace_machine_probe_f(dtrace_hdl_t *h, const char *machine, const struct dtrace_probeinfo *p, void *arg);
/* As dtrace_probe_iter(), of all machines that the description names ("" or NULL: of all). */
DTRACE_API int dtrace_machine_probes(dtrace_hdl_t *h, const char *desc, enum dtrace_spec spec, dtrace_machine_probe_f *f,
				     void *arg);
/* The other side, dtraced(8): serve one front until it goes or is done. Everything is detached then. */
struct dtrace_agent {
	size_t size;
	int fd;		       /* a connected stream or a serial port; it is closed at the end */
	const char *name;      /* of this machine; NULL: its host name */
	const char *providers; /* patterns of those that may be used, with commas between; NULL: all */
	int destructive;       /* destructive actions may be used */
	const char *sessions;  /* the folder with the output of durable sessions; NULL: there are none */
	const char *watch;     /* patterns of those that may be seen, with commas between; NULL: all */
	const char *targets;   /* a relay: the machines behind this one, as in option targets; NULL: none */
	const char *wait;      /* how long it waits for them at first: a time, as in option targetwait; NULL: 1s */
	int leaving;	       /* only tell a front at a serial port that its agent has ended */
	const char *overhead;  /* the most that option overhead may be: "2%"; NULL: no limit */
	uint64_t memory;       /* the most bytes that buffers, aggregations, variables and speculations may have; 0: no limit */
};
/* 0: the front was served; 1: it never came; -1: it was refused, or broke the protocol; then `why` has a sentence. */
DTRACE_API int dtrace_agent_run(const struct dtrace_agent *a, char *why, size_t n);

/* Let fronts find this machine (name NULL: its host name) over a NATS server, as long as there is a connection. For each front that comes, one end of a
 * socket pair is sent over the unix socket `handover` (SCM_RIGHTS, with one byte): for dtrace_agent_run() in another process,
 * since this one has threads. -1: `why` has a sentence. */
DTRACE_API int dtrace_agent_nats(const char *url, const char *name, int handover, char *why, size_t n);

/* ---- durable sessions: dtraced(8) keeps them running, and their output in files; doc/fleet.md ---- */
struct dtrace_durable {
	size_t size;
	const char *name;   /* of the session */
	const char *script; /* a path */
	const char *folder; /* of all sessions: the output is in folder/name */
	const char *machine; /* the name of this machine; NULL: its host name */
	const char *nats;    /* the server that option stream=nats means; NULL: none */
	void *arg;
	int (*begin)(dtrace_hdl_t *h, void *arg); /* the handle is about to trace; not 0: do not. May be NULL */
	int (*wait)(dtrace_hdl_t *h, void *arg);  /* as dtrace_sleep(), by dtrace_fd(); not 0: the session shall end */
	void (*end)(dtrace_hdl_t *h, void *arg);  /* it has ended; the handle is still there. May be NULL */
};
/* Run one in this process. 0: it is done (exit() was called); 1: wait() has ended it; -1: it failed, `why` has a sentence. */
DTRACE_API int dtrace_durable_run(const struct dtrace_durable *d, char *why, size_t n);
/* Note what becomes of one whose process has ended: "waiting" to be started again, "removed" ... */
DTRACE_API int dtrace_durable_state(const char *folder, const char *name, const char *state, const char *why);
/* Does its script want the output in JetStream, and is there some to send? */
DTRACE_API int dtrace_durable_has_stream(const char *folder, const char *name);
/* Send it, as long as there is more, or the session runs. 0, or -1 and `why`. For a process of its own: it has threads. */
DTRACE_API int dtrace_durable_ship(const char *folder, const char *name, const char *machine, char *why, size_t n);

/* Those of all machines that option targets reaches, and of this one. */
struct dtrace_session {
	size_t size;
	const char *machine, *name;
	const char *state; /* "running", "waiting", "done", "stopped", "removed"; "stream": its output is in JetStream */
	const char *why;   /* it is not running, or "" */
	uint64_t since;	   /* nanoseconds since 1970: when it was started last */
	uint64_t starts;   /* how often it was started */
	uint64_t bytes;	   /* of output, of all its time */
	uint64_t removed;  /* of these, with files that were too many */
	uint64_t drops;	   /* records and the like that it has lost, as it said */
	uint64_t lost;	   /* bytes of output that could not be written */
	uint64_t unsent;   /* bytes that were removed before JetStream had them */
};
typedef int dtrace_session_f(dtrace_hdl_t *h, const struct dtrace_session *s, void *arg);
DTRACE_API int dtrace_session_iter(dtrace_hdl_t *h, dtrace_session_f *f, void *arg);
/* Show one: "name", or "machine:name", where the machine may be a pattern. from_start: with the oldest output that is kept, else
 * with what comes from now on. */
DTRACE_API int dtrace_attach(dtrace_hdl_t *h, const char *which, int from_start);
/* Wait for output, at most that many milliseconds, and write it. DONE: there will be no more. */
DTRACE_API enum dtrace_work_status dtrace_attach_work(dtrace_hdl_t *h, FILE *out, int ms);
DTRACE_API int dtrace_attach_end(dtrace_hdl_t *h, FILE *out); /* its aggregations as they are now */

/* ---- waiting for several things ---- */
/* A descriptor that poll(2) says is readable when dtrace_work() has something to do; it does not block. -1 before
 * dtrace_go(). It is the handle's: do not close it. */
DTRACE_API int dtrace_fd(dtrace_hdl_t *h);

#ifdef __cplusplus
}
#endif
#endif
