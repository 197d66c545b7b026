/*
 * flamegraph: a self-contained HTML file that draws the samples.
 *
 * The page (flamegraph.html) is constant; the samples follow it as JSON. Names come from traced
 * programs and may contain anything: as JSON strings they have no character that is special in
 * HTML, and the page inserts them as text, never as markup. A content security policy forbids it to
 * load or send anything.
 */
#include "format/formats.h"
#include "format/json_text.h"
#include "format/samples.h"

extern const char dt_page_flamegraph[]; /* flamegraph.html, by the Makefile */

struct drawing {
	dt_buf *out;
	bool diff, more;
};

static void put_node(void *arg, const uint32_t *path, uint32_t depth, const struct dt_snode *node)
{
	struct drawing *d = arg;

	if (d->more)
		dt_buf_putc(d->out, ',');
	dt_json_uint(d->out, depth);
	dt_buf_putc(d->out, ',');
	dt_json_uint(d->out, path[depth - 1]);
	dt_buf_putc(d->out, ',');
	dt_json_uint(d->out, dt_snode_self(node));
	if (d->diff) {
		dt_buf_putc(d->out, ',');
		dt_json_uint(d->out, node->other);
	}
	d->more = true;
}

/* A JSON string without a character that begins or ends markup; control characters are gone already. */
static void put_string(dt_buf *out, const char *s, size_t n)
{
	dt_buf_putc(out, '"');
	for (size_t i = 0, len; i < n; i += len) {
		len = dt_utf8_length(s + i, n - i);
		if (len == 0) {
			dt_buf_puts(out, "\\ufffd");
			len = 1;
		} else if (strchr("\"\\<>&", s[i])) {
			dt_buf_printf(out, "\\u%04x", s[i]);
		} else {
			dt_buf_add(out, s + i, len);
		}
	}
	dt_buf_putc(out, '"');
}

static void put_frames(dt_samples *s, dt_buf *out)
{
	dt_buf name = {0};

	for (uint32_t i = 0; i < dt_samples_nframes(s); i++) {
		const dt_sframe *f = dt_samples_nth_frame(s, i);

		dt_buf_reset(&name);
		dt_sframe_text(&name, f, 0);
		dt_buf_puts(out, i ? ",[" : "[");
		put_string(out, name.s, name.n);
		dt_buf_printf(out, ",%d]", (int)f->kind);
	}
	dt_buf_free(&name);
}

static int flamegraph_emit(dt_samples *s, const struct dt_consumer_env *env, dt_buf *out,
			   dt_error *err)
{
	const char *earlier = env->opts->text[DT_O_FLAMEDIFF];
	uint32_t n;

	if (earlier && dt_folded_read(s, earlier, err) < 0)
		return -1;
	n = dt_samples_count(s);
	dt_buf_puts(out, dt_page_flamegraph);
	dt_buf_printf(out,
		      "<script type=\"application/json\" id=\"data\">\n{\"diff\":%s,\"sets\":[",
		      earlier ? "true" : "false");
	for (uint32_t i = 0; i < n; i++) {
		const dt_sampleset *set = dt_samples_nth(s, i);
		struct drawing d = {out, earlier != NULL, false};

		dt_buf_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		put_string(out, set->name, strlen(set->name));
		dt_buf_printf(out, ",\"unit\":\"%s\",\"nodes\":[", set->unit);
		dt_sampleset_each(s, set, put_node, &d);
		dt_buf_puts(out, "]}");
	}
	dt_buf_puts(out, "],\n\"frames\":[");
	put_frames(s, out);
	dt_buf_puts(out, "]}\n</script>\n</body>\n</html>\n");
	return 0;
}

/* An earlier run that cannot be read is reported before this one begins. */
static int flamegraph_prepare(const dt_options *opts, dt_error *err)
{
	const char *earlier = opts->text[DT_O_FLAMEDIFF];
	dt_samples *s;
	int rc;

	if (!earlier)
		return 0;
	s = dt_samples_new(NULL);
	rc = dt_folded_read(s, earlier, err);
	dt_samples_free(s);
	return rc;
}

static dt_writer *flamegraph_open(const struct dt_consumer_env *env)
{
	return dt_sample_writer_open(env, flamegraph_emit);
}

const struct dt_writer_ops dt_writer_flamegraph = {
    .name = "flamegraph", .prepare = flamegraph_prepare, .open = flamegraph_open, DT_SAMPLE_WRITER};
