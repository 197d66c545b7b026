/*
 * pprof: samples as a profile for pprof: the message Profile of profile.proto, compressed.
 *
 * Every aggregation is a type of value, which all samples have, most of them 0. Keys other than
 * stacks become labels. A frame is a location with one function; its object is the mapping.
 * Functions have their names, so pprof does not search for files. pprof ignores samples without
 * locations: those without a stack have their keys as frames too.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "format/formats.h"
#include "format/protobuf.h"
#include "format/samples.h"

/* Numbers of fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DEFAULT_TYPE = 14
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME };

struct profile {
	const dt_samples *s;
	dt_map *strings;  /* -> number + 1 */
	dt_map *mappings; /* by file -> number */
	bool *is_location; /* by number of frame: keys, only those of samples without a stack */
	uint32_t set, nsets;
	dt_buf out;	   /* the message */
	dt_buf a, b, text; /* parts of it */
};

static uint64_t string_number(struct profile *p, const char *s)
{
	uintptr_t known = (uintptr_t)dt_map_get(p->strings, s);

	if (!known) {
		known = dt_map_count(p->strings) + 1;
		dt_map_set(p->strings, s, (void *)known);
	}
	return known - 1;
}

static void put_types(struct profile *p)
{
	for (uint32_t i = 0; i < p->nsets; i++) {
		const char *name = dt_samples_nth(p->s, i)->name;

		dt_pb_uint(&p->a, TYPE_TYPE,
			   string_number(p, strcmp(name, "@") == 0 ? "samples" : name));
		dt_pb_uint(&p->a, TYPE_UNIT, string_number(p, "count"));
		dt_pb_message(&p->out, PROFILE_SAMPLE_TYPE, &p->a);
	}
}

static void put_label(struct profile *p, const dt_sframe *f)
{
	dt_buf_reset(&p->text);
	dt_sframe_text(&p->text, f, 0);
	dt_pb_uint(&p->b, LABEL_KEY, string_number(p, f->label ? f->label : "key"));
	dt_pb_uint(&p->b, LABEL_STRING, string_number(p, p->text.s));
	dt_pb_message(&p->a, SAMPLE_LABEL, &p->b);
}

static bool is_key(const struct profile *p, uint32_t frame)
{
	return dt_samples_nth_frame(p->s, frame)->kind == DT_FRAME_KEY;
}

static void put_locations(struct profile *p, const uint32_t *path, uint32_t depth)
{
	bool has_stack = false;

	for (uint32_t i = 0; i < depth; i++)
		has_stack |= !is_key(p, path[i]);
	for (uint32_t i = depth; i-- > 0;) { /* innermost first */
		if (has_stack && is_key(p, path[i]))
			continue;
		dt_pb_varint(&p->b, path[i] + 1);
		p->is_location[path[i]] = true;
	}
	dt_pb_message(&p->a, SAMPLE_LOCATION, &p->b);
}

static void put_sample(void *arg, const uint32_t *path, uint32_t depth, const struct dt_snode *node)
{
	struct profile *p = arg;

	if (dt_snode_self(node) == 0)
		return;
	put_locations(p, path, depth);
	for (uint32_t i = 0; i < p->nsets; i++)
		dt_pb_varint(&p->b, i == p->set ? dt_snode_self(node) : 0);
	dt_pb_message(&p->a, SAMPLE_VALUE, &p->b);
	for (uint32_t i = 0; i < depth; i++)
		if (is_key(p, path[i]))
			put_label(p, dt_samples_nth_frame(p->s, path[i]));
	dt_pb_message(&p->out, PROFILE_SAMPLE, &p->a);
}

static uint64_t mapping_number(struct profile *p, const char *file)
{
	uintptr_t known = (uintptr_t)dt_map_get(p->mappings, file);

	if (known)
		return known;
	known = dt_map_count(p->mappings) + 1;
	dt_map_set(p->mappings, file, (void *)known);
	dt_pb_uint(&p->a, MAPPING_ID, known);
	dt_pb_uint(&p->a, MAPPING_FILE, string_number(p, file));
	dt_pb_uint(&p->a, MAPPING_HAS_FUNCTIONS, 1);
	dt_pb_message(&p->out, PROFILE_MAPPING, &p->a);
	return known;
}

