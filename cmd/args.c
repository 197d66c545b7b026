/*
 * args: the flags of dtrace(1) in one table, and the loop that reads them.
 *
 * Words that are not flags may be anywhere; they become $1, $2 ... Flags can be joined (-qs file),
 * as #! lines need. Everything is collected in order first and processed later in passes: modes,
 * options, processes, programs.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "serve.h"

enum action { OPTION, SETTING, PROGRAM, PROCESS, MODE, FLAG, OUTPUT, INFILE, SERVE, ATTACH, HELP };

static const struct flag {
	char letter;	 /* 0: a long flag */
	const char *arg; /* NULL: takes none; in brackets: may be left out */
	enum action action;
	const char *option; /* OPTION: its name */
	int value; /* PROGRAM: enum dtrace_spec; MODE: enum mode; FLAG without a letter: one */
	const char *help;
} flags[] = {
    {'a', NULL, FLAG, NULL, 0, "claim anonymous tracing state"},
    {'A', NULL, MODE, NULL, MODE_ANON, "generate directives for anonymous tracing"},
    {'b', "size", OPTION, "bufsize", 0, "set the size of principal buffers"},
    {'B', NULL, FLAG, NULL, 0, "send output through a buffer (test aid)"},
    {'c', "command", PROCESS, NULL, 0, "run a command and end with it; $target is its pid"},
    {'C', NULL, OPTION, "cpp", 0, "run the C preprocessor over script files"},
    {'d', NULL, FLAG, NULL, 0, "print programs as they are compiled"},
    {'D', "name[=value]", OPTION, "define", 0, "define a preprocessor macro"},
    {'e', NULL, FLAG, NULL, 0, "exit after compiling"},
    {'E', NULL, FLAG, NULL, 0, "descriptions may name other machines (doc/fleet.md)"},
    {'f', "function", PROGRAM, NULL, DTRACE_SPEC_FUNC,
     "program whose description ends at function"},
    {'F', NULL, OPTION, "flowindent", 0, "indent output by function entry and return"},
    {'G', NULL, MODE, NULL, MODE_OBJECT, "generate an ELF object with the program"},
    {'h', NULL, MODE, NULL, MODE_HEADER, "generate a C header from provider declarations"},
    {'H', NULL, OPTION, "cpphdrs", 0, "print the names of included headers"},
    {'i', "probe-id", PROGRAM, NULL, DTRACE_SPEC_NAME, "program for the probe with this id"},
    {'I', "dir", OPTION, "incdir", 0, "add a preprocessor include directory"},
    {'l', NULL, MODE, NULL, MODE_LIST, "list probes, trace nothing"},
    {'L', "dir", OPTION, "libdir", 0, "add a D library directory"},
    {'m', "module", PROGRAM, NULL, DTRACE_SPEC_MOD, "program whose description ends at module"},
    {'M', NULL, MODE, NULL, MODE_MACHINES, "list the machines that -E reaches, and their durable sessions"},
    {'n', "name", PROGRAM, NULL, DTRACE_SPEC_NAME, "program with a full description"},
    {'o', "file", OUTPUT, NULL, 0, "append output to a file; the file to write for -G -h -l"},
    {'O', NULL, FLAG, NULL, 0, "[format]: output format (option oformat)"},
    {'p', "pid", PROCESS, NULL, 0, "watch a process and end with it; $target is its pid"},
    {'P', "provider", PROGRAM, NULL, DTRACE_SPEC_PROVIDER,
     "program whose description ends at provider"},
    {'q', NULL, OPTION, "quiet", 0, "print only what programs print"},
    {'s', "script", PROGRAM, NULL, -1, "program from a file"},
    {'S', NULL, FLAG, NULL, 0, "print the DIF of programs"},
    {'U', "name", OPTION, "undef", 0, "undefine a preprocessor macro"},
    {'v', NULL, FLAG, NULL, 0, "report stability; with -l and -e also arguments"},
    {'V', NULL, MODE, NULL, MODE_VERSION, "print the version of the D language"},
    {'w', NULL, OPTION, "destructive", 0, "permit destructive actions"},
    {'W', "name", PROCESS, NULL, 0, "wait for the next process of this name, then as -p"},
    {'x', "option[=value]", SETTING, NULL, 0, "set an option (see dtrace(1))"},
    {'X', "a|c|s|t", OPTION, "stdc", 0, "C conformance for the preprocessor"},
    {'Z', NULL, OPTION, "zdefs", 0, "permit descriptions that match no probe"},
};
#define NFLAGS ((int)(sizeof(flags) / sizeof(flags[0])))

