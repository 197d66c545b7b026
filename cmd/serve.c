/*
 * serve: where --serve listens, how access is limited, and the loop that serves while the trace runs.
 *
 * Only processes of this machine reach it unless another address is given, and only those that know the token, 128 random
 * bits in the address that is printed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "microhttpd.h"
#include "serve.h"

#define PUSH_MS	 100 /* between messages to one reader */
#define LEAST_MS 200 /* between frames */
#define SHARE	 40  /* a frame that took one unit of CPU time is followed by that many without */
#define UNSEEN	 100 /* the same if no page reads it: it is only kept for the charts */
#define WAIT	 4   /* the same for time that it waited, and for finding names of addresses */
#define NAME_MS	 50  /* for finding them, at a time */
#define STUCK_MS 500 /* at the end, a reader that takes nothing for so long is not waited for ... */
#define LAST_MS	 5000 /* ... and no reader longer than that */

union address {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int listener = -1;
static char token[33];
static uint64_t frame_ms, next_frame, next_push, next_name;
static bool unnamed; /* rows of the last frame are missing until they have names */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / 1000000;
}

/* ---- the address ---- */

bool serve_is_address(const char *word)
{
	const char *colon = word ? strrchr(word, ':') : NULL;

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
	       strspn(word, "0123456789abcdefABCDEF.:[]localhst") == strlen(word);
}

