/*
 * frames: see frames.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/frames.h"

#define READ_AT_ONCE (64u << 10)
#define KEEP_FREE    (64u << 10) /* of what has been read: not moved until it is that much */

struct header {
	uint32_t mark, type, length, seq;
};
_Static_assert(sizeof(struct header) == DT_FRAME_HEADER, "as on the wire");

void dt_frames_free(dt_frames *f)
{
	dt_buf_free(&f->in);
}

void dt_frames_add(dt_frames *f, const void *p, size_t n)
{
	if (f->at >= KEEP_FREE || f->at == f->in.n) {
		if (f->in.n > f->at)
			memmove(f->in.s, f->in.s + f->at, f->in.n - f->at);
		f->in.n -= f->at;
		f->at = 0;
	}
	dt_buf_add(&f->in, p, n);
}

static int broken(dt_frames *f, const char *why)
{
	f->why = why;
	return -1;
}

static bool is_hello(const struct header *h)
{
	return h->mark == DT_FRAME_MARK && h->type == DT_M_HELLO && h->seq == 0 && h->length <= DT_FRAME_MAX;
}

/* To the first HELLO. 1: it is there; 0: not yet. */
static int skip_to_hello(dt_frames *f, struct header *h)
{
	for (; f->in.n - f->at >= sizeof(*h); f->at++, f->skipped++) {
		memcpy(h, f->in.s + f->at, sizeof(*h));
		if (is_hello(h))
			return 1;
		if (f->skipped >= DT_FRAME_SKIP)
			return broken(f, "what it sends is not this protocol");
	}
	return 0;
}

const char dt_frames_anew[] = "the other side has begun anew";

static const char *what_is_wrong(const dt_frames *f, const struct header *h)
{
	if (h->mark != DT_FRAME_MARK)
		return "a frame does not begin where one must";
	if (h->type == 0 || h->type >= DT_M_MAX_)
		return "a frame has an unknown type";
	if (h->length > DT_FRAME_MAX)
		return "a frame is too long";
	if (is_hello(h) && f->next > 1)
		return dt_frames_anew;
	return h->seq != f->next ? "frames are missing" : NULL;
}

int dt_frames_next(dt_frames *f, dt_packet *out)
{
	struct header h;
	bool again;

	if (f->why)
		return -1;
	if (f->next == 0) {
		int found = skip_to_hello(f, &h);

		if (found <= 0)
			return found;
	}
	if (f->in.n - f->at < sizeof(h))
		return 0;
	memcpy(&h, f->in.s + f->at, sizeof(h));
	again = f->next == 1 && is_hello(&h);
	f->why = again ? NULL : what_is_wrong(f, &h);
	if (f->why)
		return -1;
	if (f->in.n - f->at - sizeof(h) < h.length)
		return 0;
	*out = (dt_packet){h.type, dt_message_of(f->in.s + f->at + sizeof(h), h.length)};
	f->at += sizeof(h) + h.length;
	f->next += !again;
	return 1;
}

void dt_frame_put(dt_buf *out, uint32_t type, uint32_t seq, const dt_buf *body)
{
	struct header h = {DT_FRAME_MARK, type, body ? (uint32_t)body->n : 0, seq};

	dt_buf_add(out, &h, sizeof(h));
	if (h.length)
		dt_buf_add(out, body->s, body->n);
}

/* ---- a stream ---- */

struct dt_link {
	int fd;
	dt_frames in;
	dt_buf out;
	size_t written; /* of it */
	uint32_t seq;
	const char *why;
	pthread_mutex_t lock; /* of what is written: another thread may send and flush */
};

dt_link *dt_link_new(int fd)
{
	dt_link *l = dt_xcalloc(1, sizeof(*l));

	l->fd = fd;
	pthread_mutex_init(&l->lock, NULL);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return l;
}

void dt_link_free(dt_link *l)
{
	if (!l)
		return;
	close(l->fd);
	dt_frames_free(&l->in);
	dt_buf_free(&l->out);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

int dt_link_fd(const dt_link *l)
{
	return l->fd;
}

size_t dt_link_pending(dt_link *l)
{
	size_t n;

	pthread_mutex_lock(&l->lock);
	n = l->out.n - l->written;
	pthread_mutex_unlock(&l->lock);
	return n;
}

/* Each thread may find that it has ended. */
static const char *why(const dt_link *l)
{
	return __atomic_load_n(&l->why, __ATOMIC_RELAXED);
}

static void end(dt_link *l)
{
	__atomic_store_n(&l->why, "the connection has ended", __ATOMIC_RELAXED);
}

const char *dt_link_why(const dt_link *l)
{
	return l->in.why ? l->in.why : why(l);
}

void dt_link_send(dt_link *l, uint32_t type, dt_buf *body)
{
	pthread_mutex_lock(&l->lock);
	dt_frame_put(&l->out, type, l->seq++, body);
	pthread_mutex_unlock(&l->lock);
	if (body)
		dt_buf_reset(body);
}

void dt_link_hello_again(dt_link *l, const dt_buf *body)
{
	if (dt_link_pending(l) == 0)
		dt_frame_put(&l->out, DT_M_HELLO, 0, body);
}

/* A serial port is not a socket; a socket whose other side has gone must not send us a signal. */
static ssize_t write_some(int fd, const char *p, size_t n)
{
	ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

	return done < 0 && errno == ENOTSOCK ? write(fd, p, n) : done;
}

static void push(dt_link *l)
{
	pthread_mutex_lock(&l->lock);
	while (!why(l) && l->written < l->out.n) {
		ssize_t n = write_some(l->fd, l->out.s + l->written, l->out.n - l->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			end(l);
		if (n <= 0)
			break;
		l->written += (size_t)n;
	}
	if (l->written == l->out.n) {
		dt_buf_reset(&l->out);
		l->written = 0;
	}
	pthread_mutex_unlock(&l->lock);
}

/* Not more than a piece: the other side must not keep us here. */
static void pull(dt_link *l)
{
	char piece[READ_AT_ONCE];
	ssize_t n;

	do
		n = read(l->fd, piece, sizeof(piece));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		dt_frames_add(&l->in, piece, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		end(l);
}

void dt_link_flush(dt_link *l)
{
	if (!why(l))
		push(l);
}

int dt_link_work(dt_link *l)
{
	if (!why(l))
		pull(l);
	if (!why(l))
		push(l);
	return why(l) ? -1 : 0;
}

int dt_link_next(dt_link *l, dt_packet *out)
{
	return dt_frames_next(&l->in, out);
}

void dt_link_restart(dt_link *l)
{
	l->in.next = 0;
	l->in.skipped += DT_FRAME_HEADER;
}

void dt_link_begin(dt_link *l, dt_buf *body)
{
	pthread_mutex_lock(&l->lock);
	l->seq = 0;
	dt_frame_put(&l->out, DT_M_HELLO, l->seq++, body);
	pthread_mutex_unlock(&l->lock);
	dt_buf_reset(body);
}

bool dt_link_has_skipped(const dt_link *l)
{
	return l->in.skipped > 0;
}
