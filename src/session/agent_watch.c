/*
 * agent_watch: durable sessions of this machine, for a front: which there are, and the output of one while it is written.
 *
 * The output is read from the store, not from the session: nothing that a front does can hold the session up. Only its
 * aggregations are asked for, over a socket in the store.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "format/formats.h"
#include "session/agent.h"

#define LINES_AT_ONCE  (128u << 10)
#define READ_AT_ONCE   (64u << 10)
#define AGGREGATIONS_MAX (64u << 20)
#define ANSWER_SECONDS 30 /* a busy machine, and many rows; the front is told meanwhile that we are at work */

static bool may_watch(const struct dt_agent *a, const char *name)
{
	return dt_store_is_name(name) && a->policy.sessions && dt_agent_is_listed(a->policy.watch, name);
}

static void send_session(struct dt_agent *a, const char *name)
{
	char *dir = dt_xasprintf("%s/%s", a->policy.sessions, name);
	struct dt_wire_session w = {.name = name};
	struct dt_store_state st;

	if (dt_store_state_read(dir, &st)) {
		w.state = st.state;
		w.why = st.why;
		w.format = st.format;
		w.n[DT_WS_SINCE] = st.n[DT_KEPT_SINCE];
		w.n[DT_WS_STARTS] = st.n[DT_KEPT_STARTS];
		w.n[DT_WS_BYTES] = st.n[DT_KEPT_END];
		w.n[DT_WS_REMOVED] = st.n[DT_KEPT_FIRST];
		w.n[DT_WS_DROPS] = st.n[DT_KEPT_DROPS];
		w.n[DT_WS_LINES] = st.n[DT_KEPT_LINES];
		w.n[DT_WS_LOST] = st.n[DT_KEPT_BYTES];
		w.n[DT_WS_UNSENT] = st.n[DT_KEPT_UNSENT];
		dt_put_session(&a->body, &w);
		dt_link_send(a->link, DT_M_SESSION, &a->body);
	}
	free(dir);
}

void dt_agent_take_sessions(struct dt_agent *a)
{
	struct dirent **names = NULL;
	int n = a->policy.sessions ? scandir(a->policy.sessions, &names, NULL, alphasort) : 0;

	for (int i = 0; i < n; i++) {
		if (may_watch(a, names[i]->d_name))
			send_session(a, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	dt_put_string(&a->body, NULL);
	dt_link_send(a->link, DT_M_LISTED, &a->body);
}

/* False: there is no such session, or it is not for this front. */
bool dt_agent_take_watch(struct dt_agent *a, dt_message *m)
{
	const char *name = dt_get_string(m);
	uint32_t from = dt_get_u32(m);
	struct dt_store_state st;
	bool found;

	if (!may_watch(a, name))
		return false;
	a->watched = dt_xasprintf("%s/%s", a->policy.sessions, name);
	found = dt_store_state_read(a->watched, &st);
	a->reader = from < 2 ? dt_store_reader_new(a->watched, from ? 0 : DT_STORE_NOW) : NULL;
	return found;
}

static void send_lines(struct dt_agent *a, uint64_t missed, const dt_buf *lines)
{
	dt_put_lines(&a->body, missed, lines->s ? lines->s : "", lines->n);
	dt_link_send(a->link, DT_M_LINES, &a->body);
}

/* It will write no more. */
static bool is_over(const struct dt_agent *a)
{
	struct dt_store_state st;

	dt_store_state_read(a->watched, &st);
	return strcmp(st.state, "running") != 0 && strcmp(st.state, "waiting") != 0 && strcmp(st.state, "stopped") != 0;
}

/* What is new, as much as the front takes. True: the session is over, and all of it was sent. */
bool dt_agent_watch(struct dt_agent *a, size_t most)
{
	bool over = a->reader && is_over(a); /* before reading: what is written by then is read */
	dt_buf lines = {0};
	uint64_t at, missed;

	while (a->reader && dt_link_pending(a->link) < most) {
		dt_buf_reset(&lines);
		if (!dt_store_reader_next(a->reader, LINES_AT_ONCE, &lines, &at, &missed)) {
			dt_buf_free(&lines);
			return over;
		}
		send_lines(a, missed, &lines);
	}
	dt_buf_free(&lines);
	return false;
}

/* What the session says of its aggregations. NULL, or why that is not all; nothing: it has just ended, and printed them. */
static const char *read_aggregations(const char *dir, dt_buf *out)
{
	static const char all[] = DT_STORE_ALL;
	struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char piece[READ_AT_ONCE];
	ssize_t n = 0;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (snprintf(to.sun_path, sizeof(to.sun_path), "%s/" DT_STORE_CONTROL, dir) < (int)sizeof(to.sun_path) &&
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		while (out->n < AGGREGATIONS_MAX && (n = read(fd, piece, sizeof(piece))) > 0)
			dt_buf_add(out, piece, (size_t)n);
	if (fd >= 0)
		close(fd);
	if (out->n >= sizeof(all) - 1 && memcmp(out->s + out->n - (sizeof(all) - 1), all, sizeof(all) - 1) == 0) {
		out->n -= sizeof(all) - 1;
		return NULL;
	}
	if (n > 0)
		return "not all rows of aggregations are shown: they are more than 64 MB";
	if (n < 0)
		return "not all aggregations are shown: the session was busy for too long";
	return out->n ? "not all aggregations are shown: the session has ended meanwhile" : NULL;
}

/* Whole lines, in pieces. What follows the last one was cut off. */
static void send_in_pieces(struct dt_agent *a, const dt_buf *all)
{
	size_t at = 0;

	while (at < all->n) {
		const char *from = all->s + at, *end;
		size_t left = all->n - at;

		end = left > LINES_AT_ONCE ? memrchr(from, '\n', LINES_AT_ONCE) : memrchr(from, '\n', left);
		end = end ? end : memchr(from, '\n', left); /* a long line */
		if (!end)
			return;
		dt_put_lines(&a->body, 0, from, (size_t)(end + 1 - from));
		dt_link_send(a->link, DT_M_LINES, &a->body);
		at += (size_t)(end + 1 - from);
	}
}

/* The aggregations as they are. */
void dt_agent_watch_end(struct dt_agent *a)
{
	dt_buf lines = {0};
	const char *why = read_aggregations(a->watched, &lines);

	send_in_pieces(a, &lines);
	dt_buf_reset(&lines);
	if (why) {
		dt_ndjson_drop(&lines, why);
		send_lines(a, 0, &lines);
	}
	dt_buf_free(&lines);
}

void dt_agent_watch_free(struct dt_agent *a)
{
	dt_store_reader_free(a->reader);
	free(a->watched);
}
