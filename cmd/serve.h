/*
 * serve: a page that shows the trace while it runs, served by this process (--serve).
 *
 *   serve.c        where it listens, the token, the loop
 *   serve_http.c   requests, and the streams of readers
 *   serve_data.c   what is shown: the latest events, the aggregations of a moment as JSON
 *   serve_past.c   what the charts show of the time before a page was opened
 *   microhttpd.c   the library for HTTP
 *   page/          the page; its flame graph is that of src/format
 *
 * All in one thread, between pieces of work on the trace: the handle needs no lock. Nothing waits for a reader. Each has
 * one message under way; when that is sent it gets what is new then, so a slow one loses frames, and memory has a bound.
 * The trace and its output are what they would be without --serve.
 */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtrace.h"

struct args;

/* NULL: some port, loopback. keep: a file that keeps the token; NULL: none. Ends the process if that fails */
void serve_open(const char *where, const char *keep);
void serve_begin(dtrace_hdl_t *h, const struct args *a); /* before dtrace_go() */
void serve_wait(dtrace_hdl_t *h);			 /* until there may be work; serves meanwhile */
void serve_end(dtrace_hdl_t *h); /* the last state, to those who read it at once */
bool serve_is_address(const char *word); /* does it look like one: "addr:port"? */

/* ---- text that grows ---- */
struct buffer {
	char *s;
	size_t n, room;
};
void buffer_add(struct buffer *b, const void *data, size_t n);
void buffer_print(struct buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buffer_string(struct buffer *b, const char *s, size_t n); /* as a JSON string */
void buffer_free(struct buffer *b);

/* ---- serve_data.c ---- */
/* A place in the events: what comes next. Zero: the oldest that are kept. */
struct place {
	uint64_t piece, line;
};
int data_take_events(const void *data, size_t n, void *arg); /* a dtrace_output_f */
bool data_has_events(const struct place *p);
/* Add the lines from there on, the latest of them if they are more than `most` bytes, each after `prefix`. How many are left
 * out. */
uint64_t data_events(struct place *p, size_t most, const char *prefix, struct buffer *out);
/* The aggregations and losses as they are, one JSON object. Rows whose stacks are not named yet are left out, unless it is the last
 * frame. True: there are some. */
bool data_frame(dtrace_hdl_t *h, struct buffer *out, bool last);
/* Name them, for at most that long. True: there are more. */
bool data_name(dtrace_hdl_t *h, unsigned ms);

/* ---- serve_past.c: for each frame past_begin(); for each aggregation in it past_agg(), past_row() ..., past_agg_end() ---- */
void past_begin(void);
void past_agg(const struct dtrace_rowinfo *i, const char *head, size_t nhead); /* its members, as JSON */
/* A row, its keys as a JSON array; what it counts; how many rows follow. */
void past_row(const char *keys, size_t nkeys, const struct dtrace_rowinfo *i, int64_t value, size_t left);
void past_agg_end(uint64_t time, size_t nrows); /* all its rows, also those that are not shown */
void past_write(struct buffer *out); /* as JSON: the points of all aggregations */
void past_free(void);

/* ---- serve_http.c ---- */
void http_begin(dtrace_hdl_t *h, int listener, const char *token, const char *program);
int http_fd(void);
int http_timeout(void); /* ms until http_run() is due; -1: never */
void http_run(void);
bool http_is_watched(void); /* a client would read a new frame now */
bool http_frame(dtrace_hdl_t *h, bool last); /* see data_frame() */
bool http_has_news(void);   /* some reader waits for what is there already */
void http_wake(void);	    /* send it */
uint64_t http_sent(void);    /* bytes of streams that readers have taken */
bool http_end(void);	/* after the last frame: streams end. True: all is sent */
void http_stop(void);

/* ---- the files of the page: made by packaging/embed ---- */
struct page_file {
	const char *dir, *name; /* NULL: the end of the table */
	const char *text, *end;
};
extern const struct page_file page_files[];

#endif
