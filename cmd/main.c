/*
 * main: dtrace(1) acts on its command line. libdtrace does the work; this file only decides the order of
 * calls and the wording of messages.
 *
 * Passes: options are set, processes started or grabbed, programs compiled; then by mode: trace,
 * list (-l), make a header (-h) or an object (-G).
 */
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "args.h"
#include "serve.h"
#include "top.h"

/* Signal handlers can reach nothing else. */
static dtrace_hdl_t *volatile interrupted_handle;
static volatile sig_atomic_t interrupts, echo_over, broken_pipe, leaving;
#define ECHO_MS	 150
#define LEAVE_MS 700 /* from the second interrupt until this process exits */

static int status; /* of errors that do not end the run */

/* ---- before tracing ---- */

static void set_options(dtrace_hdl_t *h, const struct args *a)
{
	dtrace_setopt(h, "temporal", "yes");
	if (a->mode == MODE_LIST || a->mode == MODE_HEADER || a->mode == MODE_OBJECT)
		dtrace_setopt(h, "zdefs", NULL);
	if (a->mode == MODE_OBJECT) {
		dtrace_setopt(h, "kdefs", NULL);
		dtrace_setopt(h, "control", "clauses"); /* other DTraces can load it */
	}
	if (a->anonymous)
		dtrace_setopt(h, "grabanon", NULL);
	if (a->dump)
		dtrace_setopt(h, "verbose", NULL);
	if (a->machines && a->mode != MODE_LIST)
		dtrace_setopt(h, "machines", NULL);
	for (int i = 0; i < a->nsettings; i++) {
		const struct setting *s = &a->settings[i];

		if (dtrace_setopt(h, s->name, s->value) == 0)
			continue;
		if (s->flag == 'x')
			fatal_handle(h, "failed to set -x %s", s->word);
		if (!s->flag)
			fatal_handle(h, "failed to set -x %s=%s", s->name, s->value);
		fatal_handle(h, "failed to set -%c%s%s", s->flag, s->word ? " " : "",
			     s->word ? s->word : "");
	}
	if (a->sugar)
		dtrace_dump_sugar(h, stdout);
}

/* The handle holds it from here on, until tracing is on: it need not be stopped by a signal as well. */
static void wait_and_grab(dtrace_hdl_t *h, const char *name)
{
	long pid = await_process(name);
	int rc = dtrace_proc_grab(h, pid);

	kill((pid_t)pid, SIGCONT);
	if (rc < 0)
		fatal_handle(h, "failed to grab pid %ld", pid);
}

static void start_processes(dtrace_hdl_t *h, const struct args *a)
{
	for (int i = 0; i < a->nprocesses; i++) {
		struct process *p = &a->processes[i];
		char *end;
		long pid;

		if (p->command) {
			p->words = split_words(p->command);
			if (!p->words)
				fatal("failed to execute %s: a quote is not closed", p->command);
			if (!p->words[0])
				fatal("failed to execute %s: no command given", p->command);
			if (dtrace_proc_create(h, p->words) < 0)
				fatal_handle(h, "failed to execute %s", p->words[0]);
			continue;
		}
		if (p->name) {
			wait_and_grab(h, p->name);
			continue;
		}
		errno = 0;
		pid = strtol(p->pid, &end, 10);
		if (*end || end == p->pid || errno)
			fatal("invalid pid: %s", p->pid);
		if (dtrace_proc_grab(h, pid) < 0)
			fatal_handle(h, "failed to grab pid %ld", pid);
	}
}

/* No program uses an argument: if it is the word after -O, it was meant as a format. */
static void check_format(const dtrace_hdl_t *h, const struct args *a)
{
	const char *tag = dtrace_errtag(h);

	if (a->after_O && tag && strcmp(tag, "D_MACRO_UNUSED") == 0 && strstr(dtrace_errtext(h), a->after_O))
		fatal("unknown output format -O %s: expected %s", a->after_O, dtrace_option_values("oformat"));
}

static void compile_script(dtrace_hdl_t *h, struct program *p, struct dtrace_compile_opts *o,
			   const struct args *a)
{
	FILE *f = fopen(p->text, "re");

	if (!f && errno == ENOENT && !(f = open_tool(p->text)))
		errno = ENOENT;
	if (!f)
		fatal("failed to open %s: %s", p->text, strerror(errno));
	o->name = p->text;
	p->prog = dtrace_compile_file(h, f, o);
	fclose(f);
	if (p->prog)
		return;
	check_format(h, a);
	fatal_handle(h, "failed to compile script %s", p->text);
}

