/*
 * args: the command line of dtrace(1) as a value: args.c makes it, main.c acts on it.
 */
#ifndef DTRACE_ARGS_H
#define DTRACE_ARGS_H

#include <stdbool.h>

#include "dtrace.h"

enum mode { MODE_TRACE, MODE_LIST, MODE_HEADER, MODE_OBJECT, MODE_ANON, MODE_VERSION, MODE_OPTIONS, MODE_INFO, MODE_TOOLS, MODE_MACHINES, MODE_ATTACH };

/* -n, -f, -m, -P, -i (text) and -s (a path), in order. */
struct program {
	bool is_file;
	enum dtrace_spec spec;
	const char *text; /* D text, or the path of a script */
	char *name;	  /* for "description 'X' matched": text up to { / or ; */
	dtrace_prog_t *prog;
};

/* -x and the flags that stand for an option, in order. */
struct setting {
	char flag; /* 0: given by a long name */
	const char *word; /* as given: what a message names */
	const char *name, *value;
};

/* -c, -p and -W, in order. */
struct process {
	const char *name;    /* NULL: do not wait */
	const char *command; /* NULL: grab pid */
	const char *pid;
	char **words; /* of the command */
};

struct args {
	enum mode mode;
	struct program *programs;
	int nprograms;
	struct setting *settings;
	int nsettings;
	struct process *processes;
	int nprocesses;
	char **words; /* $0, $1 ... */
	char **script; /* all words, those of a script's first line among them; NULL: argv has them */
	int nwords;
	const char *output; /* -o */
	const char *file;   /* --file */
	bool compile_only;  /* -e */
	bool dump;	    /* -S */
	bool sugar;	    /* -d */
	bool verbose;	    /* -v */
	bool anonymous;	    /* -a */
	bool buffered;	    /* -B */
	bool top;	    /* --top */
	const char *after_O; /* the word after -O, if it is not a format: an argument of programs; else NULL */
	const char *serve;  /* --serve: its address, or ""; NULL: not given */
	bool machines;	    /* -E */
	const char *attach; /* --attach: which, or ""; NULL: not given */
	bool from_start;    /* --from-start */
	bool model32;	    /* -32 */
};

/* Parse; a usage error ends the process with status 2. Memory lives as long as the process. */
void args_parse(struct args *a, int argc, char **argv);
void usage(FILE *out);
/* Split a -c command into words, with the quotes and backslashes of a shell. NULL-terminated;
 * NULL when a quote is not closed. */
char **split_words(const char *command);

/* ---- diagnose.c ---- */
enum { EXIT_FATAL = 1, EXIT_USAGE = 2 };
_Noreturn void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A program of the command line, for a message about its error: a short one as it is, as in DTrace, of others what is around
 * the error. To be freed. */
char *around_error(const dtrace_hdl_t *h, const char *program);
/* The same as fatal(), followed by ": " and the handle's error; on a terminal also the source and a caret. */
_Noreturn void fatal_handle(dtrace_hdl_t *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Only when not quiet. */
void notice(dtrace_hdl_t *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* From now on messages have the form of this handle's output format, if it has one for them. */
void messages_like(const dtrace_hdl_t *h); /* NULL: no more */

/* ---- progress.c ---- */
/* From now on this is being done with the handle: after half a second it is said, if standard error is a terminal. */
void progress(dtrace_hdl_t *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void progress_end(void); /* it is done: nothing of it is left */

/* ---- show.c: status of the command ---- */
int show_version(void);
int show_options(void);
int show_tools(void);
int show_info(dtrace_hdl_t *h);
void show_first_steps(FILE *out); /* for those who give no arguments */

/* ---- list.c: -l ---- */
void list_heading(FILE *out);
void list_line(FILE *out, const struct dtrace_probeinfo *p);

/* ---- await.c ---- */
/* -W: the pid of the next process that begins to run a program of this name; it is stopped (SIGSTOP). */
long await_process(const char *name);

/* ---- tools.c ---- */
/* The script of a tool, by its name; NULL: there is none. */
FILE *open_tool(const char *name);
/* --tools: a line for each. */
void list_tools(FILE *out);

/* ---- show_machines.c ---- */
int show_machines(dtrace_hdl_t *h); /* -M: its status */
int list_machines(dtrace_hdl_t *h, const struct args *a, FILE *out); /* -E -l: its status */

/* ---- show_attached.c ---- */
int show_sessions(dtrace_hdl_t *h); /* --attach: its status */
int show_sessions_if_any(dtrace_hdl_t *h); /* with a line before them */
/* --attach NAME: until it ends, or until that. Its status. */
int show_attached(dtrace_hdl_t *h, const struct args *a, FILE *out, bool (*interrupted)(void));

/* ---- main.c ---- */
void close_handle(dtrace_hdl_t *h);

#endif
