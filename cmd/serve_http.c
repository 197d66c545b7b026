/*
 * serve_http: the requests of --serve.
 *
 * Everything is below /TOKEN/; without it there is only 403. Requests are answered from memory: the files of the page,
 * documents made of the aggregations, and two streams: `stream` for the page (server-sent events) and `events` (ndjson).
 * No path of a request is a path of a file.
 *
 * A document takes time that the trace cannot use, so one that was made is given out again while it is young: for AGE
 * times the CPU time that it took to make, and WAIT times the time that passed.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "microhttpd.h"
#include "serve.h"

#define CONNECTIONS 64
#define STREAMS	    16
#define TIMEOUT	    120		 /* seconds without progress; making a document on a busy machine is none */
#define SEND_EVENTS (256u << 10) /* at most, in one message */
#define AGE	    40
#define WAIT	    4

struct client { /* of a stream */
	struct client *next;
	struct MHD_Connection *connection;
	bool page;	/* server-sent events; else ndjson */
	bool suspended; /* it has all there is */
	struct place place;
	uint64_t frame;	   /* the last that it got */
	struct buffer out; /* the message under way */
	size_t at;
};

static struct server {
	dtrace_hdl_t *h;
	struct MHD_Daemon *daemon;
	const char *token;
	struct client *clients;
	int nclients;
	uint64_t sent;
	struct buffer hello; /* the first message to a page; what has been follows */
	struct buffer frame; /* the latest, as a message */
	uint64_t nframes;
	bool ended;
} server;

/* ---- answers ---- */

static const struct header {
	const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "    \
	"'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static int answer(struct MHD_Connection *c, unsigned status, const char *type,
		  struct MHD_Response *r)
{
	int rc;

	if (!r)
		return 0; /* no memory: the connection is closed */
	http.add_response_header(r, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		http.add_response_header(r, headers[i].name, headers[i].value);
	if (status == 405)
		http.add_response_header(r, "Allow", "GET, HEAD");
	rc = http.queue_response(c, status, r);
	http.destroy_response(r);
	return rc;
}

static int answer_text(struct MHD_Connection *c, unsigned status, const char *type,
		       const void *text, size_t n)
{
	return answer(c, status, type,
		      http.create_response_from_buffer(n, (void *)(uintptr_t)text, HTTP_COPY));
}

static int refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
	return answer_text(c, status, "text/plain; charset=utf-8", why, strlen(why));
}

static const char *type_of(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
	    {".html", "text/html; charset=utf-8"},
	    {".css", "text/css; charset=utf-8"},
	    {".js", "text/javascript; charset=utf-8"},
	};
	const char *suffix = strrchr(name, '.');

	for (size_t i = 0; suffix && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].suffix, suffix) == 0)
			return types[i].type;
	return "text/plain; charset=utf-8";
}

static int answer_file(struct MHD_Connection *c, const char *name)
{
	const char *wanted = *name ? name : "live.html";
	struct MHD_Response *r;

	for (const struct page_file *f = page_files; f->name; f++) {
		if (strcmp(f->name, wanted) != 0)
			continue;
		r = http.create_response_from_buffer((size_t)(f->end - f->text),
						     (void *)(uintptr_t)f->text, HTTP_COPY);
		if (r)
			http.add_response_header(r, "Content-Security-Policy", PAGE_POLICY);
		return answer(c, 200, type_of(wanted), r);
	}
	return refuse(c, 404, "there is no such page\n");
}

/* ---- documents ---- */

static struct document {
	const char *path, *format, *type;
	bool events; /* those that are kept come first */
	char *text;
	size_t n;
	uint64_t made, age; /* ns; when, and how long it is given out again */
} documents[] = {
    {"metrics", "prometheus", "text/plain; version=0.0.4; charset=utf-8", false, NULL, 0, 0, 0},
    {"trace.ndjson", "ndjson", "application/x-ndjson", true, NULL, 0, 0, 0},
    {"stacks.folded", "folded", "text/plain; charset=utf-8", false, NULL, 0, 0, 0},
    {"flamegraph.html", "flamegraph", "text/html; charset=utf-8", false, NULL, 0, 0, 0},
};
#define NDOCUMENTS (sizeof(documents) / sizeof(documents[0]))

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Between the document's first and last line, which are those of a trace of its own, are the rows. */
static void put_events_first(struct document *d)
{
	struct buffer all = {0};
	const char *rows = strchr(d->text, '\n'), *end = d->text + d->n - 1;

	while (end > d->text && end[-1] != '\n')
		end--;
	data_events(&(struct place){0}, SIZE_MAX, "", &all);
	if (rows && ++rows < end)
		buffer_add(&all, rows, (size_t)(end - rows));
	free(d->text);
	d->text = all.s;
	d->n = all.n;
}

