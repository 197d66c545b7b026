/*
 * options: every -x / #pragma D option / setopt() name, in one table.
 *
 * options.def lists them: name, when it may be set, how its value is written, default. All other
 * code asks dt_opt(); the manual is made from the same table.
 */
#ifndef DT_OPTIONS_H
#define DT_OPTIONS_H

#include "base/base.h"

/* When an option may be set. */
enum dt_opt_ctx {
	DT_OPT_COMPILE, /* before programs are compiled */
	DT_OPT_RUNTIME, /* before tracing starts */
	DT_OPT_DYNAMIC, /* any time, also by setopt() */
};

/* How a value is written. */
enum dt_opt_kind {
	DT_OPT_BOOL,   /* none, or yes/no/enable/... */
	DT_OPT_INT,    /* a number */
	DT_OPT_SIZE,   /* 4m, 256, 32k */
	DT_OPT_PERCENT, /* 2%, 0.5%; stored in parts per million, above 0 */
	DT_OPT_RATE,   /* 10hz, 100ms, 1s; stored in nanoseconds */
	DT_OPT_CHOICE, /* one of a list, stored as its index */
	DT_OPT_STRING, /* text; the last one counts */
	DT_OPT_LIST,   /* text; each one is added (define, incdir, libdir, setenv ...) */
	DT_OPT_ATTR,   /* n/d/c stability */
	DT_OPT_VERSION /* x.y[.z], stored as DT_VERSION() */
};

enum dt_opt_id {
#define DT_OPTION(id, name, number, ctx, kind, deflt, help) DT_O_##id,
#include "base/options.def"
#undef DT_OPTION
	DT_O_MAX
};

/* The values of options that are a choice: enum dt_opt_engine { DT_ENGINE_AUTO ... } and so on. */
#define DT_CHOICES(id, tag)	   enum dt_opt_##tag {
#define DT_CHOICE(id, value, text) DT_##id##_##value,
#define DT_CHOICES_END(id)	   };
#include "base/options.def"
#undef DT_CHOICES
#undef DT_CHOICE
#undef DT_CHOICES_END

#define DT_LOOPMAX_MAX 1000000
#define DT_NSPEC_MAX 65535 /* an id has 16 bits in a record of the kernel engine */

#define DT_VERSION(maj, min, mic) ((uint64_t)(maj) << 24 | (uint64_t)(min) << 12 | (mic))
#define DT_VERSION_CURRENT	  DT_VERSION(1, 14, 0)
#define DT_VERSION_TEXT		  "1.14"

typedef struct dt_options {
	uint64_t value[DT_O_MAX];
	bool is_set[DT_O_MAX];
	char *text[DT_O_MAX];		     /* DT_OPT_STRING */
	DT_VEC(char *) list[DT_O_MAX];	     /* DT_OPT_LIST */
} dt_options;

struct dt_opt_desc {
	const char *name;
	int number; /* in DOF; -1 for compile-time ones */
	enum dt_opt_ctx ctx;
	enum dt_opt_kind kind;
	const char *deflt;   /* in the syntax of the kind; NULL = unset/0 */
	const char *choices; /* "a|b|c" for DT_OPT_CHOICE */
	const char *help;    /* one line, for the manual */
};
extern const struct dt_opt_desc dt_opt_table[DT_O_MAX];

void dt_options_init(dt_options *o); /* defaults of the table */
void dt_options_free(dt_options *o);
/* The state of the session decides which contexts are open. 0 or -1 with *err (EDT_BADOPTNAME with
 * a suggestion, EDT_BADOPTVAL, EDT_BADOPTCTX, EDT_ACTIVE). value may be NULL. */
enum dt_opt_when { DT_WHEN_OPEN, DT_WHEN_PRAGMA, DT_WHEN_TRACING };
int dt_options_set(dt_options *o, const char *name, const char *value, enum dt_opt_when when,
		   dt_error *err);
int dt_options_find(const char *name); /* DT_O_x or -1 */
/* How a value of a choice is written: *len characters. "": there is no such value. */
const char *dt_option_choice(enum dt_opt_id id, uint64_t value, size_t *len);
/* When tracing starts: reduces rates and sizes to what is available. Option bufresize=manual: a
 * size that is too large is an error. */
int dt_options_settle(dt_options *o, dt_error *err);
/* The size is not available: halves it, if bufresize=auto and it is not too small already. */
bool dt_options_lower(dt_options *o, enum dt_opt_id id);

static inline uint64_t dt_opt(const dt_options *o, enum dt_opt_id id)
{
	return o->value[id];
}

/* Option scratchsize: what alloca() and copyin() of one clause may add up to; 0: it is not set. */
static inline uint64_t dt_opt_scratch(const dt_options *o)
{
	return dt_align_up(dt_opt(o, DT_O_SCRATCHSIZE), 8);
}

/* Stability attributes: name and data stability 0..7, dependency class 0..5. */
typedef struct dt_attr {
	uint8_t name, data, class_;
} dt_attr;
enum { DT_STAB_INTERNAL, DT_STAB_PRIVATE, DT_STAB_OBSOLETE, DT_STAB_EXTERNAL, DT_STAB_UNSTABLE,
       DT_STAB_EVOLVING, DT_STAB_STABLE, DT_STAB_STANDARD };
enum { DT_CLASS_UNKNOWN, DT_CLASS_CPU, DT_CLASS_PLATFORM, DT_CLASS_GROUP, DT_CLASS_ISA,
       DT_CLASS_COMMON };
extern const char *const dt_stab_names[8];
extern const char *const dt_class_names[6];
dt_attr dt_attr_min(dt_attr a, dt_attr b);
bool dt_attr_below(dt_attr a, dt_attr min); /* any part of a is lower than that of min */
int dt_attr_parse(const char *s, dt_attr *out);	 /* "Evolving/Evolving/Common"; 0 or -1 */
void dt_attr_format(dt_attr a, dt_buf *out);
int dt_version_parse(const char *s, uint64_t *out); /* "1.2.3"; 0 or -1 */

#endif
