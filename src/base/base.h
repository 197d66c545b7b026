/*
 * base: the basic containers that everything else uses.
 *
 *   arena   memory that is freed at once; compiler data lives here
 *   vec     growing array, as a macro over any element type (arena or heap)
 *   buf     string builder
 *   map     string-keyed hash table
 *   error   an error is a value: code, tag, location, text
 *   memory  how much one kind of buffer may take
 *   progress  what long work is doing
 *   clock   the time
 *
 * Heap allocations go through dt_xmalloc and friends, which end the process with a message when
 * the system has no memory. An arena has a limit instead, so that hostile input ends in an error.
 */
#ifndef DT_BASE_H
#define DT_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dt_error;

#define DT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define DT_NELEM(a)	(sizeof(a) / sizeof((a)[0]))

static inline uint64_t dt_align_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* ---- heap: never return NULL ---- */
void *dt_xmalloc(size_t n);
void *dt_xcalloc(size_t n, size_t size);
void *dt_xrealloc(void *p, size_t n);
char *dt_xstrdup(const char *s);
char *dt_xasprintf(const char *fmt, ...) DT_PRINTF(1, 2);

/* ---- arena ---- */
typedef struct dt_arena dt_arena;

dt_arena *dt_arena_new(void);
void dt_arena_free(dt_arena *a);
/* When more than `limit` bytes are in use, `oom(arg)` is called; it must not return. */
void dt_arena_set_limit(dt_arena *a, size_t limit, void (*oom)(void *arg), void *arg);
size_t dt_arena_used(const dt_arena *a);
void dt_arena_reset(dt_arena *a); /* frees all allocations; keeps one chunk for the next ones */
void *dt_arena_alloc(dt_arena *a, size_t n); /* zeroed, 16-byte aligned, never NULL */
void *dt_arena_dup(dt_arena *a, const void *p, size_t n);
char *dt_arena_strdup(dt_arena *a, const char *s);
char *dt_arena_strndup(dt_arena *a, const char *s, size_t n);
char *dt_arena_printf(dt_arena *a, const char *fmt, ...) DT_PRINTF(2, 3);

/* ---- vec: DT_VEC(int) v = {0}; *dt_vec_add(&v, arena_or_NULL) = 3; v.v[0]; v.n ---- */
#define DT_VEC(T)                                                                                  \
	struct {                                                                                   \
		T *v;                                                                              \
		uint32_t n, cap;                                                                   \
	}
/* Returns a pointer to the new, zeroed last element. Heap vectors end with dt_vec_free. */
#define dt_vec_add(vec, arena)                                                                     \
	((vec)->v = dt_vec_grow((vec)->v, (vec)->n, &(vec)->cap, sizeof(*(vec)->v), (arena)),      \
	 &(vec)->v[(vec)->n++])
#define dt_vec_free(vec) (dt_vec_release((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)
void *dt_vec_grow(void *v, uint32_t n, uint32_t *cap, size_t size, dt_arena *a);
void dt_vec_release(void *v);

/* ---- buf: always NUL-terminated once anything was added; s may be NULL before ---- */
typedef struct dt_buf {
	char *s;
	size_t n, cap;
} dt_buf;

void dt_buf_add(dt_buf *b, const void *p, size_t n);
void dt_buf_puts(dt_buf *b, const char *s);
void dt_buf_putc(dt_buf *b, char c);
void dt_buf_pad(dt_buf *b, char c, size_t n); /* c, n times */
/* A number in decimal, with blanks before it up to `width` characters: "%*llu", "%*lld" */
void dt_buf_put_int(dt_buf *b, uint64_t u, bool is_signed, size_t width);
void dt_buf_printf(dt_buf *b, const char *fmt, ...) DT_PRINTF(2, 3);
void dt_buf_vprintf(dt_buf *b, const char *fmt, va_list ap) DT_PRINTF(2, 0);
void dt_buf_reset(dt_buf *b); /* keep the memory, forget the text */
void dt_buf_free(dt_buf *b);