/* "addr:port", "[addr]:port", ":port", "addr" or "port"; what is missing is loopback and any port. */
static socklen_t read_address(const char *where, union address *a)
{
	const char *end = where + strlen(where), *colon = strrchr(where, ':'), *host = where;
	char *rest, text[64];
	long port = 0;
	size_t n;

	if (strspn(where, "0123456789") == strlen(where))
		colon = where - 1; /* a port alone */
	else if (!colon || end[-1] == ']')
		colon = end;
	errno = 0;
	if (colon < end)
		port = strtol(colon + 1, &rest, 10);
	if (colon < end && (*rest || rest == colon + 1 || errno || port < 0 || port > 65535))
		fatal("--serve %s: the port is a number from 0 to 65535", where);
	n = colon > where ? (size_t)(colon - where) : 0;
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	snprintf(text, sizeof(text), "%.*s", (int)n, host);
	if (n == 0 || strcmp(text, "localhost") == 0)
		strcpy(text, "127.0.0.1");
	memset(a, 0, sizeof(*a));
	if (n < sizeof(text) && inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons((uint16_t)port);
		return sizeof(a->v4);
	}
	if (n < sizeof(text) && inet_pton(AF_INET6, text, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons((uint16_t)port);
		return sizeof(a->v6);
	}
	fatal("--serve %s: not an address: addr:port is expected, for example 127.0.0.1:8080 or "
	      "[::1]:8080",
	      where);
}

static bool is_loopback(const union address *a)
{
	return a->sa.sa_family == AF_INET ? ntohl(a->v4.sin_addr.s_addr) >> 24 == 127
					  : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static void say_where(const union address *a)
{
	bool v4 = a->sa.sa_family == AF_INET;
	char host[INET6_ADDRSTRLEN];

	inet_ntop(a->sa.sa_family, v4 ? (const void *)&a->v4.sin_addr : &a->v6.sin6_addr, host,
		  sizeof(host));
	complain("serving http://%s%s%s:%u/%s/", v4 ? "" : "[", host, v4 ? "" : "]",
		 ntohs(v4 ? a->v4.sin_port : a->v6.sin6_port), token);
	if (!is_loopback(a))
		complain("other machines can reach this address; whoever has the token sees the "
			 "trace, and it is not "
			 "encrypted");
}

/* One that was kept stays the same, so that an address can be written down. */
static bool read_token(const char *keep)
{
	FILE *f = keep ? fopen(keep, "re") : NULL;
	bool whole = f && fgets(token, sizeof(token), f) && strspn(token, "0123456789abcdef") == sizeof(token) - 1;

	if (f)
		fclose(f);
	return whole;
}

static void keep_token(const char *keep)
{
	int fd = open(keep, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || dprintf(fd, "%s\n", token) < 0)
		complain("cannot keep the token in %s: %s", keep, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void make_token(const char *keep)
{
	unsigned char random[16];

	if (read_token(keep))
		return;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		fatal("--serve: no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	if (keep)
		keep_token(keep);
}

void serve_open(const char *where, const char *keep)
{
	const char *name = where && *where ? where : ":0";
	union address a;
	socklen_t n = read_address(name, &a);
	int yes = 1;

	http_load();
	make_token(keep);
	listener = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(listener, &a.sa, n) < 0 || listen(listener, 64) < 0)
		fatal("--serve: cannot listen on %s: %s", name, strerror(errno));
	n = sizeof(a);
	getsockname(listener, &a.sa, &n);
	say_where(&a);
}

/* ---- the loop ---- */

void serve_begin(dtrace_hdl_t *h, const struct args *a)
{
	struct buffer program = {0};
	uint64_t rate = 0;

	for (int i = 0; i < a->nprograms; i++) {
		buffer_print(&program, "%s%s", i ? "\n" : "", a->programs[i].is_file ? "-s " : "");
		buffer_add(&program, a->programs[i].text, strlen(a->programs[i].text));
	}
	dtrace_getopt(h, "aggrate", &rate);
	frame_ms = rate / 1000000 < LEAST_MS ? LEAST_MS : rate / 1000000;
	http_begin(h, listener, token, program.s ? program.s : "");
	buffer_free(&program);
	dtrace_handle_events(h, data_take_events, NULL);
}

/* When something that began at these two times may be done again. */
static uint64_t next_turn(uint64_t begin_ms, uint64_t begin_cpu, unsigned share)
{
	uint64_t cost = (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu) * share / 1000000;
	uint64_t end = now_ms(), waited = (end - begin_ms) * WAIT;

	return end + (waited > cost ? waited : cost);
}

static void make_frame(dtrace_hdl_t *h, uint64_t now)
{
	uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), turn;

	unnamed = http_frame(h, false);
	turn = next_turn(now, cpu, http_is_watched() ? SHARE : UNSEEN);
	next_frame = now + frame_ms > turn ? now + frame_ms : turn;
	next_push = now;
}

/* A little at a time: the trace needs this thread. */
static void find_names(dtrace_hdl_t *h, uint64_t now)
{
	uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);

	unnamed = data_name(h, NAME_MS);
	next_name = next_turn(now, cpu, SHARE);
	if (next_frame < next_name && !unnamed)
		next_frame = next_name;
}

/* Milliseconds until that, or `due` if it is less; -1: never. */
static int earlier(int due, uint64_t time, uint64_t now)
{
	int left = time > now ? (int)(time - now) : 0;

	return due >= 0 && due < left ? due : left;
}

void serve_wait(dtrace_hdl_t *h)
{
	struct pollfd fds[] = {{.fd = http_fd(), .events = POLLIN},
			       {.fd = dtrace_fd(h), .events = POLLIN}};
	uint64_t now = now_ms();
	int due = http_timeout();

	if (now >= next_frame)
		make_frame(h, now); /* also without a page: a new one shows the past */
	else if (unnamed && now >= next_name)
		find_names(h, now);
	if (now >= next_push && http_has_news()) {
		http_wake();
		next_push = now + PUSH_MS;
		due = 0;
	}
	due = earlier(due, next_frame, now);
	if (unnamed)
		due = earlier(due, next_name, now);
	if (http_has_news())
		due = earlier(due, next_push, now);
	poll(fds, 2, due);
	http_run();
}

void serve_end(dtrace_hdl_t *h)
{
	uint64_t now = now_ms(), end = now + LAST_MS, moved = now, sent = http_sent();

	if (http_is_watched())
		http_frame(h, true);
	while (!http_end() && now < end && now - moved < STUCK_MS) {
		poll(&(struct pollfd){.fd = http_fd(), .events = POLLIN}, 1, 10);
		now = now_ms();
		if (http_sent() != sent)
			moved = now;
		sent = http_sent();
	}
	http_stop();
	listener = -1;
}
