/*
 * tunnel: a stream of bytes in both directions over two subjects of a NATS server (nats.h).
 *
 * A message is two little-endian 64-bit numbers, the kind and an offset, and for DATA the bytes of the stream from that offset on.
 * ACK says up to where bytes have come; it is also sent every BEAT, so that each side knows that the other is there. So
 * one that comes later than that is not needed: bytes are acknowledged by the next beat, or when there are OWED of them;
 * at once only if DATA brings nothing new, which is a question. END says where the stream ends. Bytes wait here until the
 * other side has said something, so that it does not miss the first.
 *
 * One thread for all tunnels of a connection reads our ends of the socket pairs and sends; the library's thread writes to them.
 * Without the server a tunnel waits OUTAGE for it; a side that is silent for SILENCE while the server is there is gone.
 *
 * A side whose process has ended, or whose connection to the server was closed, is noticed sooner: the beat names our own subject
 * for an answer, and if nobody listens to the beat, the server sends an empty message there. One for which this holds for
 * ALONE is gone. After the server was away it is given RETURN to come back. A side that was stopped, or
 * that the network was cut off from, still listens for the server: SILENCE is for it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/tunnel.h"

#define MS	UINT64_C(1000000)
#define BEAT	(400 * MS) /* two of them tell an agent that it is alone, within a second */
#define SLOW	(1000 * MS) /* of a front, which may have a thousand agents */
#define AGAIN	(1000 * MS)
#define ALONE	(350 * MS)
#define RETURN	(10000 * MS)
#define SILENCE (30000 * MS)
#define OUTAGE	(60000 * MS)
#define LINGER	(5000 * MS)
#define VANISHED (2000 * MS) /* five beats of an agent */
#define GRID	(20 * MS) /* beats of many tunnels are sent together */
#define WINDOW	(1u << 20)
#define OWED	(64u << 10)
#define CHUNK	32768
#define AT_ONCE 64

struct header {
	uint64_t kind, offset;
};

struct dt_tunnel {
	dt_nats *nats;
	struct dt_nats_sub *sub;
	char nonce[DT_TUNNEL_NONCE + 1], from[128], to[128];
	char *knock;
	int fd;
	/* the pump's own */
	uint64_t start, beaten, closed; /* dt_now(); closed: our side has, 0: not yet */
	bool watched;
	pthread_mutex_t lock; /* of what follows */
	uint8_t *held; /* WINDOW bytes: those from `acked` to `sent` */
	uint64_t acked, sent, expected;
	uint64_t heard, progress, outage; /* dt_now(); 0: never */
	uint64_t alone; /* since then nobody listens; 0: somebody does */
	uint64_t told;	/* what was acknowledged of `expected` */
	bool ended, over;
};

