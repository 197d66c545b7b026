/*
 * pcap: where the packets of pcap() go.
 *
 * With freopen(): into that file, in the format of libpcap: a header with the link type of all its
 * packets, then for each packet the time, the captured length and the original length. Packets are
 * appended to a file that has such a header. Text does not belong there: it goes to the usual
 * output while the file is open.
 *
 * Without: through tshark, a process for each link type, which gets the same bytes as a file and
 * answers each packet with a line. It parses untrusted packets, so if we are root, it runs as a user
 * without rights. If there is no tshark, or it does not answer, the caller prints the bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "consume/pcap.h"

#define MAGIC	   0xa1b2c3d4u /* times in microseconds */
#define SNAPLEN	   65536
#define ANSWER_MS  30000 /* a busy machine needs seconds to start tshark */
#define SHOWN_TEXT 65536 /* text that is moved out of the way of packets */

struct file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snaplen, link;
};

struct packet_header {
	uint32_t seconds, microseconds, captured, length;
};

struct shower { /* a tshark */
	uint32_t link;
	pid_t pid;
	int in, out; /* pipes: it reads nothing else; -1: it has failed */
};

struct dt_pcap {
	uint64_t wall; /* time of day - timestamp; 0: not known yet */
	/* the file that freopen() named */
	bool writes; /* it has packets */
	uint32_t link;
	bool refused; /* it is something else */
	bool told;    /* why some packet was not written to it */
	uint64_t lost;
	DT_VEC(struct shower) showers;
	bool no_tshark;
};

dt_pcap *dt_pcap_new(void)
{
	return dt_xcalloc(1, sizeof(dt_pcap));
}

static void end_shower(struct shower *s)
{
	if (s->in < 0)
		return;
	close(s->in);
	close(s->out);
	s->in = s->out = -1;
	kill(s->pid, SIGTERM);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

void dt_pcap_free(dt_pcap *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->showers.n; i++)
		end_shower(&p->showers.v[i]);
	dt_vec_free(&p->showers);
	free(p);
}

bool dt_packet_of(const dt_value *v, const dt_value *link, dt_packet *out)
{
	if (v->kind != DT_V_BYTES || v->size < 8 || link->kind != DT_V_INT)
		return false;
	*out = (dt_packet){.captured = (uint32_t)dt_load_int(v->data, 4, false),
			   .length = (uint32_t)dt_load_int((const char *)v->data + 4, 4, false),
			   .data = (const char *)v->data + 8,
			   .link = (uint32_t)link->u,
			   .time = v->time};
	if (out->captured > v->size - 8)
		out->captured = v->size - 8;
	if (out->length < out->captured)
		out->length = out->captured;
	return out->captured > 0;
}

/* ---- the format ---- */

static void put_header(dt_buf *out, uint32_t link)
{
	struct file_header h = {
	    .magic = MAGIC, .major = 2, .minor = 4, .snaplen = SNAPLEN, .link = link};

	dt_buf_add(out, (const char *)&h, sizeof(h));
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_packet(dt_pcap *p, dt_buf *out, const dt_packet *k)
{
	struct packet_header h = {.captured = k->captured, .length = k->length};
	uint64_t when;

	if (!p->wall)
		p->wall = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC);
	when = p->wall + k->time;
	h.seconds = (uint32_t)(when / 1000000000);
	h.microseconds = (uint32_t)(when % 1000000000 / 1000);
	dt_buf_add(out, (const char *)&h, sizeof(h));
	dt_buf_add(out, k->data, k->captured);
}

/* ---- a file ---- */

bool dt_pcap_has_file(const dt_pcap *p)
{
	return p->writes;
}

void dt_pcap_end_file(dt_pcap *p)
{
	p->writes = p->refused = p->told = false;
}

uint64_t dt_pcap_lost(dt_pcap *p)
{
	uint64_t lost = p->lost;

	p->lost = 0;
	return lost;
}

/* The contents of the file so far, in `out`: all of it, or more than SHOWN_TEXT bytes. False: it
 * cannot be read. */