static void put_frame(struct profile *p, uint32_t i)
{
	const dt_sframe *f = dt_samples_nth_frame(p->s, i);
	const char *none = f->kind == DT_FRAME_KEY ? "[keys]" : "[unknown]";
	uint64_t mapping = mapping_number(p, f->mod[0] ? f->mod : none), name;

	dt_buf_reset(&p->text);
	if (f->name[0] == '+')
		dt_buf_puts(&p->text, f->mod);
	dt_buf_puts(&p->text, f->name);
	dt_make_safe(p->text.s, p->text.n, false);
	name = string_number(p, p->text.s);
	dt_pb_uint(&p->b, LINE_FUNCTION, i + 1);
	dt_pb_uint(&p->a, LOCATION_ID, i + 1);
	dt_pb_uint(&p->a, LOCATION_MAPPING, mapping);
	dt_pb_uint(&p->a, LOCATION_ADDRESS, f->addr);
	dt_pb_message(&p->a, LOCATION_LINE, &p->b);
	dt_pb_message(&p->out, PROFILE_LOCATION, &p->a);
	dt_pb_uint(&p->a, FUNCTION_ID, i + 1);
	dt_pb_uint(&p->a, FUNCTION_NAME, name);
	dt_pb_uint(&p->a, FUNCTION_SYSTEM_NAME, name);
	dt_pb_message(&p->out, PROFILE_FUNCTION, &p->a);
}

static void put_profile(struct profile *p)
{
	uint32_t it = 0;
	const char *s;
	void *number;

	string_number(p, ""); /* is always the first */
	put_types(p);
	for (p->set = 0; p->set < p->nsets; p->set++)
		dt_sampleset_each(p->s, dt_samples_nth(p->s, p->set), put_sample, p);
	for (uint32_t i = 0; i < dt_samples_nframes(p->s); i++)
		if (p->is_location[i])
			put_frame(p, i);
	dt_pb_uint(&p->out, PROFILE_TIME, dt_now_wall());
	while (dt_map_next(p->strings, &it, &s, &number))
		dt_pb_text(&p->out, PROFILE_STRING, s);
}

/* As gzip(1) would. */
static int compress_to(dt_buf *out, const dt_buf *in, dt_error *err)
{
	z_stream z = {.next_in = (void *)in->s, .avail_in = (uInt)in->n};
	unsigned char chunk[65536];
	int rc;

	if (in->n > UINT32_MAX)
		return dt_err(err, EFBIG, "the profile is larger than 4 GB");
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return dt_err(err, ENOMEM, NULL);
	do {
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		rc = deflate(&z, Z_FINISH);
		dt_buf_add(out, chunk, sizeof(chunk) - z.avail_out);
	} while (rc == Z_OK);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : dt_err(err, EIO, "the profile cannot be compressed");
}

static int pprof_emit(dt_samples *s, const struct dt_consumer_env *env, dt_buf *out, dt_error *err)
{
	struct profile p = {.s = s,
			    .strings = dt_map_new(),
			    .mappings = dt_map_new(),
			    .is_location = dt_xcalloc(dt_samples_nframes(s) + 1, sizeof(bool)),
			    .nsets = dt_samples_count(s)};
	int rc;

	(void)env;
	put_profile(&p);
	rc = compress_to(out, &p.out, err);
	dt_map_free(p.strings);
	dt_map_free(p.mappings);
	free(p.is_location);
	dt_buf_free(&p.out);
	dt_buf_free(&p.a);
	dt_buf_free(&p.b);
	dt_buf_free(&p.text);
	return rc;
}

static dt_writer *pprof_open(const struct dt_consumer_env *env)
{
	return dt_sample_writer_open(env, pprof_emit);
}

const struct dt_writer_ops dt_writer_pprof = {
    .name = "pprof", .open = pprof_open, DT_SAMPLE_WRITER};