static void compile_programs(dtrace_hdl_t *h, const struct args *a)
{
	uint64_t verbose = 0;

	for (int i = 0; i < a->nprograms; i++) {
		struct program *p = &a->programs[i];
		struct dtrace_compile_opts o = {
		    .size = sizeof(o),
		    .spec = p->spec,
		    .argc = a->mode == MODE_OBJECT ? 1 : a->nwords, /* -G: words are objects */
		    .argv = a->words,
		};

		a->words[0] = p->is_file ? (char *)p->text : (char *)"dtrace";
		if (!a->sugar)
			progress(h, "compiling %s", p->is_file ? p->text : p->name);
		if (p->is_file)
			compile_script(h, p, &o, a);
		else if (!(p->prog = dtrace_compile_string(h, p->text, &o))) {
			check_format(h, a);
			fatal_handle(h, "invalid probe specifier %s", around_error(h, p->text));
		}
		progress_end();
		dtrace_getopt(h, "verbose", &verbose);
		if (verbose)
			dtrace_dump(p->prog, stderr);
	}
}

/* Where output goes: -o file, else stdout. */
static FILE *open_output(const char *path, const char *how)
{
	FILE *out = path ? fopen(path, how) : stdout;

	if (!out)
		fatal("failed to open output file '%s': %s", path, strerror(errno));
	return out;
}

/* All is written: a full disk must not pass for success. */
static void end_output(FILE *out)
{
	bool failed = ferror(out);

	errno = failed ? EIO : 0;
	if (fflush(out) == EOF || failed) {
		complain("failed to write output: %s", strerror(errno));
		status = EXIT_FATAL;
	}
}

/* ---- -l ---- */

struct list_arg {
	FILE *out;
	bool verbose;
};

static int list_probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	const struct list_arg *l = arg;

	list_line(l->out, p);
	if (l->verbose)
		dtrace_probe_report(h, p->id, l->out);
	return 0;
}

/* A path is the module of static probes in that file (providers/usdt.c). */
static void list_file(dtrace_hdl_t *h, const char *path, struct list_arg *l)
{
	char *whole = realpath(path, NULL);

	if (!whole)
		complain("failed to list probes: %s: %s", path, strerror(errno));
	else if (dtrace_probe_iter(h, whole, DTRACE_SPEC_MOD, list_probe, l) < 0)
		complain("failed to list probes: %s", dtrace_errtext(h));
	else
		l = NULL;
	if (l)
		status = EXIT_FATAL;
	free(whole);
}

static void list(dtrace_hdl_t *h, const struct args *a, FILE *out)
{
	struct list_arg l = {out, a->verbose};

	list_heading(out);
	for (int i = 0; i < a->nprograms; i++) {
		if (dtrace_program_probes(h, a->programs[i].prog, list_probe, &l) < 0) {
			complain("%s", dtrace_errtext(h));
			status = EXIT_FATAL;
		}
	}
	if (a->file)
		list_file(h, a->file, &l);
	else if (a->nprograms == 0 &&
		 dtrace_probe_iter(h, NULL, DTRACE_SPEC_NAME, list_probe, &l) < 0) {
		complain("failed to list probes: %s", dtrace_errtext(h));
		status = EXIT_FATAL;
	}
	end_output(out);
}

/* ---- -h and -G ---- */

/* dir/p.d -> p.h */
static char *product_name(const char *script, const char *suffix)
{
	const char *base = strrchr(script, '/') ? strrchr(script, '/') + 1 : script;
	size_t n = strlen(base);
	char *name = malloc(n + strlen(suffix) + 1);

	if (!name)
		fatal("out of memory");
	if (n > 2 && strcmp(base + n - 2, ".d") == 0)
		n -= 2;
	memcpy(name, base, n);
	strcpy(name + n, suffix);
	return name;
}

