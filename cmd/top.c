/*
 * top: the terminal of --top: its screen, keys and messages.
 *
 * The table is drawn on the alternate screen, so that the previous contents are restored. Every
 * exit of the process restores the terminal: the end, an error (atexit), a signal. Output goes to a
 * file meanwhile and is printed at the end, as if there had been no table: the last few MB of it,
 * since a table can be watched for days. It works over any connection: it reads only single letters
 * and does not query the terminal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "top.h"

#define ENTER	 "\033[?1049h\033[?25l" /* the other screen, no cursor */
#define LEAVE	 "\033[?25h\033[?1049l"
#define MESSAGES 100 /* kept for the end */
#define MOST                                                                                       \
	(4ull << 20) /* bytes of output kept for the end; above it, it is cut to the last KEPT */
#define KEPT (2ull << 20)

static struct termios saved;
static volatile sig_atomic_t active;
static top_table *table;
static struct top_style style;
static char *messages[MESSAGES];
static int nmessages;
static bool paused, raw_output;
static uint64_t next_ms, every_ms;
static FILE *kept;	   /* output for the end; NULL: it goes elsewhere */
static uint64_t forgotten; /* bytes of it */

FILE *top_open(FILE *out)
{
	FILE *file;

	if (!isatty(0) || !isatty(1))
		fatal("--top needs a terminal for input and output");
	if (out != stdout)
		return out;
	file = tmpfile();
	if (!file)
		fatal("cannot make a temporary file: %s", strerror(errno));
	return kept = file;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is_utf8(dtrace_hdl_t *h)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *encodings = dtrace_option_values("encoding");
	uint64_t encoding = 0;
	const char *value = NULL;

	dtrace_getopt(h, "encoding", &encoding);
	for (uint64_t i = 0; encodings && i < encoding; i++)
		encodings = strchr(encodings, '|') ? strchr(encodings, '|') + 1 : NULL;
	if (encoding)
		return encodings && strncmp(encodings, "utf8", 4) == 0;
	for (int i = 0; i < 3 && !(value && *value); i++)
		value = getenv(names[i]);
	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

/* ---- the terminal ---- */

static void put_all(const char *s, size_t n)
{
	while (n > 0) {
		ssize_t k = write(1, s, n);

		if (k < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (k > 0) {
			s += k;
			n -= (size_t)k;
		}
	}
}

void top_restore(void)
{
	if (!active)
		return;
	active = 0;
	tcsetattr(0, TCSANOW, &saved);
	put_all(LEAVE, sizeof(LEAVE) - 1);
}

static void on_resize(int sig)
{
	(void)sig; /* that poll() ends is enough */
}

void top_begin(dtrace_hdl_t *h)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	struct sigaction resize = {.sa_handler = on_resize};
	struct termios raw;
	uint64_t rate = 0, is_raw = 0;

	if (tcgetattr(0, &saved) < 0)
		fatal("--top: %s", strerror(errno));
	dtrace_getopt(h, "rawoutput", &is_raw);
	raw_output = is_raw;
	dtrace_getopt(h, "aggrate", &rate);
	every_ms = rate / 1000000 < 100 ? 100 : rate / 1000000;
	style.utf8 = is_utf8(h);
	style.colour = !(no && *no) && !(term && strcmp(term, "dumb") == 0);
	table = top_table_new();
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_lflag |= NOFLSH; /* ^C must not cut what is being drawn */
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* the screen would not be restored */
	atexit(top_restore);
	sigaction(SIGWINCH, &resize, NULL);
	active = 1;
	tcsetattr(0, TCSANOW, &raw);
	put_all(ENTER, sizeof(ENTER) - 1);
}

static void put_status(FILE *out)
{
	const char *last = nmessages ? messages[(nmessages - 1) % MESSAGES] : NULL;
	char text[512];

	snprintf(text, sizeof(text), "q quit  s by %s  p %s%s%s", style.by_rate ? "value" : "rate",
		 paused ? "go on" : "pause", last ? "  | " : "", last ? last : "");
	dtrace_make_safe(text, strlen(text), 1);
	fprintf(out, "%s%.*s%s\033[K", style.colour ? "\033[7m" : "", style.width - 1, text,
		style.colour ? "\033[0m" : "");
}

static void draw(void)
{
	struct winsize ws = {0};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		fatal("out of memory");
	ioctl(1, TIOCGWINSZ, &ws);
	style.width = ws.ws_col >= 20 ? ws.ws_col : 80;
	style.height = (ws.ws_row >= 4 ? ws.ws_row : 24) - 1;
	fputs("\033[H", out);
	top_table_draw(table, &style, out);
	fprintf(out, "\033[J\033[%d;1H", style.height + 1);
	put_status(out);
	if (fclose(out) == EOF)
		fatal("out of memory");
	put_all(text, n); /* in one piece: no partial screen is seen */
	free(text);
}

/* ---- keys ---- */

/* Handle the keys; true: quit. */
static bool read_keys(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		if (c == 'q' || c == 'Q')
			return true;
		if (c == 's')
			style.by_rate = !style.by_rate;
		if (c == 'p')
			paused = !paused;
	}
	return false;
}