static const struct long_flag {
	const char *name;
	struct flag flag;
} long_flags[] = {
    {"attach", {0, "[name]", ATTACH, NULL, 0, "with -E: show a durable session (dtraced(8)), or list them"}},
    {"cgroup", {0, "path", OPTION, "cgroup", 0, "only processes in this control group"}},
    {"container", {0, "name", OPTION, "container", 0, "only those of this container or service"}},
    {"file", {0, "path", INFILE, NULL, 0, "with -l: the static probes of a program or library"}},
    {"from-start", {0, NULL, FLAG, NULL, 'f', "with --attach: all output that is kept, not only what comes"}},
    {"help", {0, NULL, HELP, NULL, 0, "print this list"}},
    {"libxo", {0, "format", OPTION, "oformat", 0, "choose the output format (-x oformat)"}},
    {"info", {0, NULL, MODE, NULL, MODE_INFO, "say what can be traced here, and why not the rest"}},
    {"options", {0, NULL, MODE, NULL, MODE_OPTIONS, "list the options of -x"}},
    {"serve", {0, "[addr:port]", SERVE, NULL, 0, "show the trace on a page while it runs"}},
    {"tools", {0, NULL, MODE, NULL, MODE_TOOLS, "list the tools that -s finds by name"}},
    {"top", {0, NULL, FLAG, NULL, 't', "show aggregations as a table that refreshes"}},
    {"version", {0, NULL, MODE, NULL, MODE_VERSION, "the same as -V"}},
};
#define NLONG ((int)(sizeof(long_flags) / sizeof(long_flags[0])))

static const struct flag *find_flag(char letter)
{
	for (int i = 0; i < NFLAGS; i++)
		if (flags[i].letter == letter)
			return &flags[i];
	return NULL;
}

void usage(FILE *out)
{
	fprintf(out,
		"Usage: dtrace [-32|-64] [flags] [words for $1, $2 ...]\n"
		"A program is a probe description, then perhaps /predicate/ and { actions }.\n\n");
	for (int i = 0; i < NFLAGS; i++)
		fprintf(out, "  -%c %-15s %s\n", flags[i].letter, flags[i].arg ? flags[i].arg : "",
			flags[i].help);
	for (int i = 0; i < NLONG; i++) {
		const struct flag *f = &long_flags[i].flag;
		int n = fprintf(out, "  --%s %s", long_flags[i].name, f->arg ? f->arg : "");

		fprintf(out, "%*s %s\n", n < 20 ? 20 - n : 0, "", f->help);
	}
	fprintf(out, "\nFor example: dtrace -n 'BEGIN { printf(\"hello\\n\"); exit(0); }'\n");
}

static _Noreturn void misuse(const char *what, const char *detail)
{
	complain("%s%s", what, detail);
	usage(stderr);
	exit(EXIT_USAGE);
}

/* One more element at the end of a growing array; the process is short-lived, nothing is freed. */
static void *grow(void *array, int *n, size_t size)
{
	char *p = realloc(array, (size_t)(*n + 1) * size);

	if (!p)
		fatal("out of memory");
	memset(p + (size_t)*n * size, 0, size);
	++*n;
	return p;
}

static char *duplicate(const char *s, size_t n)
{
	char *p = strndup(s, n);

	if (!p)
		fatal("out of memory");
	return p;
}

/* ---- what each kind of flag does ---- */

static void add_word(struct args *a, char *word)
{
	a->words = grow(a->words, &a->nwords, sizeof(*a->words));
	a->words[a->nwords - 1] = word;
}

static void add_setting(struct args *a, char flag, const char *word, const char *name,
			const char *value)
{
	a->settings = grow(a->settings, &a->nsettings, sizeof(*a->settings));
	a->settings[a->nsettings - 1] = (struct setting){flag, word, name, value};
}

/* -x name[=value] */
static void add_option(struct args *a, const char *word)
{
	const char *eq = strchr(word, '=');

	add_setting(a, 'x', word, eq ? duplicate(word, (size_t)(eq - word)) : word,
		    eq ? eq + 1 : NULL);
}

static void add_program(struct args *a, const struct flag *f, const char *text)
{
	struct program *p;

	a->programs = grow(a->programs, &a->nprograms, sizeof(*a->programs));
	p = &a->programs[a->nprograms - 1];
	p->is_file = f->letter == 's';
	p->spec = p->is_file ? DTRACE_SPEC_NAME : (enum dtrace_spec)f->value;
	p->text = text;
	p->name = duplicate(text, p->is_file ? strlen(text) : strcspn(text, "{/;"));
}