/* 0, or -1 with the error in the handle. */
static int make_document(struct document *d)
{
	uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC), cost;
	FILE *out;
	int rc;

	free(d->text);
	d->text = NULL;
	d->n = 0;
	out = open_memstream(&d->text, &d->n);
	if (!out)
		fatal("out of memory");
	rc = dtrace_aggregate_write(server.h, d->format, out);
	if (fclose(out) == EOF)
		fatal("out of memory");
	if (d->events && rc == 0)
		put_events_first(d);
	d->made = now_ns(CLOCK_MONOTONIC);
	cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	d->age = AGE * cost > WAIT * (d->made - begin) ? AGE * cost : WAIT * (d->made - begin);
	return rc;
}

static int answer_document(struct MHD_Connection *c, struct document *d)
{
	if ((!d->text || now_ns(CLOCK_MONOTONIC) - d->made > d->age) && make_document(d) < 0)
		return refuse(c, 500, dtrace_errtext(server.h));
	return answer_text(c, 200, d->type, d->text, d->n);
}

/* ---- streams ---- */

/* The next message: what is new since the last. */
static void fill(struct client *c)
{
	struct buffer lines = {0};
	uint64_t lost;

	c->out.n = c->at = 0;
	if (c->page && !c->frame && server.nframes) {
		buffer_add(&c->out, server.hello.s, server.hello.n);
		buffer_print(&c->out, "event: past\ndata: ");
		past_write(&c->out);
		buffer_print(&c->out, "\n\n");
	}
	if (c->page && c->frame < server.nframes) {
		buffer_add(&c->out, server.frame.s, server.frame.n);
		c->frame = server.nframes;
	}
	if (data_has_events(&c->place)) {
		lost = data_events(&c->place, SEND_EVENTS, c->page ? "data: " : "", &lines);
		if (lost && c->page)
			buffer_print(&c->out, "event: lost\ndata: %llu\n\n",
				     (unsigned long long)lost);
		else if (lost)
			buffer_print(&c->out,
				     "{\"type\":\"note\",\"text\":\"%llu lines not sent: the "
				     "reader is too slow, or came too late\"}\n",
				     (unsigned long long)lost);
		if (c->page)
			buffer_print(&c->out, "event: log\n");
		buffer_add(&c->out, lines.s, lines.n);
		if (c->page)
			buffer_add(&c->out, "\n", 1);
		buffer_free(&lines);
	}
}

static bool has_news(const struct client *c)
{
	return c->at < c->out.n || server.ended || data_has_events(&c->place) ||
	       (c->page && c->frame < server.nframes);
}

static ssize_t read_stream(void *arg, uint64_t at, char *buf, size_t n)
{
	struct client *c = arg;

	(void)at;
	if (c->at == c->out.n)
		fill(c);
	if (c->at == c->out.n && server.ended)
		return HTTP_END;
	if (c->at == c->out.n) {
		c->suspended = true;
		http.suspend_connection(c->connection);
		return 0;
	}
	n = n < c->out.n - c->at ? n : c->out.n - c->at;
	memcpy(buf, c->out.s + c->at, n);
	c->at += n;
	server.sent += n;
	return (ssize_t)n;
}

static void end_stream(void *arg)
{
	struct client *c = arg, **p = &server.clients;

	while (*p && *p != c)
		p = &(*p)->next;
	if (*p)
		*p = c->next;
	server.nclients--;
	buffer_free(&c->out);
	free(c);
}

static int answer_stream(struct MHD_Connection *connection, bool page)
{
	struct client *c;

	if (server.nclients >= STREAMS)
		return refuse(connection, 503, "too many are watching already; close a page\n");
	c = calloc(1, sizeof(*c));
	if (!c)
		return 0;
	c->connection = connection;
	c->page = page;
	c->next = server.clients;
	server.clients = c;
	server.nclients++;
	return answer(connection, 200, page ? "text/event-stream" : "application/x-ndjson",
		      http.create_response_from_callback(HTTP_UNKNOWN_SIZE, 65536, read_stream, c,
							 end_stream));
}

