/*
 * lines: records to lines.
 *
 * An event is one record: the tag, the details and, with -R, a tree. Its text is filtered (-p, -r,
 * -z), printed or given to a command (-O), and counted (-N). What processes wrote into it cannot
 * control the terminal, and cannot begin a line that looks like another event.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwatch.h"

struct state {
	const struct options *o;
	FILE *out;
	regex_t *pids; /* -p as expressions */
	bool colour;
	long seen;
};

static dtrace_hdl_t *volatile running; /* signal handlers can reach nothing else */
static volatile sig_atomic_t stopped;

#define ECHO_MS 150 /* the same signal within this time is the same wish: timeout(1) sends each twice */

static void on_signal(int sig)
{
	static struct timespec first;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!stopped)
		first = now;
	else if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 > ECHO_MS) {
		signal(sig, SIG_DFL); /* the user is in a hurry: it ends when this handler returns */
		raise(sig);
	}
	stopped = 1;
	if (running)
		dtrace_interrupt(running);
}

/* ---- text of values ---- */

static void add_value(FILE *t, const dtrace_value_t *v)
{
	const struct dtrace_valueinfo *i = dtrace_value_info(v);

	switch (i->kind) {
	case DTRACE_VALUE_INT: fprintf(t, i->is_signed ? "%" PRId64 : "%" PRIu64, i->u); break;
	case DTRACE_VALUE_STRING: fwrite(i->data, 1, i->size, t); break;
	case DTRACE_VALUE_STACK:
	case DTRACE_VALUE_SYMBOL:
		for (unsigned n = 0; n < i->nframes; n++) {
			struct dtrace_frame f = {.size = sizeof(f)};

			if (dtrace_value_frame(v, n, &f) < 0)
				continue;
			fputs(i->kind == DTRACE_VALUE_STACK ? "\n    " : "", t);
			if (f.symbol)
				fprintf(t, "%s`%s+0x%" PRIx64, f.module ? f.module : "", f.symbol,
					f.offset);
			else
				fprintf(t, "0x%" PRIx64, f.address);
		}
		break;
	default: break;
	}
}

static void add_item(FILE *t, const dtrace_record_t *r, unsigned n)
{
	const struct dtrace_item *it = dtrace_record_item(r, n);

	if (!it)
		return;
	if (it->text)
		fwrite(it->text, 1, it->textlen, t);
	else
		for (unsigned i = 0; i < it->nvalues; i++)
			add_value(t, dtrace_record_value(r, n, i));
}

static char *items(const dtrace_record_t *r, unsigned from, unsigned to)
{
	char *text = NULL;
	size_t n;
	FILE *t = open_memstream(&text, &n);

	if (!t)
		fatal("out of memory");
	for (unsigned i = from; i < to; i++)
		add_item(t, r, i);
	if (fclose(t) != 0)
		fatal("out of memory");
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	return text;
}

/* ---- -R ---- */

