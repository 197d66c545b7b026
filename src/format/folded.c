/*
 * folded: a line for each stack, "frame;frame;frame count", outermost frame first; and reading it
 * back, for the difference of two runs.
 *
 * In names a ';' becomes ':' and control characters become '?', so a line is always one stack and
 * its last word the count. When there are samples of several aggregations, the first frame of each
 * line is the name of its aggregation.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/formats.h"
#include "format/samples.h"

#define MAX_FOLDED (1ull << 30) /* bytes of a file that is read */

struct folding {
	const dt_buf *texts; /* of all frames */
	const char *name;    /* the first frame; NULL: none */
	dt_buf *out;
};

static void put_line(void *arg, const uint32_t *path, uint32_t depth, const struct dt_snode *node)
{
	const struct folding *f = arg;

	if (dt_snode_self(node) == 0)
		return;
	if (f->name)
		dt_buf_puts(f->out, f->name);
	for (uint32_t i = 0; i < depth; i++) {
		if (i > 0 || f->name)
			dt_buf_putc(f->out, ';');
		dt_buf_add(f->out, f->texts[path[i]].s, f->texts[path[i]].n);
	}
	dt_buf_printf(f->out, " %llu\n", (unsigned long long)dt_snode_self(node));
}

static int folded_emit(dt_samples *s, const struct dt_consumer_env *env, dt_buf *out, dt_error *err)
{
	uint32_t n = dt_samples_count(s), nframes = dt_samples_nframes(s);
	dt_buf *texts = dt_xcalloc(nframes + 1, sizeof(*texts));

	(void)env;
	(void)err;
	for (uint32_t i = 0; i < nframes; i++)
		dt_sframe_text(&texts[i], dt_samples_nth_frame(s, i), ';');
	for (uint32_t i = 0; i < n; i++) {
		const dt_sampleset *set = dt_samples_nth(s, i);
		struct folding f = {texts, n > 1 ? set->name : NULL, out};

		dt_sampleset_each(s, set, put_line, &f);
	}
	for (uint32_t i = 0; i < nframes; i++)
		dt_buf_free(&texts[i]);
	free(texts);
	return 0;
}

static dt_writer *folded_open(const struct dt_consumer_env *env)
{
	return dt_sample_writer_open(env, folded_emit);
}

const struct dt_writer_ops dt_writer_folded = {
    .name = "folded", .open = folded_open, DT_SAMPLE_WRITER};

/* ---- reading ---- */

struct reading {
	dt_samples *s;
	dt_map *by_text; /* text of a frame -> its number + 1 */
	DT_VEC(uint32_t) path;
};

/* A frame of this run with this name, or a new one. */
static uint32_t find_frame(struct reading *r, const char *text)
{
	uintptr_t known = (uintptr_t)dt_map_get(r->by_text, text);
	dt_sframe f = {.kind = DT_FRAME_USER, .mod = "", .name = text};

	if (known)
		return (uint32_t)known - 1;
	if (strncmp(text, "vmlinux`", 8) == 0)
		f.kind = DT_FRAME_KERNEL;
	known = dt_samples_frame(r->s, &f);
	dt_map_set(r->by_text, text, (void *)(known + 1));
	return (uint32_t)known;
}

/* Which set a line belongs to; with several sets, its first frame tells and is skipped. */
static dt_sampleset *choose_set(struct reading *r, char **line)
{
	uint32_t n = dt_samples_count(r->s);

	for (uint32_t i = 0; i < n && n > 1; i++) {
		dt_sampleset *set = dt_samples_nth(r->s, i);
		size_t len = strlen(set->name);

		if (strncmp(*line, set->name, len) == 0 && (*line)[len] == ';') {
			*line += len + 1;
			return set;
		}
	}
	return n ? dt_samples_nth(r->s, 0) : dt_samples_set(r->s, NULL);
}

/* "a;b;c 12"; changed while it is read. False: another form. */
static bool read_line(struct reading *r, char *line)
{
	char *space = strrchr(line, ' '), *end, *save = NULL;
	dt_sampleset *set;
	uint64_t count;

	if (!space || space == line || space[1] < '0' || space[1] > '9')
		return false;
	errno = 0;
	count = strtoull(space + 1, &end, 10);
	if (errno || (*end && *end != '\n' && *end != '\r'))
		return false;
	*space = 0;
	set = choose_set(r, &line);
	r->path.n = 0;
	for (char *word = strtok_r(line, ";", &save); word; word = strtok_r(NULL, ";", &save))
		*dt_vec_add(&r->path, NULL) = find_frame(r, word);
	if (r->path.n)
		dt_sampleset_node(set, r->path.v, r->path.n)->other += count;
	return true;
}

static void index_frames(struct reading *r)
{
	dt_buf b = {0};

	for (uint32_t i = 0; i < dt_samples_nframes(r->s); i++) {
		dt_buf_reset(&b);
		dt_sframe_text(&b, dt_samples_nth_frame(r->s, i), ';');
		if (!dt_map_get(r->by_text, b.s))
			dt_map_set(r->by_text, b.s, (void *)((uintptr_t)i + 1));
	}
	dt_buf_free(&b);
}

int dt_folded_read(dt_samples *s, const char *path, dt_error *err)
{
	int fd = dt_open_regular(AT_FDCWD, path, 0, MAX_FOLDED, err), rc = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct reading r = {.s = s};
	char *line = NULL;
	size_t cap = 0, number = 0;

	if (fd < 0)
		return -1;
	r.by_text = dt_map_new();
	index_frames(&r);
	while (rc == 0 && getline(&line, &cap, f) > 0) {
		number++;
		if (line[0] != '\n' && !read_line(&r, line))
			rc = dt_err(err, EINVAL, "%s, line %zu: not \"frame;frame count\"", path,
				    number);
	}
	if (rc == 0 && ferror(f))
		rc = dt_err(err, EIO, "%s: %s", path, dt_strerror(EIO));
	free(line);
	fclose(f);
	dt_map_free(r.by_text);
	dt_vec_free(&r.path);
	return rc;
}
