/*
 * tunnel: a stream of bytes in both directions over two subjects of a NATS server (nats.h).
 *
 * A message is two little-endian 64-bit numbers, the kind and an offset, and for DATA the bytes of the stream from that offset on.
 * ACK says up to where bytes have come; it is also sent every BEAT, so that each side knows that the other is there. END
 * says where the stream ends. Bytes wait here until the other side has said something, so that it does not miss the first.
 *
 * A thread reads our end of the socket pair and sends; the library's thread writes to it. Without the server a tunnel waits
 * OUTAGE for it; a side that is silent for SILENCE while the server is there is gone.
 *
 * A side whose process has ended, or whose connection to the server was closed, is noticed sooner: the beat names our own subject
 * for an answer, and if nobody listens to the beat, the server sends an empty message there. One for which this holds for
 * ALONE is gone. After the server was away it is given RETURN to come back. A side that was stopped, or
 * that the network was cut off from, still listens for the server: SILENCE is for it.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/tunnel.h"

#define MS	UINT64_C(1000000)
#define BEAT	(200 * MS)
#define SLOW	(1000 * MS) /* of a front, which may have a thousand agents */
#define AGAIN	(1000 * MS)
#define ALONE	(550 * MS)
#define RETURN	(10000 * MS)
#define SILENCE (30000 * MS)
#define OUTAGE	(60000 * MS)
#define LINGER	(5000 * MS)
#define WINDOW	(1u << 20)
#define CHUNK	32768

struct header {
	uint64_t kind, offset;
};

struct dt_tunnel {
	dt_nats *nats;
	struct dt_nats_sub *sub;
	char nonce[40], from[80], to[80];
	char *knock;
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	uint8_t *held; /* WINDOW bytes: those from `acked` to `sent` */
	uint64_t acked, sent, expected;
	uint64_t heard, progress, outage; /* dt_now(); 0: never */
	uint64_t alone; /* since then nobody listens; 0: somebody does */
	bool ended, over;
};

/* ---- messages ---- */

static void send_message(dt_tunnel *t, uint64_t kind, uint64_t offset, const void *p, size_t n)
{
	uint8_t m[sizeof(struct header) + CHUNK];
	struct header h = {kind, offset};

	memcpy(m, &h, sizeof(h));
	if (n)
		memcpy(m + sizeof(h), p, n);
	dt_nats_publish(t->nats, t->to, m, sizeof(h) + n);
}

static bool write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

static void take_ack(dt_tunnel *t, uint64_t offset)
{
	pthread_mutex_lock(&t->lock);
	if (offset > t->acked && offset <= t->sent) {
		memmove(t->held, t->held + (offset - t->acked), t->sent - offset);
		t->acked = offset;
		t->progress = dt_now();
	}
	pthread_mutex_unlock(&t->lock);
}

struct dt_tunnel_message dt_tunnel_read(const void *data, size_t n, uint64_t expected)
{
	struct dt_tunnel_message m = {.kind = n ? DT_TUNNEL_BAD : DT_TUNNEL_ALONE};
	struct header h;

	if (n < sizeof(h) || n > sizeof(h) + CHUNK)
		return m;
	memcpy(&h, data, sizeof(h));
	n -= sizeof(h);
	if (h.kind < DT_TUNNEL_DATA || h.kind > DT_TUNNEL_END || (h.kind != DT_TUNNEL_DATA && n))
		return m;
	m.kind = (enum dt_tunnel_kind)h.kind;
	m.offset = h.offset;
	if (m.kind == DT_TUNNEL_DATA && h.offset <= expected && expected - h.offset < n) {
		m.data = (const uint8_t *)data + sizeof(h) + (expected - h.offset);
		m.n = n - (size_t)(expected - h.offset);
	}
	return m;
}

/* Only the library's thread changes `expected`. */
static void take_data(dt_tunnel *t, const uint8_t *p, size_t n)
{
	if (n && write_all(t->fd, p, n)) {
		pthread_mutex_lock(&t->lock);
		t->expected += n;
		pthread_mutex_unlock(&t->lock);
	}
	send_message(t, DT_TUNNEL_ACK, t->expected, NULL, 0);
}

/* The server says that nobody listens to our beats. Before the other side has come that means nothing. */
static void be_alone(dt_tunnel *t)
{
	pthread_mutex_lock(&t->lock);
	if (!t->alone && t->heard)
		t->alone = dt_now();
	pthread_mutex_unlock(&t->lock);
}

static void on_message(void *arg, const void *data, size_t n, const char *reply)
{
	dt_tunnel *t = arg;
	struct dt_tunnel_message m = dt_tunnel_read(data, n, t->expected);

	(void)reply;
	if (m.kind == DT_TUNNEL_ALONE)
		be_alone(t);
	if (m.kind == DT_TUNNEL_ALONE || m.kind == DT_TUNNEL_BAD)
		return;
	pthread_mutex_lock(&t->lock);
	t->heard = dt_now();
	t->alone = 0;
	pthread_mutex_unlock(&t->lock);
	if (m.kind == DT_TUNNEL_ACK) {
		take_ack(t, m.offset);
	} else if (m.kind == DT_TUNNEL_DATA) {
		take_data(t, m.data, m.n);
	} else if (m.offset <= t->expected) {
		pthread_mutex_lock(&t->lock);
		t->ended = true;
		pthread_mutex_unlock(&t->lock);
		shutdown(t->fd, SHUT_RDWR);
	}
}

/* ---- the thread ---- */

