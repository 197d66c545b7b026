/*
 * progress: on a terminal, what takes so long.
 *
 * Work before tracing can take seconds: reading the debug information of a large program, enabling tens of thousands
 * of probes. After half a second a line on standard error says what is being done, how much of it is done if that is known, and for
 * how long; it is erased when that is done, or when something else is printed.
 *
 * A thread draws the line, since the work does not return here meanwhile. It uses nothing but dtrace_progress() and write(2).
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "args.h"

#define FIRST_MS 500
#define NEXT_MS	 200
#define ERASE	 "\r\033[K"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running, ending, shown;
static dtrace_hdl_t *handle;
static char what[200];
static struct timespec began;

static void put(const char *s, size_t n)
{
	ssize_t ignored = write(2, s, n);

	(void)ignored;
}

static void draw(void)
{
	struct dtrace_progress p = {.size = sizeof(p)};
	struct winsize ws = {0};
	struct timespec now;
	char line[500], count[64] = "";
	int n, width;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ioctl(2, TIOCGWINSZ, &ws);
	width = ws.ws_col > 20 && ws.ws_col < 200 ? ws.ws_col - 1 : 79;
	dtrace_progress(handle, &p);
	if (p.total)
		snprintf(count, sizeof(count), "%llu of %llu, ", (unsigned long long)p.done,
			 (unsigned long long)p.total);
	n = snprintf(line, sizeof(line), "dtrace: %s: %s%s%s%lld s", what, p.what,
		     *p.what ? ": " : "", count, (long long)(now.tv_sec - began.tv_sec));
	put(ERASE, sizeof(ERASE) - 1);
	put(line, (size_t)(n < width ? n : width));
	shown = true;
}

static void *show(void *arg)
{
	struct timespec next = began;

	(void)arg;
	pthread_mutex_lock(&lock);
	for (int ms = FIRST_MS; !ending; ms = NEXT_MS) {
		next.tv_nsec += ms * 1000000L;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		while (!ending && pthread_cond_clockwait(&done, &lock, CLOCK_MONOTONIC, &next) == 0)
			;
		if (!ending)
			draw();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

void progress(dtrace_hdl_t *h, const char *fmt, ...)
{
	const char *term = getenv("TERM");
	sigset_t all, old;
	va_list ap;

	progress_end();
	if (!isatty(2) || (term && strcmp(term, "dumb") == 0))
		return;
	handle = h;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (char *p = what; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' '; /* a program has more than one line */
	clock_gettime(CLOCK_MONOTONIC, &began);
	ending = shown = false;
	sigfillset(&all); /* signals are for the other thread */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	running = pthread_create(&thread, NULL, show, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_end(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_cond_signal(&done);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	running = false;
	if (shown)
		put(ERASE, sizeof(ERASE) - 1);
}