/* All tunnels of a connection. */
struct dt_tunnels {
	int epoll, kick;
	pthread_t thread;
	bool writing; /* the library's thread waits for our side to read */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t less;
	DT_VEC(dt_tunnel *) v;
	bool ending;
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

/* There is something new for the pump. */
static void kick(const dt_tunnel *t)
{
	eventfd_write(dt_nats_tunnels(t->nats)->kick, 1);
}

static void take_ack(dt_tunnel *t, uint64_t offset)
{
	bool was_full, has_all;

	pthread_mutex_lock(&t->lock);
	was_full = t->sent - t->acked == WINDOW;
	if (offset > t->acked && offset <= t->sent) {
		memmove(t->held, t->held + (offset - t->acked), t->sent - offset);
		t->acked = offset;
		t->progress = dt_now();
	}
	has_all = t->acked == t->sent;
	pthread_mutex_unlock(&t->lock);
	if (was_full || (has_all && __atomic_load_n(&t->closed, __ATOMIC_RELAXED)))
		kick(t);
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

static void acknowledge(dt_tunnel *t)
{
	uint64_t offset;

	pthread_mutex_lock(&t->lock);
	offset = t->told = t->expected;
	pthread_mutex_unlock(&t->lock);
	send_message(t, DT_TUNNEL_ACK, offset, NULL, 0);
}

/* Only the library's thread changes `expected`. */
static void take_data(dt_tunnel *t, const uint8_t *p, size_t n)
{
	struct dt_tunnels *all = dt_nats_tunnels(t->nats);
	bool due = !n;

	if (n) {
		__atomic_store_n(&all->writing, true, __ATOMIC_RELAXED);
		if (write_all(t->fd, p, n)) {
			pthread_mutex_lock(&t->lock);
			t->expected += n;
			due = t->expected - t->told >= OWED;
			pthread_mutex_unlock(&t->lock);
		}
		__atomic_store_n(&all->writing, false, __ATOMIC_RELAXED);
	}
	if (due)
		acknowledge(t);
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
	bool first;

	(void)reply;
	if (m.kind == DT_TUNNEL_ALONE)
		be_alone(t);
	if (m.kind == DT_TUNNEL_ALONE || m.kind == DT_TUNNEL_BAD)
		return;
	pthread_mutex_lock(&t->lock);
	first = !t->heard;
	t->heard = dt_now();
	t->alone = 0;
	pthread_mutex_unlock(&t->lock);
	if (first)
		kick(t);
	if (m.kind == DT_TUNNEL_ACK) {
		take_ack(t, m.offset);
	} else if (m.kind == DT_TUNNEL_DATA) {
		take_data(t, m.data, m.n);
	} else if (m.offset <= t->expected) {
		pthread_mutex_lock(&t->lock);
		t->ended = true;
		pthread_mutex_unlock(&t->lock);
		shutdown(t->fd, SHUT_RDWR);
		kick(t);
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
static bool send_new(dt_tunnel *t)
{
	uint8_t piece[CHUNK];
	uint64_t at;
	size_t room;
	ssize_t n;

	pthread_mutex_lock(&t->lock);
	room = WINDOW - (size_t)(t->sent - t->acked);
	pthread_mutex_unlock(&t->lock);
	if (!room)
		return true;
	n = recv(t->fd, piece, room < CHUNK ? room : CHUNK, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
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

/* Is the other side gone, or the server? While our own side does not read, nobody can be heard. */
static bool is_gone(const dt_tunnel *t, uint64_t now, uint64_t heard)
{
	uint64_t lost = dt_nats_lost(t->nats), patience = lost && lost + RETURN > now ? RETURN : ALONE;
	bool deaf = __atomic_load_n(&dt_nats_tunnels(t->nats)->writing, __ATOMIC_RELAXED);

	return t->ended || (now - heard >= SILENCE && !deaf) || (t->outage && now - t->outage >= OUTAGE) ||
	       (t->alone && now - t->alone >= patience);
}

static void send_beat(dt_tunnel *t)
{
	struct header h = {.kind = DT_TUNNEL_ACK};

	pthread_mutex_lock(&t->lock);
	h.offset = t->told = t->expected;
	pthread_mutex_unlock(&t->lock);
	dt_nats_request(t->nats, t->to, t->from, &h, sizeof(h));
}

/* Every BEAT. False: the other side is gone, or the server. */
static bool beat(dt_tunnel *t)
{
	uint64_t now, heard, progress;
	bool waits, gone, knocks, there = dt_nats_is_connected(t->nats);

	pthread_mutex_lock(&t->lock);
	now = dt_now(); /* not before the times that the other thread has noted */
	if (!there && t->heard)
		t->heard = now;
	if (!there)
		t->alone = 0;
	t->outage = there ? 0 : t->outage ? t->outage : now;
	heard = t->heard ? t->heard : t->start;
	knocks = t->knock && !t->heard;
	progress = t->progress;
	waits = t->sent > t->acked;
	gone = is_gone(t, now, heard);
	pthread_mutex_unlock(&t->lock);
	if (knocks)
		dt_nats_publish(t->nats, t->knock, t->nonce, strlen(t->nonce));
	send_beat(t);
	if (waits && there && now - progress > AGAIN)
		send_again(t);
	return !gone;
}

/* Our side is watched while it may send. One that was closed is always ready, so it is not just masked. */
static void watch(dt_tunnel *t, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = t};

	if (on != t->watched)
		epoll_ctl(dt_nats_tunnels(t->nats)->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, t->fd, &ev);
	t->watched = on;
}

static bool is_closed(const dt_tunnel *t)
{
	struct pollfd p = {.fd = t->fd};

	return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

/* Our side has closed its end: ask how much has come. */
static void close_down(dt_tunnel *t)
{
	__atomic_store_n(&t->closed, dt_now(), __ATOMIC_RELAXED);
	watch(t, false);
	send_message(t, DT_TUNNEL_DATA, t->sent, NULL, 0);
}

static void finish(dt_tunnel *t)
{
	send_message(t, DT_TUNNEL_END, t->sent, NULL, 0);
	shutdown(t->fd, SHUT_RDWR);
	watch(t, false);
	dt_nats_unsubscribe(t->sub);
	close(t->fd);
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_mutex_unlock(&t->lock);
}

/*
 * Our side has closed: what it has sent last is sent again for a while, if need be. A front has nothing more to say to an
 * agent that is silent; the last words of an agent are data.
 */
static bool is_worth_lingering(const dt_tunnel *t, uint64_t now)
{
	bool silent = now - t->heard > VANISHED || (t->outage && now - t->outage > VANISHED);

	return now - t->closed <= LINGER && !(t->knock && silent);
}

/* What is due. False: it is over. *next: when something is due again, if that is sooner. */
static bool attend(dt_tunnel *t, uint64_t now, uint64_t *next)
{
	uint64_t interval, due;
	bool open, done, owes;
	size_t room;

	pthread_mutex_lock(&t->lock);
	open = t->heard != 0;
	room = WINDOW - (size_t)(t->sent - t->acked);
	done = t->sent == t->acked;
	owes = t->expected > t->told;
	interval = open && t->knock ? SLOW : BEAT;
	done |= t->ended || (t->closed && !is_worth_lingering(t, now));
	pthread_mutex_unlock(&t->lock);
	if (t->closed ? done : !open && is_closed(t))
		return false;
	if (now - t->beaten >= interval) {
		t->beaten = now;
		if (!beat(t))
			return false;
	} else if (owes) {
		acknowledge(t);
	}
	watch(t, !t->closed && open && room);
	due = (t->beaten + interval + GRID - 1) / GRID * GRID;
	*next = due < *next ? due : *next;
	return true;
}

/* All of them; those that are over are left out. */
static uint64_t attend_all(struct dt_tunnels *all)
{
	uint64_t now = dt_now(), next = now + BEAT;
	uint32_t n;

	pthread_mutex_lock(&all->lock);
	n = all->v.n;
	for (uint32_t i = 0; i < n; i++) {
		dt_tunnel *t = all->v.v[i];
		bool stays;

		pthread_mutex_unlock(&all->lock); /* others are added at the end meanwhile */
		stays = attend(t, now, &next);
		if (!stays)
			finish(t);
		pthread_mutex_lock(&all->lock);
		if (stays)
			continue;
		memmove(all->v.v + i, all->v.v + i + 1, (all->v.n - i - 1) * sizeof(*all->v.v));
		all->v.n--;
		i--;
		n--;
		pthread_cond_broadcast(&all->less);
	}
	pthread_mutex_unlock(&all->lock);
	return next;
}

static bool is_ending(struct dt_tunnels *all)
{
	bool ending;

	pthread_mutex_lock(&all->lock);
	ending = all->ending;
	pthread_mutex_unlock(&all->lock);
	return ending;
}

static void *pump(void *arg)
{
	struct dt_tunnels *all = arg;
	struct epoll_event ev[AT_ONCE];
	uint64_t next = 0;

	while (!is_ending(all)) {
		uint64_t now = dt_now();
		eventfd_t times;
		int n;

		if (now >= next)
			next = attend_all(all);
		n = epoll_wait(all->epoll, ev, AT_ONCE, next > now ? (int)((next - now) / MS) + 1 : 0);
		for (int i = 0; i < n; i++) {
			dt_tunnel *t = ev[i].data.ptr;

			if (!t) {
				eventfd_read(all->kick, &times);
				next = 0;
			} else if (!t->closed && !send_new(t)) {
				close_down(t);
				next = 0;
			}
		}
	}
	return NULL;
}

/* ---- all of a connection ---- */

struct dt_tunnels *dt_tunnels_new(void)
{
	struct dt_tunnels *all = dt_xcalloc(1, sizeof(*all));
	struct epoll_event ev = {.events = EPOLLIN};

	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->less, NULL);
	all->epoll = epoll_create1(EPOLL_CLOEXEC);
	all->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (epoll_ctl(all->epoll, EPOLL_CTL_ADD, all->kick, &ev) == 0 && pthread_create(&all->thread, NULL, pump, all) == 0)
		return all;
	all->ending = true; /* there is no thread */
	dt_tunnels_free(all);
	return NULL;
}

void dt_tunnels_free(struct dt_tunnels *all)
{
	bool runs;

	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	runs = !all->ending;
	while (runs && all->v.n)
		pthread_cond_wait(&all->less, &all->lock);
	all->ending = true;
	pthread_mutex_unlock(&all->lock);
	if (runs) {
		eventfd_write(all->kick, 1);
		pthread_join(all->thread, NULL);
	}
	if (all->epoll >= 0)
		close(all->epoll);
	if (all->kick >= 0)
		close(all->kick);
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->less);
	dt_vec_free(&all->v);
	free(all);
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

dt_tunnel *dt_tunnel_new(dt_nats *n, const char *word, const char *nonce, const char *knock, int *fd)
{
	struct dt_tunnels *all = dt_nats_tunnels(n);
	dt_tunnel *t = dt_xcalloc(1, sizeof(*t));
	int pair[2];

	t->nats = n;
	t->start = dt_now();
	snprintf(t->nonce, sizeof(t->nonce), "%s", nonce);
	snprintf(t->to, sizeof(t->to), "dtrace.stream.%.*s.%s.%s", DT_NATS_WORD, word, t->nonce, knock ? "up" : "down");
	snprintf(t->from, sizeof(t->from), "dtrace.stream.%.*s.%s.%s", DT_NATS_WORD, word, t->nonce, knock ? "down" : "up");
	t->knock = knock ? dt_xstrdup(knock) : NULL;
	t->held = dt_xmalloc(WINDOW);
	pthread_mutex_init(&t->lock, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		discard(t);
		return NULL;
	}
	t->fd = pair[0];
	t->sub = dt_nats_subscribe(n, t->from, on_message, t);
	if (!t->sub) {
		close(pair[0]);
		close(pair[1]);
		discard(t);
		return NULL;
	}
	pthread_mutex_lock(&all->lock);
	*dt_vec_add(&all->v, NULL) = t;
	pthread_mutex_unlock(&all->lock);
	kick(t);
	*fd = pair[1];
	return t;
}

void dt_tunnel_free(dt_tunnel *t)
{
	struct dt_tunnels *all = dt_nats_tunnels(t->nats);

	pthread_mutex_lock(&all->lock);
	while (!dt_tunnel_is_over(t))
		pthread_cond_wait(&all->less, &all->lock);
	pthread_mutex_unlock(&all->lock);
	discard(t);
}
