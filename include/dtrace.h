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
struct dtrace_errpos {
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
/* What an option can be, if it is a choice: "exec|preinit|postinit|main"; NULL: it is not. */
DTRACE_API const char *dtrace_option_values(const char *name);

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
/* From now on, programs are also printed there as they are after if/else desugaring (-d). */
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
struct dtrace_probeinfo {
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
struct dtrace_proginfo {
	unsigned matches; /* probes matched, summed over clauses */
	unsigned growing; /* clauses that more probes may join while tracing */
};
DTRACE_API int dtrace_enable(dtrace_hdl_t *h, dtrace_prog_t *p, struct dtrace_proginfo *info);
DTRACE_API int dtrace_go(dtrace_hdl_t *h);
DTRACE_API int dtrace_stop(dtrace_hdl_t *h);
DTRACE_API void dtrace_sleep(dtrace_hdl_t *h); /* until there may be work */
DTRACE_API void dtrace_interrupt(dtrace_hdl_t *h); /* wake dtrace_sleep(); safe in signal handlers */
/* End long work on files of traced processes (their symbols, for one) as soon as possible, incomplete, now and from now on. For
 * a user who does not want to wait for the output; safe in signal handlers. */
DTRACE_API void dtrace_abandon(dtrace_hdl_t *h);

/* DONE: exit() was called, a buffer is full (bufpolicy=fill), or all target processes are gone. */
enum dtrace_work_status { DTRACE_WORK_ERROR = -1, DTRACE_WORK_OKAY, DTRACE_WORK_DONE };
DTRACE_API enum dtrace_work_status dtrace_work(dtrace_hdl_t *h, FILE *out);
DTRACE_API int dtrace_exit_status(const dtrace_hdl_t *h); /* of exit() */
/* At the end: an empty line, then the aggregations that no printa() has printed. */
DTRACE_API int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *out);

/* How fopen() should open a file for the output format (option oformat): "ae", or "we" if it is one document. */
DTRACE_API const char *dtrace_output_mode(const dtrace_hdl_t *h);

/* Drops, run-time faults, notices, unless the output format has a place for them. Return 0 to go on, -1 to abort. */
enum dtrace_diag_kind { DTRACE_DIAG_DROP, DTRACE_DIAG_FAULT, DTRACE_DIAG_NOTE };
typedef int dtrace_diag_f(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg);
DTRACE_API void dtrace_handle_diag(dtrace_hdl_t *h, dtrace_diag_f *f, void *arg);

#ifdef __cplusplus
}
#endif
#endif
