/*
 * format: printf, printa, system and freopen formats.
 *
 * A format is parsed once, when the clause is compiled: into pieces of literal text and
 * conversions. The compiler checks it against the arguments; the consumer walks the same pieces
 * to print. The conversion letters are one table (format.c): letter, what argument it takes, how
 * it prints.
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
	/* set by the compiler when it checks the arguments; -1 when not taken from arguments */
	int arg, width_arg, prec_arg; /* index among the arguments that follow the format */
} dt_conv;

typedef struct dt_format {
	dt_conv *convs;
	uint32_t nconvs;
	uint32_t nargs;	    /* arguments consumed, counting * */
	bool has_agg_value; /* any %@ */
} dt_format;

/* Escapes in `text` are already undone. Returns NULL and writes why into *err (tag set). */
dt_format *dt_format_parse(dt_arena *a, const char *text, size_t len, dt_error *err);

#endif
