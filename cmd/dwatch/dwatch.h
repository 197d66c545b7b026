/*
 * dwatch(1): watch what processes do, without writing D.
 *
 * The command line (flags.c) and a profile (profile_file.c) become a struct watch; words become probe
 * descriptions (probes.c), all of that a D program (generate.c), which the library runs; its
 * records become lines (lines.c). Nothing of the command line reaches D but through quote.c.
 */
#ifndef DWATCH_H
#define DWATCH_H

#include <regex.h>
#include <stdbool.h>
#include <sys/types.h>

#include "dtrace.h"

struct list {
	char **v;
	int n;
};
void list_add(struct list *l, const char *word); /* copies it */

enum { EXIT_FATAL = 1, EXIT_USAGE = 2 };
_Noreturn void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "INFO text" and "WARN text" on standard error. */
void say(const char *level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The result of asprintf(); never NULL. */
char *text_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- flags.c ---- */

enum { MAX_ARGS = 20 }; /* -B */
enum what { WATCH, LIST_PROBES, LIST_PROFILES, SHOW_VERSION };

struct options {
	enum what what;
	bool show, compile_only, arrows, quiet, tree, verbose, destructive, ids, console, names_only;
	int spec; /* what words are: enum dtrace_spec; -1: to be found out */
	long max_args, max_events;
	long seconds;			     /* -T; 0: none */
	const char *output, *command, *container, *profile;
	struct list code, users, groups, names, pids, tests;
	regex_t *block, *psargs;	     /* -r, -z; NULL: none */
	struct list words;		     /* probes */
	char **argv;			     /* $0 ... */
	int argc;
};
void options_parse(struct options *o, int argc, char **argv);

/* ---- profile_file.c ---- */

/* A profile: what to watch and what to show of it. Texts are D, "" if there is none. */
struct profile {
	char *name;
	char *probe;	       /* descriptions, separated by commas */
	char *before, *after;  /* clauses */
	char *test;	       /* expression */
	char *details;	       /* statements */
	struct list settings;  /* NAME default */
	struct list options;   /* name=value */
};
/* Read the profile of that name; ends the process if there is none, or if it is not a profile. */
void profile_read(struct profile *p, const char *name);
bool profile_exists(const char *name);
/* -Q */
void profile_list(FILE *out, bool names_only, const regex_t *only);

/* ---- probes.c ---- */

/* The description that a word stands for. */
char *probe_of_word(dtrace_hdl_t *h, const char *word, int spec);
/* How a description is shown: in full if it matches one probe. */
char *probe_title(dtrace_hdl_t *h, const char *desc);
/* -l */
void probe_list(dtrace_hdl_t *h, const struct options *o, FILE *out);

/* ---- quote.c ---- */

/* A D string constant of this text, whatever it is. The caller frees it. */
char *quote(const char *text);
/* Does the text have the form of a probe description? */
bool is_description(const char *text);
/* Is the text D that stays where it is put: all brackets, strings and comments closed, and none closed that it has not
 * opened? An expression has no braces and no ';' either. Else why not. */
const char *not_closed(const char *text, bool expression);

/* ---- generate.c ---- */

enum { TAG_UID = 1, TAG_GID, TAG_NAME, TAG_PID }; /* arguments of the first printf() of an event; 0: the time */
enum { TREE_LEVELS = 4, TREE_VALUES = 4 };	  /* of the last one with -R: pid, uid, gid, name, oldest first */
/* The program. Its events are records whose first item is the tag; with -z the arguments of the process are the second. */
char *generate(const struct options *o, const struct profile *p, const struct list *probes);

/* ---- lines.c ---- */

/* Consume events until the program or the user ends it; the status of the process. */
int events_run(dtrace_hdl_t *h, const struct options *o, const struct list *probes, FILE *out);

/* ---- dwatch.c ---- */

/* "INFO Watching ...": from now on nothing is missed. */
void announce(dtrace_hdl_t *h, const struct options *o, const struct list *probes);

#endif
