/*
 * protobuf: the wire format of Protocol Buffers, for writing.
 *
 * A message is built in its own buffer and then added to the enclosing one. Fields that are 0 or
 * empty need not be written; that is the caller's choice.
 */
#ifndef DT_FORMAT_PROTOBUF_H
#define DT_FORMAT_PROTOBUF_H

#include "base/base.h"

void dt_pb_varint(dt_buf *out, uint64_t n); /* by itself: packed fields */
void dt_pb_uint(dt_buf *out, uint32_t field, uint64_t n); /* also int64, bool, enum */
/* A string: what is not UTF-8 becomes U+FFFD. */
void dt_pb_string(dt_buf *out, uint32_t field, const char *s, size_t n);
void dt_pb_text(dt_buf *out, uint32_t field, const char *s);
/* A message, whose buffer is empty afterwards. */
void dt_pb_message(dt_buf *out, uint32_t field, dt_buf *message);

#endif
