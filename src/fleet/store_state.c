/*
 * store_state: what is known of a session, as a file of words and values. See session_store.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/session_store.h"

#define ROOM 4096

static const char *const words[DT_KEPT_MAX] = {
    [DT_KEPT_PID] = "pid",	       [DT_KEPT_ALIVE] = "alive",	      [DT_KEPT_SINCE] = "since",
    [DT_KEPT_STARTS] = "starts",	       [DT_KEPT_DROPS] = "drops",	      [DT_KEPT_FIRST] = "removed",
    [DT_KEPT_END] = "end",	       [DT_KEPT_LINES] = "lostlines",   [DT_KEPT_BYTES] = "lostbytes",
    [DT_KEPT_STREAMSIZE] = "streamsize", [DT_KEPT_STREAMAGE] = "streamage", [DT_KEPT_SENT] = "sent",
    [DT_KEPT_UNSENT] = "unsent",
};

static void read_line(struct dt_store_state *st, const char *line)
{
	const char *value = strchr(line, ' ');
	size_t n = value ? (size_t)(value - line) : 0;

	if (!value++)
		return;
	if (n == 5 && memcmp(line, "state", n) == 0)
		snprintf(st->state, sizeof(st->state), "%s", value);
	else if (n == 3 && memcmp(line, "why", n) == 0)
		snprintf(st->why, sizeof(st->why), "%s", value);
	else if (n == 6 && memcmp(line, "format", n) == 0)
		snprintf(st->format, sizeof(st->format), "%s", value);
	else if (n == 6 && memcmp(line, "stream", n) == 0)
		snprintf(st->stream, sizeof(st->stream), "%s", value);
	for (int i = 0; i < DT_KEPT_MAX; i++)
		if (strlen(words[i]) == n && memcmp(line, words[i], n) == 0)
			st->n[i] = strtoull(value, NULL, 10);
}

static bool read_file(const char *dir, const char *name, struct dt_store_state *st)
{
	char *path = dt_xasprintf("%s/%s", dir, name), *save = NULL;
	size_t n;
	char *text = dt_slurp(AT_FDCWD, path, &n);

	free(path);
	if (!text)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(st, line);
	free(text);
	return true;
}

bool dt_store_state_read(const char *dir, struct dt_store_state *st)
{
	bool found;

	memset(st, 0, sizeof(*st));
	found = read_file(dir, "state", st);
	read_file(dir, "sent", st);
	return found;
}

static int put_whole(int fd, const dt_buf *b)
{
	ssize_t n = pwrite(fd, b->s, b->n, 0);

	if (n >= 0 && (size_t)n < b->n)
		errno = ENOSPC;
	return n == (ssize_t)b->n ? 0 : -1;
}

/* As a new file, at once. On a full disk into the old one, which has the same size. */
static int write_file(const char *dir, const char *name, dt_buf *b)
{
	char *path = dt_xasprintf("%s/%s", dir, name), *fresh = dt_xasprintf("%s/.%s", dir, name);
	int fd, rc;

	if (b->n < ROOM)
		dt_buf_pad(b, '\n', ROOM - b->n);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	rc = fd < 0 ? -1 : put_whole(fd, b);
	if (fd >= 0)
		close(fd);
	if (rc == 0) {
		rc = rename(fresh, path);
	} else {
		unlink(fresh);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		rc = fd < 0 ? -1 : put_whole(fd, b);
		if (fd >= 0)
			close(fd);
	}
	free(path);
	free(fresh);
	return rc;
}

int dt_store_state_write(const char *dir, const struct dt_store_state *st)
{
	dt_buf b = {0};
	size_t from;
	int rc;

	mkdir(dir, 0700);
	dt_buf_printf(&b, "state %s\n", st->state);
	from = b.n;
	if (st->why[0])
		dt_buf_printf(&b, "why %s", st->why);
	dt_make_safe(b.s + from, b.n - from, false); /* one line */
	dt_buf_printf(&b, "\nformat %s\n", st->format);
	if (st->stream[0])
		dt_buf_printf(&b, "stream %s\n", st->stream);
	for (int i = 0; i < DT_KEPT_SENT; i++)
		dt_buf_printf(&b, "%s %llu\n", words[i], (unsigned long long)st->n[i]);
	rc = write_file(dir, "state", &b);
	dt_buf_free(&b);
	return rc;
}

int dt_store_sent_write(const char *dir, uint64_t sent, uint64_t unsent)
{
	dt_buf b = {0};
	int rc;

	dt_buf_printf(&b, "%s %llu\n%s %llu\n", words[DT_KEPT_SENT], (unsigned long long)sent, words[DT_KEPT_UNSENT],
		      (unsigned long long)unsent);
	rc = write_file(dir, "sent", &b);
	dt_buf_free(&b);
	return rc;
}
