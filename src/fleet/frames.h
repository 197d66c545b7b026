/*
 * frames: messages on a stream of bytes, and the stream itself.
 *
 * A frame is a header of four little-endian 32-bit numbers (a mark, the type, the length of the body, a number that
 * counts frames from 0) and the body. The first frame of each side is HELLO. What comes before it is skipped: a
 * serial port may still hold the end of an earlier session. HELLO may come again, until the next frame. After that nothing
 * is forgiven: a wrong mark, an unknown type, a body that is too long or a gap in the numbers ends the stream.
 *
 * A link reads and writes a descriptor without waiting. What cannot be written yet is kept; dt_link_pending() says how
 * much, so that a sender can stop making more.
 */
#ifndef DT_FRAMES_H
#define DT_FRAMES_H

#include "base/base.h"
#include "jail/message.h"

#define DT_FLEET_VERSION 6
#define DT_FRAME_MARK	 0x31465444u /* "DTF1" */
#define DT_FRAME_HEADER	 16
#define DT_FRAME_MAX	 (16u << 20) /* bytes of a body */
#define DT_FRAME_SKIP	 (1u << 20)  /* bytes before the first frame */

enum dt_message_type {
#define DT_MESSAGE(num, name, from, help) DT_M_##name = num,
#include "fleet/messages.def"
#undef DT_MESSAGE
	DT_M_MAX_,
};

/* ---- bytes to frames ---- */
typedef struct dt_frames {
	dt_buf in;
	size_t at;	/* read so far */
	size_t skipped; /* before the first frame */
	uint32_t next;	/* the number of the next frame */
	const char *why; /* it is broken; NULL: it is not */
} dt_frames;

typedef struct dt_packet {
	uint32_t type;
	dt_message body; /* valid until more bytes are added */
} dt_packet;

void dt_frames_add(dt_frames *f, const void *p, size_t n);
/* 1: a frame; 0: not all of one is there yet; -1: f->why. */
int dt_frames_next(dt_frames *f, dt_packet *out);
extern const char dt_frames_anew[]; /* why: HELLO came in the middle, so another process is there now */
void dt_frames_free(dt_frames *f);
/* A frame of these bytes, number `seq`, is added to *out. */
void dt_frame_put(dt_buf *out, uint32_t type, uint32_t seq, const dt_buf *body);

/* ---- a stream ---- */
typedef struct dt_link dt_link;

dt_link *dt_link_new(int fd); /* it owns the descriptor, which becomes non-blocking */
void dt_link_free(dt_link *l);
int dt_link_fd(const dt_link *l);
void dt_link_send(dt_link *l, uint32_t type, dt_buf *body); /* empties the body; NULL: none */
/* HELLO with this body was perhaps lost: the driver of a serial port discards what has come when an earlier agent closes it. */
void dt_link_hello_again(dt_link *l, const dt_buf *body);
size_t dt_link_pending(dt_link *l);   /* bytes that are not written yet */
/* Read and write what is possible now. 0, or -1: the stream has ended; what has been read is still there. */
int dt_link_work(dt_link *l);
void dt_link_flush(dt_link *l); /* write what is possible now */
int dt_link_next(dt_link *l, dt_packet *out); /* as dt_frames_next() */
void dt_link_restart(dt_link *l);	      /* that HELLO was not for us: skip to the next one */
void dt_link_begin(dt_link *l, dt_buf *body); /* HELLO with this body is sent, and the frame with number 0 */
bool dt_link_has_skipped(const dt_link *l);   /* something other than HELLO has come first */
const char *dt_link_why(const dt_link *l);    /* why it has ended; NULL: it has not */

#endif