/* Arguments of a process, if it still runs and is the same: its name is. */
static char *arguments_of(uint64_t pid, const char *name)
{
	char *path = text_of("/proc/%" PRIu64 "/cmdline", pid), text[1024], comm[32] = "";
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	free(path);
	path = text_of("/proc/%" PRIu64 "/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(comm, sizeof(comm), f))
		n = 0;
	if (f)
		fclose(f);
	free(path);
	comm[strcspn(comm, "\n")] = '\0';
	if (n == 0 || strcmp(comm, name) != 0)
		return text_of("%s", name);
	while (n && text[n - 1] == '\0')
		n--;
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[n] = '\0';
	return text_of("%s", text);
}

static uint64_t number_in(const dtrace_record_t *r, unsigned item, unsigned i)
{
	const dtrace_value_t *v = dtrace_record_value(r, item, i);

	return v ? dtrace_value_info(v)->u : 0;
}

static char *string_in(const dtrace_record_t *r, unsigned item, unsigned i)
{
	const dtrace_value_t *v = dtrace_record_value(r, item, i);
	const struct dtrace_valueinfo *info = v ? dtrace_value_info(v) : NULL;

	return text_of("%.*s", info ? (int)info->size : 0, info ? (const char *)info->data : "");
}

/* The oldest first; the process that has no parent is not shown. */
static void print_tree(const struct state *s, const dtrace_record_t *r, unsigned item)
{
	int depth = 0;

	for (unsigned l = 0; l < TREE_LEVELS; l++) {
		unsigned at = l * TREE_VALUES;
		uint64_t pid = number_in(r, item, at);
		char *name, *args;

		if (!pid)
			continue;
		name = string_in(r, item, at + 3);
		args = l < TREE_LEVELS - 1 ? arguments_of(pid, name) : text_of("%s", name);
		dtrace_make_safe(args, strlen(args), 0);
		fprintf(s->out, " %*s%s-+= %05" PRIu64 " %" PRIu64 ".%" PRIu64 " %s\n", depth, "",
			depth ? "\\" : "", pid, number_in(r, item, at + 1),
			number_in(r, item, at + 2), args);
		depth++;
		free(name);
		free(args);
	}
}

/* ---- an event ---- */

static bool matches(const regex_t *re, const char *text)
{
	return !re || regexec(re, text, 0, NULL, 0) == 0;
}

static bool is_wanted(const struct state *s, const dtrace_record_t *r, const char *block)
{
	char *pid = text_of("%" PRIu64, number_in(r, 0, TAG_PID));
	char *args = s->o->psargs ? items(r, 1, 2) : text_of("%s", "");
	bool yes =
	    matches(s->pids, pid) && matches(s->o->psargs, args) && matches(s->o->block, block);

	free(pid);
	free(args);
	return yes;
}

static void run_command(const struct state *s, const char *tag, const char *text)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setenv("TAG", tag, 1);
		setenv("DETAILS", text, 1);
		execl("/bin/sh", "sh", "-c", s->o->command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		fatal("failed to run a command: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Text from processes: no control characters; lines only where the user's code may print them. */
static void clean(const struct state *s, char *text)
{
	dtrace_make_safe(text, strlen(text), s->o->code.n > 0);
}

static int on_record(const dtrace_record_t *r, void *arg)
{
	struct state *s = arg;
	unsigned n = dtrace_record_info(r)->nitems, from = s->o->psargs ? 2 : 1,
		 to = s->o->tree ? n - 1 : n;
	const struct dtrace_item *first = n ? dtrace_record_item(r, 0) : NULL;
	bool is_event = first && first->nvalues == TAG_PID + 1 && n >= from + s->o->tree;
	char *tag, *text, *block;

	if (n == 0 || (s->o->max_events && s->seen >= s->o->max_events))
		return 0;
	tag = is_event ? items(r, 0, 1) : text_of("%s", "");
	text = items(r, is_event ? from : 0, is_event ? to : n);
	if (is_event) {
		dtrace_make_safe(tag, strlen(tag), 0);
		clean(s, text);
	} else {
		dtrace_make_safe(text, strlen(text), 1);
	}
	block = text_of("%s%s", tag, text);
	if (!is_event) {
		if (first->textlen)
			fprintf(s->out, "%s\n", text);
	} else if (is_wanted(s, r, block)) {
		s->seen++;
		if (s->o->command)
			run_command(s, tag, text);
		else if (s->colour)
			fprintf(s->out, "\033[36m%s\033[m%s\n", tag, text);
		else
			fprintf(s->out, "%s\n", block);
		if (s->o->tree && !s->o->command)
			print_tree(s, r, n - 1);
	}
	free(tag);
	free(text);
	free(block);
	return 0;
}

/* ---- aggregations: those of profiles (printa), and of the user's code at the end ---- */

static int on_row(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_rowinfo *i = dtrace_row_info(r);
	const struct state *s = arg;
	char *text = NULL;
	size_t n;
	FILE *t = open_memstream(&text, &n);

	if (!t)
		fatal("out of memory");
	if (i->text)
		fwrite(i->text, 1, i->textlen, t);
	for (unsigned k = 0; !i->text && k < i->nkeys; k++) {
		fputs("  ", t);
		add_value(t, dtrace_row_key(r, k));
	}
	if (!i->text && !i->nbuckets)
		fprintf(t, "  %" PRId64 "\n", i->value);
	for (unsigned b = 0; !i->text && b < i->nbuckets; b++)
		fprintf(t, "%s  %" PRId64 " .. %" PRId64 "  %" PRId64 "\n", b ? "" : "\n",
			i->buckets[b].low, i->buckets[b].high, i->buckets[b].count);
	if (fclose(t) != 0)
		fatal("out of memory");
	dtrace_make_safe(text, n, 1);
	fputs(text, s->out);
	free(text);
	return 0;
}

static int on_drop(const struct dtrace_drop *d, void *arg)
{
	(void)arg;
	say("WARN", "%s", d->text);
	return 0;
}

static int on_fault(const struct dtrace_fault *f, void *arg)
{
	const struct state *s = arg;

	if (s->o->verbose)
		say("WARN", "%s", f->text);
	return 0;
}

static int on_note(const char *text, void *arg)
{
	const struct state *s = arg;

	if (s->o->verbose)
		say("INFO", "%s", text);
	return 0;
}

/* ---- the loop ---- */

static void catch_signals(dtrace_hdl_t *h)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction sa = {.sa_handler = on_signal}, old;

	running = h;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

/* -p: if one is not a number, all are compared as text. */
static regex_t *pid_expression(const struct options *o)
{
	char *text = text_of("%s", ""), *old;
	regex_t *re = NULL;
	bool numbers = true;

	for (int i = 0; i < o->pids.n; i++) {
		const char *p = o->pids.v[i];

		numbers &= p[strspn(p, "0123456789")] == '\0';
		old = text;
		text = text_of("%s%s^(%s)$", old, i ? "|" : "", p);
		free(old);
	}
	if (!numbers) {
		re = calloc(1, sizeof(*re));
		if (!re || regcomp(re, text, REG_EXTENDED | REG_NOSUB) != 0)
			fatal("-p: not a number and not a regular expression");
	}
	free(text);
	return re;
}

static bool work(dtrace_hdl_t *h, const struct state *s)
{
	enum dtrace_work_status st = dtrace_work(h, NULL);

	if (st == DTRACE_WORK_ERROR && !stopped)
		fatal("processing aborted: %s", dtrace_errtext(h));
	if (fflush(s->out) == EOF && !stopped)
		fatal("failed to write output: %s", strerror(errno));
	return st == DTRACE_WORK_OKAY && !stopped &&
	       !(s->o->max_events && s->seen >= s->o->max_events);
}

int events_run(dtrace_hdl_t *h, const struct options *o, const struct list *probes, FILE *out)
{
	static struct state s; /* static: its expression is never lost */
	struct dtrace_consumer c = {.size = sizeof(c),
				    .arg = &s,
				    .record = on_record,
				    .aggregation = on_row,
				    .drop = on_drop,
				    .fault = on_fault,
				    .note = on_note};

	s = (struct state){.o = o, .out = out, .pids = pid_expression(o)};
	s.colour = o->console || (out == stdout && isatty(1) && !getenv("NO_COLOR"));
	if (dtrace_consume(h, &c) < 0)
		fatal("%s", dtrace_errtext(h));
	catch_signals(h);
	if (dtrace_go(h) < 0)
		fatal("could not enable tracing: %s", dtrace_errtext(h));
	if (!o->quiet)
		announce(h, o, probes);
	while (work(h, &s))
		dtrace_sleep(h);
	if (dtrace_stop(h) == 0) {
		dtrace_work(h, NULL);
		dtrace_aggregate_print(h, NULL);
	}
	running = NULL;
	if (fflush(out) == EOF)
		return EXIT_FATAL;
	return dtrace_exit_status(h) & 0xff;
}
