/*
 * flags: the command line of dwatch(1), with the flags of FreeBSD's.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwatch.h"

static const char usage_text[] =
    "usage: dwatch [-1deFfmnPqRvwxy] [-B n] [-E code] [-g group] [-j container] [-k name] [-K n]\n"
    "              [-N count] [-o file] [-O cmd] [-p pid] [-r regex] [-t test] [-T time] [-u "
    "user]\n"
    "              [-X profile] [-z regex] [--] probe[,...] [args]\n"
    "       dwatch -l [-fmnPqy] [-r regex] [probe ...]\n"
    "       dwatch -Q [-1qy] [-r regex]\n"
    "       dwatch -V\n"
    "\n"
    "  -1            one line for each event (default); -Q: only names\n"
    "  -B n          show at most n arguments of a process (default: 20)\n"
    "  -d            show the D program; do not run it\n"
    "  -e            compile the D program; do not run it\n"
    "  -E code       D statements that print the details of an event; -: from standard input\n"
    "  -f            words are functions\n"
    "  -F            show entry and return of functions with arrows\n"
    "  -g group      only processes of this group: name, number or regular expression\n"
    "  -j container  only processes of this container, service or control group\n"
    "  -k name       only processes of this name; * at its begin or end stands for anything\n"
    "  -K n          accepted for FreeBSD's sake: paths are always complete\n"
    "  -l            list probes\n"
    "  -m            words are modules\n"
    "  -n            words are names of probes\n"
    "  -N count      end after that many events\n"
    "  -o file       write events to a file; -: standard output\n"
    "  -O cmd        run a command for each event, with TAG and DETAILS in its environment\n"
    "  -p pid        only this process: number or regular expression\n"
    "  -P            words are providers\n"
    "  -q            no messages but errors\n"
    "  -Q            list profiles\n"
    "  -r regex      only events whose text matches\n"
    "  -R            show the process with its parents as a tree\n"
    "  -t test       only if this D expression is true\n"
    "  -T time       end after n seconds, or ns, nm, nh, nd: seconds, minutes, hours, days\n"
    "  -u user       only processes of this user: name, number or regular expression\n"
    "  -v            show run-time errors of the D program\n"
    "  -V            show the version\n"
    "  -w            permit destructive actions\n"
    "  -x            show the number of the probe\n"
    "  -X profile    watch what a profile describes\n"
    "  -y            write colours although the output is not a terminal\n"
    "  -z regex      only processes whose arguments match\n";

static _Noreturn void usage(FILE *out, int status)
{
	fputs(usage_text, out);
	exit(status);
}

static long number(char flag, const char *text, const char **end)
{
	char *stop;
	long n;

	errno = 0;
	n = strtol(text, &stop, 10);
	if (!isdigit((unsigned char)*text) || errno || n < 1 || n > INT_MAX || (!end && *stop))
		fatal("-%c %s: a number from 1 is needed", flag, text);
	if (end)
		*end = stop;
	return n;
}

/* "90", "90s", "5m", "2h", "1d" */
static long duration(const char *text)
{
	static const char units[] = "smhd";
	static const long seconds[] = {1, 60, 3600, 86400};
	const char *end, *unit;
	long n = number('T', text, &end);

	if (!*end)
		return n;
	unit = strchr(units, *end);
	if (!unit || end[1] || n > INT_MAX / seconds[unit - units])
		fatal("-T %s: a time is a number and s, m, h or d", text);
	return n * seconds[unit - units];
}

static regex_t *expression(char flag, const char *text)
{
	regex_t *re = calloc(1, sizeof(*re));
	char why[128];
	int rc;

	if (!re)
		fatal("out of memory");
	rc = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
	if (rc) {
		regerror(rc, re, why, sizeof(why));
		fatal("-%c %s: %s", flag, text, why);
	}
	return re;
}

static char *read_all(FILE *f)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', f) < 0 && ferror(f))
		fatal("failed to read standard input: %s", strerror(errno));
	return text ? text : strdup("");
}

static void add_code(struct list *l, char flag, const char *text, bool is_test)
{
	char *code = strcmp(text, "-") == 0 && !is_test ? read_all(stdin) : strdup(text);
	const char *why;

	if (!code)
		fatal("out of memory");
	if ((why = not_closed(code, is_test)))
		fatal("-%c %s: %s", flag, code, why);
	list_add(l, code);
	free(code);
}

static void only_kind(struct options *o, enum dtrace_spec spec)
{
	if (o->spec >= 0 && o->spec != (int)spec)
		fatal("only one of -f, -m, -n and -P can be given");
	o->spec = (int)spec;
}

static void take(struct options *o, int flag, const char *value)
{
	switch (flag) {
	case '1': o->names_only = true; break;
	case 'B': o->max_args = number('B', value, NULL); break;
	case 'd': o->show = true; break;
	case 'e': o->compile_only = true; break;
	case 'E': add_code(&o->code, 'E', value, false); break;
	case 'f': only_kind(o, DTRACE_SPEC_FUNC); break;
	case 'F': o->arrows = true; break;
	case 'g': list_add(&o->groups, value); break;
	case 'j': o->container = value; break;
	case 'k': list_add(&o->names, value); break;
	case 'K': number('K', value, NULL); break;
	case 'l': o->what = LIST_PROBES; break;
	case 'm': only_kind(o, DTRACE_SPEC_MOD); break;
	case 'n': only_kind(o, DTRACE_SPEC_NAME); break;
	case 'N': o->max_events = number('N', value, NULL); break;
	case 'o': o->output = value; break;
	case 'O': o->command = value; break;
	case 'p': list_add(&o->pids, value); break;
	case 'P': only_kind(o, DTRACE_SPEC_PROVIDER); break;
	case 'q': o->quiet = true; break;
	case 'Q': o->what = LIST_PROFILES; break;
	case 'r': o->block = expression('r', value); break;
	case 'R': o->tree = true; break;
	case 't': add_code(&o->tests, 't', value, true); break;
	case 'T': o->seconds = duration(value); break;
	case 'u': list_add(&o->users, value); break;
	case 'v': o->verbose = true; break;
	case 'V': o->what = SHOW_VERSION; break;
	case 'w': o->destructive = true; break;
	case 'x': o->ids = true; break;
	case 'X': o->profile = value; break;
	case 'y': o->console = true; break;
	case 'z': o->psargs = expression('z', value); break;
	default: usage(stderr, EXIT_USAGE);
	}
}

/* "execve,openat" */
static void split_words(struct list *l, const char *text)
{
	for (const char *s = text;; s++) {
		size_t n = strcspn(s, ",");
		char *word = text_of("%.*s", (int)n, s);

		if (!*word)
			fatal("there is an empty word in '%s'", text);
		list_add(l, word);
		free(word);
		s += n;
		if (!*s)
			break;
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	int flag;

	*o = (struct options){.spec = -1, .max_args = MAX_ARGS};
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		usage(stdout, 0);
	while ((flag = getopt(argc, argv, "+1B:deE:fFg:j:k:K:lmnN:o:O:p:PqQr:Rt:T:u:vVwxX:yz:")) !=
	       -1)
		take(o, flag, optarg);
	if (o->what == LIST_PROBES) {
		for (; optind < argc; optind++)
			split_words(&o->words, argv[optind]);
	} else if (optind < argc) {
		split_words(&o->words, argv[optind++]);
	} else if (o->what == WATCH && !o->profile) {
		usage(stderr, EXIT_USAGE);
	}
	o->argv = argv + optind - 1; /* the word before is $0 */
	o->argc = argc - optind + 1;
}