/* What is not acknowledged, once more. */
static void send_again(dt_tunnel *t)
{
	static __thread uint8_t piece[CHUNK];
	uint64_t from = t->acked;

	for (;;) {
		size_t n = 0;

		pthread_mutex_lock(&t->lock);
		if (from < t->acked)
			from = t->acked;
		if (from < t->sent) {
			n = t->sent - from < CHUNK ? t->sent - from : CHUNK;
			memcpy(piece, t->held + (from - t->acked), n);
		}
		t->progress = dt_now();
		pthread_mutex_unlock(&t->lock);
		if (!n)
			return;
		send_message(t, DT_TUNNEL_DATA, from, piece, n);
		from += n;
	}
}

/* False: our side has closed its end. */
static bool send_new(dt_tunnel *t, size_t room)
{
	uint8_t piece[CHUNK];
	ssize_t n = read(t->fd, piece, room < CHUNK ? room : CHUNK);
	uint64_t at;

	if (n <= 0)
		return false;
	pthread_mutex_lock(&t->lock);
	memcpy(t->held + (t->sent - t->acked), piece, (size_t)n);
	if (t->sent == t->acked)
		t->progress = dt_now();
	at = t->sent;
	t->sent += (size_t)n;
	pthread_mutex_unlock(&t->lock);
	send_message(t, DT_TUNNEL_DATA, at, piece, (size_t)n);
	return true;
}

/* Is the other side gone, or the server? */
static bool is_gone(const dt_tunnel *t, uint64_t now, uint64_t heard)
{
	uint64_t lost = dt_nats_lost(t->nats), patience = lost && lost + RETURN > now ? RETURN : ALONE;

	return t->ended || now - heard >= SILENCE || (t->outage && now - t->outage >= OUTAGE) ||
	       (t->alone && now - t->alone >= patience);
}

static void send_beat(dt_tunnel *t)
{
	struct header h = {DT_TUNNEL_ACK, t->expected};

	dt_nats_request(t->nats, t->to, t->from, &h, sizeof(h));
}

/* Every BEAT. False: the other side is gone, or the server. */
static bool beat(dt_tunnel *t, uint64_t start)
{
	uint64_t now, heard, progress;
	bool waits, gone, there = dt_nats_is_connected(t->nats);

	pthread_mutex_lock(&t->lock);
	now = dt_now(); /* not before the times that the other thread has noted */
	if (!there && t->heard)
		t->heard = now;
	if (!there)
		t->alone = 0;
	t->outage = there ? 0 : t->outage ? t->outage : now;
	heard = t->heard ? t->heard : start;
	progress = t->progress;
	waits = t->sent > t->acked;
	gone = is_gone(t, now, heard);
	pthread_mutex_unlock(&t->lock);
	if (t->knock && !t->heard)
		dt_nats_publish(t->nats, t->knock, t->nonce, strlen(t->nonce));
	send_beat(t);
	if (waits && there && now - progress > AGAIN)
		send_again(t);
	return !gone;
}

static void *pump(void *arg)
{
	dt_tunnel *t = arg;
	uint64_t start = dt_now(), beaten = 0, closed = 0, interval = BEAT;

	for (;;) {
		struct pollfd p = {.fd = t->fd, .events = POLLIN};
		bool open, done;
		size_t room;

		if (dt_now() - beaten >= interval) {
			beaten = dt_now();
			if (!beat(t, start))
				break;
		}
		pthread_mutex_lock(&t->lock);
		open = t->heard != 0;
		interval = open && t->knock ? SLOW : BEAT;
		room = WINDOW - (size_t)(t->sent - t->acked);
		done = t->sent == t->acked;
		pthread_mutex_unlock(&t->lock);
		if (closed && (done || dt_now() - closed > LINGER))
			break;
		if (closed || !open || !room) {
			usleep(room ? 5000 : 200);
			continue;
		}
		if (poll(&p, 1, (int)(BEAT / MS)) > 0 && !send_new(t, room))
			closed = dt_now();
	}
	send_message(t, DT_TUNNEL_END, t->sent, NULL, 0);
	shutdown(t->fd, SHUT_RDWR);
	dt_nats_unsubscribe(t->sub);
	close(t->fd);
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- making one ---- */

bool dt_tunnel_is(const dt_tunnel *t, const char *nonce)
{
	return strcmp(t->nonce, nonce) == 0;
}

bool dt_tunnel_is_over(dt_tunnel *t)
{
	bool over;

	pthread_mutex_lock(&t->lock);
	over = t->over;
	pthread_mutex_unlock(&t->lock);
	return over;
}

static void discard(dt_tunnel *t)
{
	pthread_mutex_destroy(&t->lock);
	free(t->held);
	free(t->knock);
	free(t);
}

dt_tunnel *dt_tunnel_new(dt_nats *n, const char *nonce, bool front, const char *knock, int *fd)
{
	dt_tunnel *t = dt_xcalloc(1, sizeof(*t));
	int pair[2];

	t->nats = n;
	snprintf(t->nonce, sizeof(t->nonce), "%s", nonce);
	snprintf(t->to, sizeof(t->to), "dtrace.stream.%.32s.%s", nonce, front ? "up" : "down");
	snprintf(t->from, sizeof(t->from), "dtrace.stream.%.32s.%s", nonce, front ? "down" : "up");
	t->knock = knock ? dt_xstrdup(knock) : NULL;
	t->held = dt_xmalloc(WINDOW);
	pthread_mutex_init(&t->lock, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		discard(t);
		return NULL;
	}
	t->fd = pair[0];
	t->sub = dt_nats_subscribe(n, t->from, on_message, t);
	if (!t->sub || pthread_create(&t->thread, NULL, pump, t) != 0) {
		dt_nats_unsubscribe(t->sub);
		close(pair[0]);
		close(pair[1]);
		discard(t);
		return NULL;
	}
	*fd = pair[1];
	return t;
}

void dt_tunnel_free(dt_tunnel *t)
{
	pthread_join(t->thread, NULL);
	discard(t);
}