/* ---- map: string -> pointer; keys are copied ---- */
typedef struct dt_map dt_map;

dt_map *dt_map_new(void);
void dt_map_free(dt_map *m); /* values are the caller's */
void *dt_map_get(const dt_map *m, const char *key);
void dt_map_set(dt_map *m, const char *key, void *value);
void dt_map_del(dt_map *m, const char *key);
size_t dt_map_count(const dt_map *m);
/* In order of insertion; *it starts at 0; false at the end. */
bool dt_map_next(const dt_map *m, uint32_t *it, const char **key, void **value);

uint64_t dt_hash_bytes(const void *p, size_t n);

/* ---- text helpers ---- */
/* The member of `names` (n of them) nearest to `word` by edit distance, or NULL if none is near. */
const char *dt_nearest(const char *word, const char *const *names, size_t n);
/* What to add to a message about an unknown word: "; did you mean \"malloc\"?" with the nearest
 * name, or else with those that the word is a part of ("connect" of connect-request); or "". */
typedef struct dt_hint {
	char text[160];
} dt_hint;
dt_hint dt_did_you_mean(const char *word, const char *const *names, size_t n);
/* Shell pattern as in probe descriptions: * ? [abc] [a-z] [!x] \c. */
bool dt_glob_match(const char *pattern, const char *text);
bool dt_glob_is_pattern(const char *s);
/* Append s[0..n) with D's escapes (as %S prints): \n, \", \\, \ooo ... */
void dt_buf_escape(dt_buf *b, const char *s, size_t n);
/* Undo D's escapes in place; returns the new length. */
size_t dt_unescape(char *s, size_t n);

/* Names from outside this program, made safe for a terminal (safe.c): control characters become
 * '?', in place. lines: newlines and tabs may stay. */
void dt_make_safe(char *s, size_t n, bool lines);
size_t dt_utf8_length(const char *s, size_t n); /* bytes of the UTF-8 character at s; 0: it is none */

/* ---- JSON that others have written (json_read.c) ---- */
/* The value of a member of the object s[0..n), as it is there: *len bytes. NULL: there is none, or the text is broken before it. */
const char *dt_json_member(const char *s, size_t n, const char *key, size_t *len);
bool dt_json_number(const char *s, size_t n, const char *key, uint64_t *out); /* such a member, if it is a plain number */
bool dt_json_unquote(const char *s, size_t n, dt_buf *out); /* add a string, given with its quotes; false: it is none */
bool dt_base64_decode(const char *s, size_t n, dt_buf *out);

/* ---- files (file.c) ---- */
/* A whole file of /proc and the like, with a NUL after it; dir as for openat(2). NULL with errno; to be freed. */
char *dt_slurp(int dir, const char *path, size_t *len);
void dt_allow_descriptors(void); /* as many as this process may have */
uint64_t dt_memory_used(void); /* by this process, in bytes; 0: not known */
/* O_PATH. A path that begins with "/proc/PID/root/" or "/proc/self/fd/N/", where another process or
 * container has its files, does not leave that directory: symbolic links mean what they mean there. */
int dt_open_path(int dir, const char *path, int flags);
/* For reading, a file that a process or another user names: only if it is a regular file of at most
 * max bytes, without waiting or side effects. flags: O_NOFOLLOW or 0. -1 with *err (the sentence
 * begins with the path) and errno. */
int dt_open_regular(int dir, const char *path, int flags, uint64_t max, struct dt_error *err);
/* Is any of these n bytes a hole, which costs the file's owner nothing? */
bool dt_file_has_hole(int fd, uint64_t offset, uint64_t n);

/* ---- a user for helpers (stranger.c) ---- */
/* In a child of root: a user and a group without rights; no other process is that user. -1 with errno. */
int dt_become_stranger(void);

/* ---- stop: long work on foreign data is to end, unfinished ---- */
/* One for each handle; a signal handler may set it. NULL wherever one is passed: never. */
typedef volatile int dt_stop;
static inline bool dt_stopped(const dt_stop *stop)
{
	return stop && *stop;
}