bool http_has_news(void)
{
	for (const struct client *c = server.clients; c; c = c->next)
		if (c->suspended && has_news(c))
			return true;
	return false;
}

void http_wake(void)
{
	for (struct client *c = server.clients; c; c = c->next) {
		if (!c->suspended || !has_news(c))
			continue;
		c->suspended = false;
		http.resume_connection(c->connection);
	}
}

bool http_is_watched(void)
{
	for (const struct client *c = server.clients; c; c = c->next)
		if (c->page && c->at == c->out.n)
			return true;
	return false;
}

bool http_frame(dtrace_hdl_t *h, bool last)
{
	bool unnamed;

	server.frame.n = 0;
	buffer_print(&server.frame, "event: frame\ndata: ");
	unnamed = data_frame(h, &server.frame, last);
	buffer_print(&server.frame, "\n\n");
	server.nframes++;
	return unnamed;
}

/* ---- requests ---- */

/* In a time that does not depend on where they differ. */
static bool is_token(const char *s)
{
	const char *t = server.token;
	size_t n = strlen(t);
	unsigned char differs = 0;

	if (strnlen(s, n) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(s[i] ^ t[i]);
	return !differs && s[n] == '/';
}

static int on_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
		      const char *version, const char *upload, size_t *nupload, void **state)
{
	const char *name;

	(void)arg;
	(void)version;
	(void)upload;
	if (path[0] != '/' || !is_token(path + 1))
		return refuse(c, 403,
			      "the address has a token, which dtrace prints when it starts\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(c, 405, "there is nothing to change here\n");
	if (!*state ||
	    *nupload) { /* an answer that comes too early closes the connection; data is ignored */
		*state = &server;
		*nupload = 0;
		return HTTP_YES;
	}
	name = path + 1 + strlen(server.token) + 1;
	if (strcmp(name, "stream") == 0 || strcmp(name, "events") == 0)
		return answer_stream(c, name[0] == 's');
	for (size_t i = 0; i < NDOCUMENTS; i++)
		if (strcmp(name, documents[i].path) == 0)
			return answer_document(c, &documents[i]);
	return answer_file(c, name);
}

/* ---- the server ---- */

void http_begin(dtrace_hdl_t *h, int listener, const char *token, const char *program)
{
	server.h = h;
	server.token = token;
	buffer_print(&server.hello, "retry: 1000\nevent: hello\ndata: {\"program\":");
	buffer_string(&server.hello, program, strlen(program));
	buffer_print(&server.hello, "}\n\n");
	server.daemon =
	    http.start_daemon(HTTP_USE_EPOLL | HTTP_ALLOW_SUSPEND, 0, NULL, NULL, on_request, NULL,
			      HTTP_OPTION_LISTEN_SOCKET, listener, HTTP_OPTION_CONNECTION_LIMIT,
			      (unsigned)CONNECTIONS, HTTP_OPTION_CONNECTION_TIMEOUT,
			      (unsigned)TIMEOUT, HTTP_OPTION_END);
	if (!server.daemon)
		fatal("--serve: cannot start the server");
}

int http_fd(void)
{
	const int *fd = http.get_daemon_info(server.daemon, HTTP_INFO_EPOLL_FD);

	return fd ? *fd : -1;
}

int http_timeout(void)
{
	unsigned long long ms;

	if (http.get_timeout(server.daemon, &ms) != HTTP_YES)
		return -1;
	return ms < 1000 ? (int)ms : 1000;
}

void http_run(void)
{
	http.run(server.daemon);
}

uint64_t http_sent(void)
{
	return server.sent;
}

bool http_end(void)
{
	server.ended = true;
	http_wake();
	http_run();
	return server.nclients == 0;
}

void http_stop(void)
{
	server.ended = true;
	for (struct client *c = server.clients; c; c = c->next) {
		if (c->suspended)
			http.resume_connection(c->connection);
		c->suspended = false;
	}
	http.stop_daemon(server.daemon);
	buffer_free(&server.hello);
	buffer_free(&server.frame);
	past_free();
	for (size_t i = 0; i < NDOCUMENTS; i++)
		free(documents[i].text);
}
