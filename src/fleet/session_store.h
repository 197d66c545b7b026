/*
 * store: what a durable session leaves behind (doc/fleet.md), in a folder of its own.
 *
 *   000000000001234.ndjson  its output, whole lines; the name is the place of the first byte in all its output, so places
 *                           stay what they are when older files are removed
 *   current.ndjson          a link to the last of these
 *   state                   what is known of it, a word and a value per line
 *   lock                    held by the process that writes
 *
 *   store_write.c the writer     store_read.c  readers, in other processes     store_state.c  the state
 *   ship.c        a reader that sends it to JetStream
 *
 * The files are the one place where output is kept. All others, fronts that attach and JetStream, read them, at their own
 * speed. So a session waits for nobody; a reader that is too slow learns how many bytes it has missed.
 */
#ifndef DT_STORE_H
#define DT_STORE_H

#include "base/base.h"

#define DT_STORE_LEAST	 4096 /* bytes of a file */
#define DT_STORE_NAME	 64   /* characters of the name of a session, at most */
#define DT_STORE_CONTROL "control" /* the socket of a session that runs, in its folder: its aggregations, as lines ... */
#define DT_STORE_ALL	 "all\n"    /* ... of which this is the last */

/* Letters, digits, - and _ only: it is the name of a file, and a part of a NATS subject. */
bool dt_store_is_name(const char *name);

/* ---- store_write.c ---- */
typedef struct dt_store dt_store;
struct dt_store_env {
	const char *dir;
	uint64_t size;	/* of a file, in bytes */
	uint64_t files; /* how many */
	void *arg;
	void (*head)(void *arg, uint64_t at, dt_buf *out); /* the first line of the file that begins there */
};
struct dt_store_counts {
	uint64_t first, end;   /* places: bytes up to `first` were removed with their files */
	uint64_t lines, bytes; /* that could not be written */
	uint64_t cut;	       /* bytes of a line that the last writer had not finished: removed */
};
/* Waits for another process that writes there. NULL and *err. */
dt_store *dt_store_open(const struct dt_store_env *env, dt_error *err);
void dt_store_close(dt_store *s);
/* Output: lines, also in pieces. What cannot be written is counted; as soon as there is room, a line says so. */
void dt_store_add(dt_store *s, const void *p, size_t n);
struct dt_store_counts dt_store_counts(const dt_store *s);

/* ---- store_state.c ---- */
enum dt_store_key { /* numbers */
	DT_KEPT_PID,     /* of its process; 0: none */
	DT_KEPT_ALIVE,   /* time of day when this was written */
	DT_KEPT_SINCE,   /* when the process began */
	DT_KEPT_STARTS,  /* how often it was started */
	DT_KEPT_DROPS,   /* what it has said that it lost, of all starts */
	DT_KEPT_FIRST,   /* bytes of output that were removed with their files */
	DT_KEPT_END,     /* bytes of output, with these */
	DT_KEPT_LINES,   /* lines that could not be written */
	DT_KEPT_BYTES,   /* and their bytes */
	DT_KEPT_STREAMSIZE,
	DT_KEPT_STREAMAGE,
	DT_KEPT_SENT,    /* JetStream: the place up to which it has the output */
	DT_KEPT_UNSENT,  /* JetStream: bytes that were removed before they could be sent */
	DT_KEPT_MAX,
};
struct dt_store_state {
	char state[24]; /* "running", "waiting" (to be started again), "done", "removed", "stopped" */
	char why[512];	/* it is not running */
	char format[12]; /* "text" or "ndjson": what is shown to those who attach */
	char stream[512]; /* JetStream: the server; "": none */
	uint64_t n[DT_KEPT_MAX];
};
bool dt_store_state_read(const char *dir, struct dt_store_state *st); /* false: there is none; then *st is empty */
int dt_store_state_write(const char *dir, const struct dt_store_state *st); /* 0 or -1 with errno */
/* Other processes change these two, in a file of their own. */
int dt_store_sent_write(const char *dir, uint64_t sent, uint64_t unsent);

/* ---- store_read.c ---- */
typedef struct dt_store_reader dt_store_reader;
#define DT_STORE_NOW UINT64_MAX
dt_store_reader *dt_store_reader_new(const char *dir, uint64_t at); /* from there on, or what comes from now on */
void dt_store_reader_free(dt_store_reader *r);
/* Add whole lines, `most` bytes or so. *at: the place of the first; *missed: bytes before it that are no longer there. False: there are
 * none now. */
bool dt_store_reader_next(dt_store_reader *r, size_t most, dt_buf *out, uint64_t *at, uint64_t *missed);
/* The places of the files in order, for both sides; to be freed with dt_vec_free(). */
typedef DT_VEC(uint64_t) dt_store_places;
void dt_store_list(const char *dir, dt_store_places *out);
char *dt_store_path(const char *dir, uint64_t at);

#endif
