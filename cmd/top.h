/*
 * top: aggregations as a table on the terminal that refreshes (--top).
 *
 * top.c has the screen, the keys and the messages; top_table.c takes the rows of each moment and
 * draws them.
 */
#ifndef CMD_TOP_H
#define CMD_TOP_H

#include <stdbool.h>
#include <stdio.h>

#include "dtrace.h"

/* Where the output goes meanwhile: `out`, or if that is the terminal a file, which top_end()
 * prints. Ends the process if there is no terminal. */
FILE *top_open(FILE *out);
void top_begin(dtrace_hdl_t *h); /* from here on the screen is ours */
/* Draw if it is time, then wait until there is work. True: the user wants to quit. */
bool top_wait(dtrace_hdl_t *h);
void top_restore(void); /* the terminal as it was; safe in signal handlers, and more than once */
void top_end(FILE *text, FILE *out);
/* A message: while the table is shown, the last one is on the screen, and all are repeated at the
 * end. False: no table is shown. */
bool top_takes(const char *text);

/* ---- top_table.c ---- */
struct top_style {
	int width, height;
	bool utf8, colour;
	bool by_rate; /* sort by what has been added lately */
};
typedef struct top_table top_table;
top_table *top_table_new(void);
void top_table_free(top_table *t);
void top_table_take(top_table *t, dtrace_hdl_t *h); /* the aggregations as they are now */
/* At most style->height lines, each ended by what erases the rest of the line. */
void top_table_draw(top_table *t, const struct top_style *style, FILE *out);

#endif