static void add_process(struct args *a, char letter, const char *value)
{
	a->processes = grow(a->processes, &a->nprocesses, sizeof(*a->processes));
	if (letter == 'c')
		a->processes[a->nprocesses - 1].command = value;
	else if (letter == 'W')
		a->processes[a->nprocesses - 1].name = value;
	else
		a->processes[a->nprocesses - 1].pid = value;
}

static void set_flag(struct args *a, char letter)
{
	switch (letter) {
	case 'a': a->anonymous = true; break;
	case 'B': a->buffered = true; break;
	case 'd': a->sugar = true; break;
	case 'e': a->compile_only = true; break;
	case 'E': a->machines = true; break;
	case 'f': a->from_start = true; break;
	case 'S': a->dump = true; break;
	case 't': a->top = true; break;
	case 'v': a->verbose = true; break;
	default: break; /* a lone -O: aggregations that are left are always printed */
	}
}

static void set_mode(struct args *a, const struct flag *f)
{
	if (a->mode != MODE_TRACE && a->mode != (enum mode)f->value)
		misuse("only one of the [-AGhlV] options can be specified", "");
	a->mode = (enum mode)f->value;
}

static void apply(struct args *a, const struct flag *f, char *value)
{
	switch (f->action) {
	case OPTION: add_setting(a, f->letter, value, f->option, value); break;
	case SETTING: add_option(a, value); break;
	case PROGRAM: add_program(a, f, value); break;
	case PROCESS: add_process(a, f->letter, value); break;
	case MODE: set_mode(a, f); break;
	case FLAG: set_flag(a, f->letter ? f->letter : (char)f->value); break;
	case OUTPUT: a->output = value; break;
	case INFILE: a->file = value; break;
	case SERVE: a->serve = value ? value : ""; break;
	case ATTACH:
		a->attach = value ? value : "";
		set_mode(a, &(const struct flag){.value = MODE_ATTACH});
		break;
	case HELP: usage(stdout); exit(0);
	}
}

/* ---- the loop ---- */

/* Is it one of the words of option oformat? */
static bool is_format(const char *word)
{
	const char *names = dtrace_option_values("oformat");
	size_t n = word ? strlen(word) : 0;

	for (const char *p = names; n && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strcspn(p, "|") == n && strncmp(p, word, n) == 0)
			return true;
	return false;
}

/* Letters joined in one word; the last may take the rest of the word or the next word. Returns
 * how many words were used. */
static int parse_letters(struct args *a, char **argv)
{
	for (char *p = argv[0] + 1; *p; p++) {
		const struct flag *f = find_flag(*p);
		char text[2] = {*p, 0};

		if (!f)
			misuse("illegal option -- ", text);
		if (*p == 'O' && !p[1] && is_format(argv[1])) {
			add_setting(a, *p, argv[1], "oformat", argv[1]);
			return 2;
		}
		if (*p == 'O' && !p[1] && argv[1] && argv[1][0] != '-')
			a->after_O = argv[1];
		if (!f->arg) {
			apply(a, f, NULL);
			continue;
		}
		if (p[1]) {
			apply(a, f, p + 1);
			return 1;
		}
		if (!argv[1])
			misuse("option requires an argument -- ", text);
		apply(a, f, argv[1]);
		return 2;
	}
	return 1;
}

/* --name, --name value or --name=value. Returns how many words were used. */
static int parse_long(struct args *a, char **argv)
{
	char *name = argv[0] + 2;
	size_t n = strcspn(name, "=");

	for (int i = 0; i < NLONG; i++) {
		const struct flag *f = &long_flags[i].flag;

		if (strlen(long_flags[i].name) != n || strncmp(long_flags[i].name, name, n) != 0)
			continue;
		if (!f->arg && name[n])
			misuse("option takes no argument -- ", long_flags[i].name);
		if (!f->arg || name[n]) {
			apply(a, f, f->arg ? name + n + 1 : NULL);
			return 1;
		}
		if ((f->action == SERVE && !serve_is_address(argv[1])) ||
		    (f->action == ATTACH && (!argv[1] || argv[1][0] == '-'))) {
			apply(a, f, NULL);
			return 1;
		}
		if (!argv[1])
			misuse("option requires an argument -- ", long_flags[i].name);
		apply(a, f, argv[1]);
		return 2;
	}
	misuse("illegal option ", argv[0]);
}

