/*
 * format: printf, printa, system and freopen formats.
 *
 * A format is parsed once, when the clause is compiled: into pieces of literal text and
 * conversions. The compiler checks it against the arguments (lang/format_check.c); the consumer
 * walks the same pieces to print. The conversion letters are one table (format.c): letter, size,
 * what argument it takes.
 */
#ifndef DT_FORMAT_H
#define DT_FORMAT_H

#include "base/base.h"

enum dt_conv_flags {
	DT_CF_ALT = 1,	  /* # */
	DT_CF_ZERO = 2,	  /* 0 */
	DT_CF_LEFT = 4,	  /* - */
	DT_CF_SIGN = 8,	  /* + */
	DT_CF_GROUP = 16, /* ' */
	DT_CF_SPACE = 32,
	DT_CF_AGG = 64,		  /* @: the aggregation's value */
	DT_CF_DYNWIDTH = 128,	  /* width is an argument (*) */
	DT_CF_DYNPREC = 256,
};

typedef struct dt_conv {
	const char *text; /* literal text before this conversion; not NUL-terminated */
	uint32_t textlen;
	char letter;	/* 0: only literal text (the last piece) */
	char size[3];	/* "", "h", "l", "ll", "L", "w" as written */
	uint16_t flags;
	int width, prec; /* -1: none */
	uint8_t prec_digits; /* of the precision as written: that of %q is a decimal fraction */
	/* set by the compiler when it checks the arguments; -1 when not taken from arguments */
	int arg, width_arg, prec_arg; /* index among the arguments that follow the format */
} dt_conv;

typedef struct dt_format {
	dt_conv *convs;
	uint32_t nconvs;
	uint32_t nargs;	    /* arguments consumed, counting * */
	bool has_agg_value; /* any %@ */
} dt_format;

/* What argument a conversion takes. */
enum dt_takes {
	DT_TAKES_INTEGER, /* any */
	DT_TAKES_SIGNED,  /* of exactly `bytes` */
	DT_TAKES_UNSIGNED,
	DT_TAKES_EITHER, /* of exactly `bytes`, signed or not */
	DT_TAKES_CHAR,   /* an integer of at most 32 bits */
	DT_TAKES_ADDRESS,
	DT_TAKES_USER_ADDRESS,
	DT_TAKES_POINTER,
	DT_TAKES_FLOAT,
	DT_TAKES_LONG_DOUBLE,
	DT_TAKES_STRING,
	DT_TAKES_WIDE_STRING,
	DT_TAKES_HOST,
	DT_TAKES_PORT,
	DT_TAKES_STACK,
	DT_TAKES_TIME,
	DT_TAKES_ENUM,
	DT_TAKES_DISTRIBUTION, /* of an aggregation */
	DT_TAKES_KEYS,	       /* nothing: the number of keys of a printa() */
};

/* A row of the table: these letters, written with this size. */
struct dt_conversion {
	const char *letters;
	const char *size;
	enum dt_takes takes;
	uint8_t bytes; /* of the integer; 0: any */
};
const struct dt_conversion *dt_conversion_find(char letter, const char *size); /* NULL: there is none */

/* Escapes in `text` are already undone. Returns NULL with the reason in *err (tag set). */
dt_format *dt_format_parse(dt_arena *a, const char *text, size_t len, dt_error *err);

#endif