/* Cut the output for the end if it is long. */
static void limit_output(void)
{
	off_t size = kept ? ftello(kept) : 0, from = size - (off_t)KEPT, to = 0;
	char buf[65536];
	ssize_t n;

	if (size <= (off_t)MOST || fflush(kept) != 0)
		return;
	while ((n = pread(fileno(kept), buf, sizeof(buf), from + to)) > 0 &&
	       pwrite(fileno(kept), buf, (size_t)n, to) == n)
		to += n;
	if (ftruncate(fileno(kept), to) == 0 && fseeko(kept, to, SEEK_SET) == 0)
		forgotten += (uint64_t)(size - to);
}

bool top_wait(dtrace_hdl_t *h)
{
	struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = dtrace_fd(h), .events = POLLIN}};
	uint64_t now = now_ms();

	if (now >= next_ms) {
		if (!paused)
			top_table_take(table, h);
		next_ms = now + every_ms;
	}
	draw();
	limit_output();
	poll(fds, 2, next_ms > now ? (int)(next_ms - now) : 1);
	if (fds[0].revents & (POLLHUP | POLLERR))
		return true; /* the terminal is gone */
	return read_keys();
}

/* ---- messages ---- */

bool top_takes(const char *text)
{
	char **slot = &messages[nmessages % MESSAGES];

	if (!table)
		return false;
	nmessages++;
	free(*slot);
	*slot = strdup(text);
	return *slot != NULL;
}

/* Standard output is a terminal, but the text was written for a file, with whatever control characters were in it. */
static void show(FILE *text)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	rewind(text);
	if (forgotten && getline(&line, &room, text) > 0) { /* the rest of a line */
	}
	while ((n = getline(&line, &room, text)) > 0) {
		if (!raw_output)
			dtrace_make_safe(line, (size_t)n, 1);
		fwrite(line, 1, (size_t)n, stdout);
	}
	free(line);
	fclose(text);
	kept = NULL;
}

void top_end(FILE *text, FILE *out)
{
	int first = nmessages > MESSAGES ? nmessages - MESSAGES : 0;

	top_restore();
	top_table_free(table);
	table = NULL;
	if (text != out)
		show(text);
	fflush(stdout);
	if (forgotten)
		complain(
		    "the first %llu MB of the output are not shown; use -o FILE to keep all of it",
		    (unsigned long long)forgotten >> 20);
	forgotten = 0;
	if (first)
		complain("%d messages not shown", first);
	for (int i = first; i < nmessages; i++) {
		complain("%s", messages[i % MESSAGES]);
		free(messages[i % MESSAGES]);
	}
	nmessages = 0;
}