static void check_conflicts(const struct args *a)
{
	if (a->top && a->serve)
		misuse("--top and --serve exclude each other", "");
	if (a->buffered &&
	    (a->output || a->mode == MODE_ANON || a->mode == MODE_OBJECT || a->mode == MODE_LIST))
		misuse("-B not valid in combination with [-AGlo] options", "");
	if (a->attach && !a->machines)
		misuse("--attach is valid only with -E", "");
	if (a->from_start && !(a->attach && *a->attach))
		misuse("--from-start is valid only with --attach and a name", "");
	if (a->attach && a->nprograms)
		misuse("--attach takes no programs", "");
	if (a->file && a->mode != MODE_LIST)
		misuse("--file is valid only with -l", "");
	if (a->mode == MODE_HEADER) {
		for (int i = 0; i < a->nprograms; i++)
			if (!a->programs[i].is_file)
				misuse("-h takes programs from files only (-s)", "");
		if (a->nprograms == 0)
			misuse("-h requires one or more scripts (-s)", "");
	}
}

/*
 * "#!/usr/sbin/dtrace -q -s" in a script: Linux passes everything after the path as one word, then
 * the script. True if argv[1] is such a word: the first line of argv[2] ends in it.
 */
static bool from_script(int argc, char **argv)
{
	char line[4096];
	FILE *f;
	bool found;

	if (argc < 3 || argv[1][0] != '-' || !strpbrk(argv[1], " \t") ||
	    !(f = fopen(argv[2], "re")))
		return false;
	found = fgets(line, sizeof(line), f) && line[0] == '#' && line[1] == '!';
	fclose(f);
	if (found) {
		size_t n, m = strlen(argv[1]);

		for (n = strlen(line); n && strchr(" \t\n", line[n - 1]); n--)
			;
		found = n > m && memcmp(line + n - m, argv[1], m) == 0;
	}
	return found;
}

/* Split it as a shell would: one word for each. */
static char **script_words(int *argc, char **argv)
{
	char **words = split_words(argv[1]), **all;
	int n = 0;

	while (words && words[n])
		n++;
	if (!words)
		misuse("a quote is not closed: ", argv[1]);
	all = calloc((size_t)(*argc + n), sizeof(*all));
	if (!all)
		fatal("out of memory");
	all[0] = argv[0];
	memcpy(all + 1, words, (size_t)n * sizeof(*all));
	memcpy(all + 1 + n, argv + 2, (size_t)(*argc - 2) * sizeof(*all));
	free(words);
	*argc += n - 1;
	return all;
}

void args_parse(struct args *a, int argc, char **argv)
{
	bool flags_end = false;

	memset(a, 0, sizeof(*a));
	add_word(a, argc > 0 ? argv[0] : (char *)"dtrace");
	if (argc < 2) {
		show_first_steps(stderr);
		exit(EXIT_USAGE);
	}
	if (from_script(argc, argv))
		argv = a->script = script_words(&argc, argv);
	for (int i = 1; i < argc;) {
		char *w = argv[i];

		if (flags_end || w[0] != '-' || w[1] == 0) {
			add_word(a, w);
			i++;
		} else if (strcmp(w, "--") == 0) {
			flags_end = true;
			i++;
		} else if (w[1] == '-') {
			i += parse_long(a, argv + i);
		} else if (strcmp(w, "-32") == 0 || strcmp(w, "-64") == 0) {
			a->model32 = w[1] == '3';
			i++;
		} else {
			i += parse_letters(a, argv + i);
		}
	}
	check_conflicts(a);
}

/* ---- -c commands ---- */

/* One word of a shell command from *p; NULL when a quote is not closed. */
static char *shell_word(const char **p)
{
	char *word = duplicate(*p, strlen(*p)), *out = word, quote = 0;
	const char *s = *p;

	for (; *s && (quote || !strchr(" \t\n", *s)); s++) {
		if (quote && *s == quote)
			quote = 0;
		else if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
		else if (*s == '\\' && quote != '\'' && s[1] == '\n')
			s++; /* the line goes on */
		else if (*s == '\\' && quote != '\'' && s[1] && (!quote || strchr("\"\\$`", s[1])))
			*out++ = *++s;
		else
			*out++ = *s;
	}
	*out = 0;
	*p = s;
	if (!quote)
		return word;
	free(word);
	return NULL;
}

char **split_words(const char *command)
{
	char **words = NULL;
	int n = 0;

	for (const char *p = command;;) {
		char *word;

		p += strspn(p, " \t\n");
		words = grow(words, &n, sizeof(*words));
		if (!*p)
			return words; /* the last element is NULL */
		word = shell_word(&p);
		if (!word) {
			for (int i = 0; i < n - 1; i++)
				free(words[i]);
			free(words);
			return NULL;
		}
		words[n - 1] = word;
	}
}
