/*
 * dwatch: see dwatch.h. This file connects the parts.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwatch.h"

void list_add(struct list *l, const char *word)
{
	char **v = realloc(l->v, sizeof(*v) * (size_t)(l->n + 1));

	if (!v)
		fatal("out of memory");
	l->v = v;
	l->v[l->n++] = text_of("%s", word);
}

char *text_of(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		fatal("out of memory");
	va_end(ap);
	return text;
}

/* Arguments are shown in messages: they may come from somewhere else. */
static void print_line(const char *before, const char *fmt, va_list ap)
{
	char *text = NULL;

	fflush(stdout);
	if (vasprintf(&text, fmt, ap) >= 0) {
		dtrace_make_safe(text, strlen(text), 1);
		fprintf(stderr, "%s %s\n", before, text);
	}
	free(text);
}

void fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line("dwatch:", fmt, ap);
	va_end(ap);
	exit(EXIT_FATAL);
}

void say(const char *level, const char *fmt, ...)
{
	bool colour = isatty(2) && !getenv("NO_COLOR");
	char *before = text_of("%s%s%s", colour ? "\033[32m" : "", level, colour ? "\033[m" : "");
	va_list ap;

	va_start(ap, fmt);
	print_line(before, fmt, ap);
	va_end(ap);
	free(before);
}

/* Descriptions of the command line, else those of the profile. */
static struct list find_probes(dtrace_hdl_t *h, const struct options *o, const struct profile *p)
{
	struct list probes = {0};

	for (int i = 0; i < o->words.n; i++) {
		char *desc = probe_of_word(h, o->words.v[i], o->spec);

		list_add(&probes, desc);
		free(desc);
	}
	for (const char *s = p && !o->words.n ? p->probe : ""; *s;) {
		size_t blank = strspn(s, ", \t\n"), n = strcspn(s + blank, ", \t\n");
		char *desc = text_of("%.*s", (int)n, s + blank);

		if (n && (!is_description(desc) || !strchr(desc, ':')))
			fatal("profile %s: '%s' is not a probe", p->name, desc);
		if (n)
			list_add(&probes, desc);
		free(desc);
		s += blank + n;
	}
	if (!probes.n && p && !*p->before && !*p->after)
		fatal("profile %s needs a probe: dwatch -X %s PROBE", p->name, p->name);
	return probes;
}

/* pid$target: the process that -p names. */
static void grab(dtrace_hdl_t *h, const struct options *o, const char *program)
{
	char *end;
	long pid;

	if (!strstr(program, "$target"))
		return;
	pid = o->pids.n == 1 ? strtol(o->pids.v[0], &end, 10) : 0;
	if (pid <= 0 || *end)
		fatal("this watches one process: name it with -p");
	if (dtrace_proc_grab(h, pid) < 0)
		fatal("failed to grab pid %ld: %s", pid, dtrace_errtext(h));
}

static void set(dtrace_hdl_t *h, const char *name, const char *value)
{
	if (dtrace_setopt(h, name, value) < 0)
		fatal("%s", dtrace_errtext(h));
}

static void set_options(dtrace_hdl_t *h, const struct options *o)
{
	static const char *const always[][2] = {
	    {"bufsize", "4m"}, {"aggsize", "4m"}, {"temporal", "yes"}, {"argref", NULL}};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		set(h, always[i][0], always[i][1]);
	if (o->destructive)
		set(h, "destructive", NULL);
	if (o->container)
		set(h, *o->container == '/' ? "cgroup" : "container", o->container);
}

void announce(dtrace_hdl_t *h, const struct options *o, const struct list *probes)
{
	for (int i = 0; i < probes->n; i++) {
		char *title = probe_title(h, probes->v[i]);

		say("INFO", "Watching '%s' ...", title);
		free(title);
	}
	if (!probes->n)
		say("INFO", "Watching by profile '%s' ...", o->profile);
}

static FILE *open_output(const char *path)
{
	FILE *out = path && strcmp(path, "-") != 0 ? fopen(path, "we") : stdout;

	if (!out)
		fatal("failed to open %s: %s", path, strerror(errno));
	return out;
}

static int watch(dtrace_hdl_t *h, const struct options *o)
{
	/* static: what they point to is needed to the end, and never lost */
	static struct profile profile;
	static struct list probes;
	static char *text;
	struct profile *p = o->profile ? &profile : NULL;
	struct dtrace_compile_opts how = {
	    .size = sizeof(how), .argc = o->argc, .argv = o->argv, .name = "dwatch"};
	struct dtrace_proginfo info = {0};
	dtrace_prog_t *prog;

	if (p)
		profile_read(p, o->profile);
	set_options(h, o);
	probes = find_probes(h, o, p);
	text = generate(o, p, &probes);
	if (o->show) {
		fputs(text, open_output(o->output));
		return 0;
	}
	grab(h, o, text);
	prog = dtrace_compile_string(h, text, &how);
	if (!prog)
		fatal("%s", dtrace_errtext(h));
	if (o->compile_only)
		return 0;
	if (dtrace_enable(h, prog, &info) < 0)
		fatal("%s", dtrace_errtext(h));
	if (info.matches + info.growing == 0)
		fatal("no probe matches");
	return events_run(h, o, &probes, open_output(o->output));
}

int main(int argc, char **argv)
{
	static struct options o; /* static: what it points to is never freed, and never lost */
	dtrace_hdl_t *h;
	int status = 0, error = 0;

	options_parse(&o, argc, argv);
	if (o.what == SHOW_VERSION) {
		printf("dwatch: Sun D %s\n", dtrace_version());
		return 0;
	}
	if (o.what == LIST_PROFILES) {
		profile_list(open_output(o.output), o.names_only, o.block);
		return 0;
	}
	h = dtrace_open(
	    &(struct dtrace_open_opts){.size = sizeof(struct dtrace_open_opts), .error = &error});
	if (!h)
		fatal("failed to initialize dtrace: %s", strerror(error));
	if (o.what == LIST_PROBES)
		probe_list(h, &o, open_output(o.output));
	else
		status = watch(h, &o);
	dtrace_close(h);
	if (fflush(stdout) == EOF)
		fatal("failed to write output: %s", strerror(errno));
	return status;
}