static bool read_start(const char *path, dt_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char piece[4096];
	ssize_t n = -1;

	while (fd >= 0 && out->n <= SHOWN_TEXT && (n = read(fd, piece, sizeof(piece))) > 0)
		dt_buf_add(out, piece, (size_t)n);
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

/* Is it a file to add such packets to? Text that was written to it since freopen() is moved to `text`. */
static const char *begin_file(dt_pcap *p, struct dt_pcap_file *f, uint32_t link, dt_buf *out)
{
	struct file_header h = {0};
	dt_buf start = {0};
	const char *why = NULL;
	struct stat st;

	if (fflush(f->stream) != 0 || fstat(fileno(f->stream), &st) != 0)
		return dt_strerror(errno);
	if (S_ISREG(st.st_mode) && st.st_size > 0 && !read_start(f->path, &start))
		why = dt_strerror(errno);
	else if (start.n >= sizeof(h))
		memcpy(&h, start.s, sizeof(h));
	if (why)
		goto out;
	if (h.magic == MAGIC) {
		why = h.link == link ? NULL : "it has packets of another link type";
	} else if (start.n == 0) {
		put_header(out, link);
	} else if (f->was_empty && start.n <= SHOWN_TEXT && ftruncate(fileno(f->stream), 0) == 0) {
		dt_buf_add(f->text, start.s, start.n);
		put_header(out, link);
	} else {
		why = "it is not a file of packets";
	}
out:
	dt_buf_free(&start);
	p->link = link;
	return why;
}

int dt_pcap_write(dt_pcap *p, struct dt_pcap_file *f, const dt_packet *k, dt_error *err)
{
	const char *why = NULL;
	dt_buf out = {0};
	int rc = 0;

	if (!p->writes && !p->refused)
		why = begin_file(p, f, k->link, &out);
	else if (p->writes && p->link != k->link && !p->told)
		why = "it has packets of another link type";
	if (why && !p->writes)
		p->refused = true;
	if (why || p->refused || p->link != k->link) {
		p->lost++;
		p->told = true;
		dt_buf_free(&out);
		return why ? dt_err(err, EINVAL, "pcap(): \"%s\": %s", f->path, why) : 0;
	}
	p->writes = true;
	put_packet(p, &out, k);
	if (fwrite(out.s, 1, out.n, f->stream) != out.n)
		rc = dt_err(err, errno ? errno : EIO, "pcap(): \"%s\": %s", f->path,
			    dt_strerror(errno ? errno : EIO));
	dt_buf_free(&out);
	return rc;
}

/* ---- tshark ---- */

static void run_tshark(int in, int out)
{
	int null = open("/dev/null", O_WRONLY);

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || null < 0 || dup2(null, 2) < 0)
		_exit(126);
	if (geteuid() == 0 && dt_become_stranger() < 0)
		_exit(126);
	execlp("tshark", "tshark", "-l", "-n", "-r", "-", (char *)NULL);
	_exit(127);
}

/* A tshark that is gone must not end us: its signal is taken back. */
static bool send_all(int fd, const dt_buf *b)
{
	const struct timespec now = {0};
	sigset_t pipe_signal, before;
	ssize_t k = 0;

	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	for (size_t n = 0; n < b->n && k >= 0; n += k > 0 ? (size_t)k : 0) {
		k = write(fd, b->s + n, b->n - n);
		if (k < 0 && errno == EINTR)
			k = 0;
	}
	if (k < 0 && errno == EPIPE)
		sigtimedwait(&pipe_signal, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return k >= 0;
}

/* The process is started; false: it cannot be. */
static bool start_shower(struct shower *s)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	s->pid = fork();
	if (s->pid == 0)
		run_tshark(in[0], out[1]);
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = out[0];
	if (s->pid > 0)
		return true;
	close(s->in);
	close(s->out);
	s->in = s->out = -1;
	return false;
}

static struct shower *shower_of(dt_pcap *p, uint32_t link)
{
	struct shower *s;
	dt_buf header = {0};

	for (uint32_t i = 0; i < p->showers.n; i++)
		if (p->showers.v[i].link == link)
			return &p->showers.v[i];
	s = dt_vec_add(&p->showers, NULL);
	*s = (struct shower){.link = link, .in = -1, .out = -1};
	if (start_shower(s)) {
		put_header(&header, link);
		send_all(s->in, &header); /* if it fails, so will the next one */
		dt_buf_free(&header);
	}
	return s;
}

/* Up to the end of a line; nothing follows it before the next request. */
static bool receive_line(int fd, dt_buf *out)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	char piece[512];

	while (out->n == 0 || out->s[out->n - 1] != '\n') {
		int ready = poll(&pfd, 1, ANSWER_MS);
		ssize_t n = ready > 0 ? read(fd, piece, sizeof(piece)) : ready;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		dt_buf_add(out, piece, (size_t)n);
	}
	return true;
}

bool dt_pcap_show(dt_pcap *p, const dt_packet *k, const struct dt_consumer_env *env, dt_buf *out)
{
	struct shower *s = p->no_tshark ? NULL : shower_of(p, k->link);
	dt_buf packet = {0}, line = {0};
	size_t from = out->n;
	bool ok = false;

	if (s && s->in >= 0) {
		put_packet(p, &packet, k);
		ok = send_all(s->in, &packet) && receive_line(s->out, &line);
	}
	if (ok) {
		dt_buf_printf(out, "pcap %s", line.s);
		dt_text_guard(out, from, env);
	} else if (s) {
		end_shower(s);
		p->no_tshark = true;
	}
	dt_buf_free(&packet);
	dt_buf_free(&line);
	return ok;
}