/* It failed: leave no file behind that make(1) would take for a valid one. */
static void remove_product(FILE *out, const char *path)
{
	struct stat st;

	if (fstat(fileno(out), &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

static void close_product(FILE *out, const char *path)
{
	if (fflush(out) == EOF) {
		int e = errno;
		remove_product(out, path);
		fatal("failed to create %s: %s", path, strerror(e));
	}
	fclose(out);
}

static void make_headers(dtrace_hdl_t *h, const struct args *a)
{
	FILE *out = a->output ? open_output(a->output, "we") : NULL;

	for (int i = 0; i < a->nprograms; i++) {
		const struct program *p = &a->programs[i];
		char *path = a->output ? NULL : product_name(p->text, ".h");
		FILE *f = out ? out : open_output(path, "we");

		if (dtrace_header(h, p->prog, f) < 0) {
			remove_product(f, path ? path : a->output);
			fatal_handle(h, "failed to create header for %s", p->text);
		}
		if (path)
			close_product(f, path);
		free(path);
	}
	if (out)
		close_product(out, a->output);
}

static void make_object(dtrace_hdl_t *h, const struct args *a)
{
	const struct program *p = a->nprograms ? &a->programs[0] : NULL;
	char *path = a->output	       ? strdup(a->output)
		     : p && p->is_file ? product_name(p->text, ".o")
				       : strdup("d.out");
	FILE *out;

	if (a->nprograms > 1)
		fatal("-G takes one program; %d were given", a->nprograms);
	out = open_output(path, "we");
	notice(h, "-G is not needed: headers made by dtrace -h need no post-link step");
	if (dtrace_object(h, p ? p->prog : NULL, out) < 0) {
		remove_product(out, path);
		fatal_handle(h, "failed to create %s", path);
	}
	close_product(out, path);
	free(path);
}

/* ---- tracing ---- */

static void handle_signals(void (*handler)(int), int flags)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags}, old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

/*
 * The first interrupt lets a write to a slow reader finish, the second aborts it, a third is not
 * caught. timeout(1) sends each one twice, to us and to our process group: interrupts within
 * ECHO_MS of the first count as the same. If the second one has no effect for LEAVE_MS, that counts
 * as a third.
 */
static void on_signal(int sig)
{
	static const struct itimerval echo = {.it_value.tv_usec = ECHO_MS * 1000},
				      leave = {.it_value.tv_usec = LEAVE_MS * 1000};

	if (sig == SIGALRM && leaving) {
		top_restore();
		handle_signals(SIG_DFL, 0);
		raise(SIGINT);
	} else if (sig == SIGALRM) {
		echo_over = 1;
		handle_signals(on_signal, 0);
	} else if (interrupts == 0) {
		interrupts = 1;
		setitimer(ITIMER_REAL, &echo, NULL);
	} else if (echo_over) {
		interrupts++;
		leaving = 1;
		handle_signals(SIG_DFL, 0);
		setitimer(ITIMER_REAL, &leave, NULL);
		if (interrupted_handle)
			dtrace_abandon(interrupted_handle);
	}
	if (interrupted_handle)
		dtrace_interrupt(interrupted_handle);
}

/* The reader of our output is gone: act as if interrupted twice, without a message. */
static void on_pipe(int sig)
{
	(void)sig;
	broken_pipe = 1;
	interrupts = 2;
}

/* Release everything, the command of -c included, and exit. */
static _Noreturn void leave_at_once(dtrace_hdl_t *h)
{
	static const struct itimerval never;

	setitimer(ITIMER_REAL, &never, NULL); /* ending a command may take longer */
	leaving = 0;
	top_restore();
	close_handle(h);
	if (broken_pipe) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	_exit(status); /* writing what is left in buffers could block again */
}

/* A signal may come while the handle is being closed. */
void close_handle(dtrace_hdl_t *h)
{
	interrupted_handle = NULL;
	messages_like(NULL);
	dtrace_close(h);
}

static void catch_signals(dtrace_hdl_t *h)
{
	struct sigaction alarm = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction pipe = {.sa_handler = on_pipe}, old;
	sigset_t set;

	interrupted_handle = h;
	handle_signals(on_signal, SA_RESTART);
	sigaction(SIGALRM, &alarm, NULL);
	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGPIPE, &pipe, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM); /* our parent may have blocked it */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int on_diag(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	fflush(arg);
	if (top_takes(text))
		return 0;
	if (kind == DTRACE_DIAG_NOTE)
		notice(h, "%s", text);
	else
		complain("%s", text);
	return 0;
}

static bool is_text(dtrace_hdl_t *h)
{
	uint64_t format = 0;

	dtrace_getopt(h, "oformat", &format);
	return format == 0;
}

static unsigned enable_programs(dtrace_hdl_t *h, const struct args *a, FILE *out)
{
	struct list_arg l = {out, true};
	unsigned total = 0;

	for (int i = 0; i < a->nprograms; i++) {
		const struct program *p = &a->programs[i];
		struct dtrace_proginfo info = {0};

		if (!a->compile_only) {
			progress(h, "finding probes of %s", p->name);
			if (dtrace_enable(h, p->prog, &info) < 0)
				fatal_handle(h, "failed to enable '%s'", p->name);
			progress_end();
			notice(h, "%s '%s' matched %u probe%s",
			       p->is_file ? "script" : "description", p->name, info.matches,
			       info.matches == 1 ? "" : "s");
		}
		if (a->verbose)
			dtrace_stability(p->prog, is_text(h) || a->compile_only ? out : stderr);
		if (a->verbose && a->compile_only) {
			list_heading(out);
			dtrace_program_probes(h, p->prog, list_probe, &l);
		}
		total += info.matches + info.growing;
	}
	return total;
}

/* Process available records; an error ends the run unless the user has interrupted it. */
static bool work(dtrace_hdl_t *h, FILE *out)
{
	enum dtrace_work_status st = dtrace_work(h, out);

	if (fflush(out) == EOF)
		clearerr(out);
	if (st == DTRACE_WORK_ERROR && interrupts < 2)
		fatal_handle(h, "processing aborted");
	return st != DTRACE_WORK_OKAY;
}

/* Options whose value may change when tracing starts. */
static const struct granted {
	const char *option, *name;
	bool is_rate;
} granted[] = {
    {"bufsize", "buffer size", false},	     {"aggsize", "aggregation size", false},
    {"specsize", "speculation size", false}, {"dynvarsize", "dynamic variable size", false},
    {"cleanrate", "cleaning rate", true},    {"statusrate", "status rate", true},
};
enum { NGRANTED = sizeof(granted) / sizeof(granted[0]) };

/* Also when quiet. */
static void say(dtrace_hdl_t *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(dtrace_hdl_t *h, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (is_text(h))
		complain("%s", text);
	else
		dtrace_tell(h, DTRACE_DIAG_NOTE, text);
}

static void say_size(dtrace_hdl_t *h, const char *name, uint64_t size)
{
	const char *unit = "\0kmgt";

	for (; size && size % 1024 == 0 && unit[1]; unit++)
		size /= 1024;
	say(h, "%s lowered to %" PRIu64 "%.1s", name, size, unit);
}

static void say_rate(dtrace_hdl_t *h, const char *name, uint64_t asked, uint64_t ns)
{
	const char *way = ns > asked ? "reduced" : "increased";
	const uint64_t second = 1000000000;

	if (ns && second % ns == 0)
		say(h, "%s %s to %" PRIu64 " hz", name, way, second / ns);
	else if (ns % second == 0)
		say(h, "%s %s to once every %" PRIu64 " seconds", name, way, ns / second);
	else
		say(h, "%s %s to once every %" PRIu64 " nanoseconds", name, way, ns);
}

static void go(dtrace_hdl_t *h)
{
	uint64_t asked[NGRANTED] = {0}, got;

	for (int i = 0; i < NGRANTED; i++)
		dtrace_getopt(h, granted[i].option, &asked[i]);
	progress(h, "enabling probes");
	if (dtrace_go(h) < 0)
		fatal_handle(h, "could not enable tracing");
	progress_end();
	for (int i = 0; i < NGRANTED; i++) {
		const struct granted *g = &granted[i];

		if (dtrace_getopt(h, g->option, &got) < 0 || got == asked[i])
			continue;
		if (g->is_rate)
			say_rate(h, g->name, asked[i], got);
		else
			say_size(h, g->name, got);
	}
}

/* Until there may be work. True: the user wants to quit. */
static bool wait_for_work(dtrace_hdl_t *h, const struct args *a)
{
	if (a->top)
		return top_wait(h);
	if (a->serve)
		serve_wait(h);
	else
		dtrace_sleep(h);
	return false;
}

static void trace(dtrace_hdl_t *h, FILE *out, const struct args *a)
{
	uint64_t destructive = 0;
	FILE *shown = out;

	if (a->top)
		out = top_open(out);
	catch_signals(h);
	dtrace_handle_diag(h, on_diag, out);
	if (a->serve)
		serve_begin(h, a);
	if (dtrace_set_output(h, out) < 0)
		fatal_handle(h, "could not enable tracing");
	go(h);
	dtrace_getopt(h, "destructive", &destructive);
	if (destructive)
		notice(h, "allowing destructive actions");
	if (a->top)
		top_begin(h);
	while (!interrupts && !work(h, out) && !interrupts && !wait_for_work(h, a))
		;
	top_restore();
	if (interrupts && is_text(h))
		fputc('\n', out); /* after the terminal's ^C; also in quiet mode */
	/* Stopping prints the records before END, which would block again, or fail. */
	if (interrupts < 2 && dtrace_stop(h) < 0 && interrupts < 2)
		fatal_handle(h, "couldn't stop tracing");
	if (interrupts < 2)
		work(h, out);
	if (interrupts < 2 && dtrace_aggregate_print(h, out) < 0 && interrupts < 2)
		fatal_handle(h, "failed to print aggregations");
	if (interrupts >= 2)
		leave_at_once(h);
	if (a->top)
		top_end(out, shown);
	if (a->serve)
		serve_end(h);
	if (status == 0)
		status = dtrace_exit_status(h) & 0xff;
}

static void trace_mode(dtrace_hdl_t *h, const struct args *a)
{
	FILE *out = open_output(a->output, a->compile_only ? "ae" : dtrace_output_mode(h));
	unsigned total;
	uint64_t zdefs = 0;

	if (a->serve && !a->compile_only)
		serve_open(a->serve, NULL); /* an address that cannot be used is known before long work */
	total = enable_programs(h, a, out);
	if (a->compile_only && a->nprograms) {
		end_output(out);
		return;
	}
	dtrace_getopt(h, "zdefs", &zdefs);
	if (total == 0 && !a->anonymous && !(zdefs && a->nprograms))
		fatal("no probes %s", a->nprograms ? "matched" : "specified");
	trace(h, out, a);
	end_output(out);
}

static bool was_interrupted(void)
{
	return interrupts > 0;
}

static void attach_mode(dtrace_hdl_t *h, const struct args *a)
{
	FILE *out = open_output(a->output, "ae");

	catch_signals(h);
	dtrace_handle_diag(h, on_diag, out);
	status = show_attached(h, a, out, was_interrupted);
	end_output(out);
}

/* Files opened later must not become standard output by taking a number that is free. */
static void need_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

int main(int argc, char **argv)
{
	static struct args a; /* static: what it points to is never freed, and never lost */
	dtrace_hdl_t *h;
	int error = 0;

	need_standard_files();
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, we could not wait for child processes */
	args_parse(&a, argc, argv);
	if (a.mode == MODE_VERSION)
		return show_version();
	if (a.mode == MODE_OPTIONS)
		return show_options();
	if (a.mode == MODE_TOOLS)
		return show_tools();
	if (a.mode == MODE_ANON)
		fatal(
		    "anonymous tracing (-A) is not available: there is no boot-time tracing state");
	h = dtrace_open(
	    &(struct dtrace_open_opts){.size = sizeof(struct dtrace_open_opts), .error = &error});
	if (!h)
		fatal("failed to initialize dtrace: %s", strerror(error));
	messages_like(h);
	set_options(h, &a);
	if (a.model32)
		notice(h, "-32 has no effect: D programs use the types of the kernel, which is "
			  "64-bit");
	dtrace_handle_diag(h, on_diag, stdout);
	start_processes(h, &a);
	if (!a.machines || a.mode != MODE_LIST)
		compile_programs(h, &a);
	switch (a.mode) {
	case MODE_INFO: status = show_info(h); break;
	case MODE_MACHINES: status = show_machines(h); break;
	case MODE_ATTACH:
		if (*a.attach)
			attach_mode(h, &a);
		else
			status = show_sessions(h);
		break;
	case MODE_LIST:
		if (a.machines)
			status = list_machines(h, &a, open_output(a.output, "ae"));
		else
			list(h, &a, open_output(a.output, "ae"));
		break;
	case MODE_HEADER: make_headers(h, &a); break;
	case MODE_OBJECT: make_object(h, &a); break;
	default: trace_mode(h, &a); break;
	}
	close_handle(h);
	return status;
}