/* ---- progress: what long work is doing, for another thread to show (step.c) ---- */
struct dt_step {
	char what[160]; /* "attaching probes"; empty: nothing in particular */
	uint64_t done, total; /* total 0: not known */
};
typedef struct dt_progress {
	pthread_mutex_t lock;
	struct dt_step now;
} dt_progress;
void dt_progress_init(dt_progress *p);
/* A step begins; returns the one that it is a part of, for dt_progress_end(). NULL for these three: it is not shown. */
struct dt_step dt_progress_begin(dt_progress *p, uint64_t total, const char *fmt, ...) DT_PRINTF(3, 4);
void dt_progress_add(dt_progress *p, uint64_t n);
void dt_progress_end(dt_progress *p, const struct dt_step *outer);
struct dt_step dt_progress_now(dt_progress *p); /* from any thread */

/* ---- work on several CPUs (together.c) ---- */
/* work(arg, 0) to work(arg, n - 1), each once, in any order and by any thread; all are done when it returns. */
void dt_together(uint32_t n, void (*work)(void *arg, uint32_t i), void *arg);
/* work(arg) beside the caller, done when dt_beside_end() returns; by the caller, there, if there is one CPU only or no thread. */
typedef struct dt_beside {
	void (*work)(void *arg); /* NULL: nothing is to be done */
	void *arg;
	pthread_t id;
	bool runs;
} dt_beside;
void dt_beside_begin(dt_beside *b, void (*work)(void *arg), void *arg);
void dt_beside_end(dt_beside *b);

/* ---- how much memory there is (memory.c) ---- */
uint64_t dt_page_size(void);
uint64_t dt_memory_for_buffers(void); /* bytes that one kind of buffer may take, on this machine and in its control group */
/* The limit of a control group: `self` is a file as /proc/self/cgroup, `root` where they are mounted. UINT64_MAX: none. */
uint64_t dt_memory_group_limit(const char *self, const char *root);
uint64_t dt_memory_share(uint64_t machine, uint64_t group); /* the same for these sizes */

/* ---- time, in nanoseconds (clock.c) ---- */
uint64_t dt_now(void);	      /* CLOCK_MONOTONIC */
uint64_t dt_now_kernel(void); /* the kernel's, outside our time namespace: as in its records */
uint64_t dt_now_wall(void);   /* CLOCK_REALTIME */

/* ---- errors ---- */
typedef struct dt_pos {
	const char *file; /* NULL: the command line or the script itself */
	uint32_t line;	  /* 0: unknown */
	uint32_t column;  /* 1-based byte column, 0: unknown */
} dt_pos;

/* Tags: every error in a program has one (tags.def: name, one-line meaning). */
enum dt_tag {
	DT_NO_TAG = 0, /* not an error in a program, or the compiler chooses the tag */
#define DT_TAG(name, help) name,
#include "base/tags.def"
#undef DT_TAG
};
const char *dt_tag_name(enum dt_tag tag); /* "D_SYNTAX"; NULL for DT_NO_TAG */

typedef struct dt_error {
	int code; /* 0 none; EDT_* or an errno */
	enum dt_tag tag;
	dt_pos pos;
	char text[1024];  /* one sentence, no newline, no "dtrace: " */
	char source[256]; /* the offending source line, "" when unknown (for the caret) */
	/* Printed instead of the line number: "in predicate: ", or "" for nothing. NULL: the line
	 * number. */
	const char *region;
} dt_error;

/* Library error codes, numbered from 1000 in this order; API users rely on the numbers. */
enum {
#define DT_EDT(name, text) EDT_##name,
	EDT_BASE_ = 999,
#include "base/edt.def"
#undef DT_EDT
};
const char *dt_strerror(int code); /* text for an EDT_* or an errno; never NULL */
/* Fill e; returns -1 so that `return dt_err(...)` reads well. fmt NULL: the code's own text. */
int dt_err(dt_error *e, int code, const char *fmt, ...) DT_PRINTF(3, 4);

#endif
