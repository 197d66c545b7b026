/*
 * diagnose: messages on standard error.
 *
 * In a pipe or a file the text is DTrace's plain form, one line per message. On a terminal an error
 * in a program is followed by the source line and a caret, in colour unless NO_COLOR is set.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "top.h"

static bool use_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(2) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

static const dtrace_hdl_t *format_of; /* its output format is also that of messages; NULL: plain */

void messages_like(const dtrace_hdl_t *h)
{
	format_of = h;
}

/* A whole line; error: it ends in the error of the handle. */
static void say(const dtrace_hdl_t *error, const char *fmt, va_list ap)
{
	char *what = NULL, *text = NULL;

	if (vasprintf(&what, fmt, ap) < 0 || asprintf(&text, "%s%s%s", what, error ? ": " : "",
						      error ? dtrace_errtext(error) : "") < 0) {
		fputs("dtrace: out of memory\n", stderr);
		_exit(EXIT_FATAL);
	}
	progress_end();
	top_restore(); /* a message on its screen would be lost */
	fflush(stdout);
	if (!format_of || !dtrace_message_write(format_of, text, error != NULL, stderr))
		fprintf(stderr, "%s%s\n",
			use_colour() ? "\033[1mdtrace:\033[0m " : "dtrace: ", text);
	free(what);
	free(text);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(NULL, fmt, ap);
	va_end(ap);
}

void fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(NULL, fmt, ap);
	va_end(ap);
	exit(EXIT_FATAL);
}

void notice(dtrace_hdl_t *h, const char *fmt, ...)
{
	uint64_t quiet = 0;
	va_list ap;

	dtrace_getopt(h, "quiet", &quiet);
	if (quiet)
		return;
	va_start(ap, fmt);
	say(NULL, fmt, ap);
	va_end(ap);
}

/* Is this the first byte of a character of UTF-8? */
static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

char *around_error(const dtrace_hdl_t *h, const char *program)
{
	enum { SHORT = 72, BEFORE = 24 };
	const char *line = program, *found;
	size_t n = strlen(program), from = 0, to;
	struct dtrace_errpos pos;
	char *text = NULL;

	dtrace_errwhere(h, &pos);
	if ((n > SHORT || strchr(program, '\n')) && pos.source &&
	    (found = strstr(program, pos.source))) {
		line = found; /* the error may be in a library instead */
		from = pos.column > BEFORE ? pos.column - BEFORE : 0;
	}
	n = strcspn(line, "\n");
	if (n <= SHORT)
		from = 0;
	else if (from > n - SHORT)
		from = n - SHORT;
	to = n - from > SHORT ? from + SHORT : n;
	while (from < to && !begins_character(line[from]))
		from++;
	while (to < n && !begins_character(line[to]))
		to++;
	if (asprintf(&text, "%s%.*s%s", line + from > program ? "..." : "", (int)(to - from),
		     line + from, line[to] ? "..." : "") < 0)
		_exit(EXIT_FATAL);
	return text;
}

/*
 *    3 | 	trace(foo;
 *      |           ^
 */
static void show_source(const dtrace_hdl_t *h)
{
	const char *red = use_colour() ? "\033[1;31m" : "", *off = use_colour() ? "\033[0m" : "";
	struct dtrace_errpos pos;

	dtrace_errwhere(h, &pos);
	if (!isatty(2) || !pos.source || !pos.source[0] || pos.line == 0)
		return;
	fprintf(stderr, "%5u | %s\n", pos.line, pos.source);
	if (pos.column == 0 || pos.column > strlen(pos.source) + 1)
		return;
	fputs("      | ", stderr);
	for (unsigned i = 0; i + 1 < pos.column; i++) {
		unsigned char c = (unsigned char)pos.source[i];

		if (c == '\t') /* the same tab stops as the line above */
			fputc('\t', stderr);
		else if ((c & 0xc0) != 0x80) /* one column per UTF-8 character */
			fputc(' ', stderr);
	}
	fprintf(stderr, "%s^%s\n", red, off);
}

void fatal_handle(dtrace_hdl_t *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(h, fmt, ap);
	va_end(ap);
	show_source(h);
	if (strcmp(dtrace_output_mode(h), "we") == 0)
		dtrace_aggregate_print(h,
				       NULL); /* a document that has begun is brought to its end */
	close_handle(h);		      /* so that a held -c command also ends */
	exit(EXIT_FATAL);
}
