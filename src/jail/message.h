/*
 * message: numbers and strings in requests to a helper and in its answers (jail.h).
 *
 * Numbers are in memory format: both sides are the same program. The reading side trusts nothing:
 * every length is checked against what is left, and once something does not fit, all further reads
 * give 0, "" or NULL, and `bad` stays set.
 */
#ifndef DT_JAIL_MESSAGE_H
#define DT_JAIL_MESSAGE_H

#include "base/base.h"

void dt_put_u32(dt_buf *b, uint32_t v);
void dt_put_u64(dt_buf *b, uint64_t v);
void dt_put_bytes(dt_buf *b, const void *p, size_t n); /* with their number */
void dt_put_string(dt_buf *b, const char *s);	       /* NULL differs from "" */

typedef struct dt_message {
	const uint8_t *p, *end;
	bool bad;
} dt_message;

dt_message dt_message_of(const void *p, size_t n);
uint32_t dt_get_u32(dt_message *m);
uint64_t dt_get_u64(dt_message *m);
/* A count of things that take at least `each` bytes, which are still to come. */
uint32_t dt_get_count(dt_message *m, size_t each);
const void *dt_get_raw(dt_message *m, size_t n);     /* n bytes; NULL: not available */
const void *dt_get_bytes(dt_message *m, size_t *n);  /* what dt_put_bytes() put */
const char *dt_get_string(dt_message *m);	     /* NULL: none, or bad; valid as long as the message */
bool dt_message_is_done(const dt_message *m);	     /* everything was read, without an error */

#endif
