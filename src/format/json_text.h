/*
 * json_text: writes JSON piece by piece, for the formats based on it.
 *
 * Every piece is complete and valid JSON for any data: control characters are escaped, a number has
 * all its digits, and what is not UTF-8 is replaced (dt_json_name) or marked (dt_json_string).
 */
#ifndef DT_JSON_TEXT_H
#define DT_JSON_TEXT_H

#include "consume/writer.h"

void dt_json_int(dt_buf *out, int64_t n);
void dt_json_uint(dt_buf *out, uint64_t n);
/* A string; what is not UTF-8 becomes U+FFFD. False: there was such. */
bool dt_json_name(dt_buf *out, const char *s, size_t n);
/* The same; but if there is such, {"text": ..., "hex": ...}. */
void dt_json_string(dt_buf *out, const char *s, size_t n);
void dt_json_hex(dt_buf *out, const void *p, size_t n); /* {"hex": "00ff"} */

/* {"provider": ..., "module": ..., "function": ..., "name": ...} without the braces, for a probe with this id. */
void dt_json_probe(dt_buf *out, const dt_probe *p);
/* A value of a record or a key, as doc/ndjson.md has it. */
void dt_json_value(dt_buf *out, const struct dt_consumer_env *env, const dt_value *v);
/* The buckets of a distribution that are not empty: [{"low": , "high": , "count": }, ...] */
void dt_json_buckets(dt_buf *out, const struct dt_buckets *b, uint64_t normal);

/* "key": for a key that needs no escapes, and a comma before it unless it is the first. */
void dt_json_key(dt_buf *out, const char *key);

#endif
