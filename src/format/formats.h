/*
 * formats: the output formats of option oformat, each a writer (consume/writer.h).
 *
 * A format is a row of the table in formats.c and a file here; its name is a choice of option
 * oformat (base/options.def). The text format is the consumer's own (consume/text.c).
 */
#ifndef DT_FORMATS_H
#define DT_FORMATS_H

#include "consume/writer.h"

extern const struct dt_writer_ops dt_writer_json, dt_writer_ndjson;
extern const struct dt_writer_ops dt_writer_callbacks; /* typed values for a struct dtrace_consumer, its writer_arg */
extern const struct dt_writer_ops dt_writer_folded, dt_writer_flamegraph, dt_writer_pprof, dt_writer_perfetto,
    dt_writer_prometheus;

const struct dt_writer_ops *dt_format_writer(uint64_t oformat); /* DT_OFORMAT_*; NULL: there is none */
const struct dt_writer_ops *dt_format_named(const char *name); /* "ndjson" ...; NULL: there is none */
/* A message for the user, with the error that it is about (NULL: none), as a line of ndjson. */
void dt_ndjson_error(dt_buf *out, const char *text, const dt_error *e);

/* ---- ndjson_lines.c ---- */
/* What would have been printed, as lines of type "text", of at most that many bytes of it each. */
void dt_ndjson_text(dt_buf *out, const char *text, size_t n, size_t most);
void dt_ndjson_note(dt_buf *out, const char *text);
void dt_ndjson_drop(dt_buf *out, const char *text);
/* The type of a line, and its text, if it has one: added to *text. False: it is not such a line. */
bool dt_ndjson_read(const char *line, size_t n, char type[16], dt_buf *text);

#endif
