/*
 * viewer: durable sessions of other machines, as a front sees them: which there are, and the output of some, from their agents or
 * from JetStream.
 */
#ifndef DT_VIEWER_H
#define DT_VIEWER_H

#include "fleet/fleet.h"

struct dt_viewer_row {
	const char *machine;
	struct dt_wire_session session; /* of those that are only in JetStream: name and bytes */
};
typedef int dt_viewer_row_f(void *arg, const struct dt_viewer_row *r);
/* All that the front may see; 0, or what the function said. */
int dt_viewer_list(dt_fleet *f, dt_viewer_row_f *each, void *arg);

typedef struct dt_viewer dt_viewer;
/* The sessions of this name, on machines whose name matches (NULL: all). NULL and *err: there is none. */
dt_viewer *dt_viewer_new(dt_fleet *f, const char *machine, const char *name, bool from_start, dt_error *err);
void dt_viewer_free(dt_viewer *w);
/* Output of a machine: whole lines, in the format of the session; bytes before them that could not be had. */
typedef void dt_viewer_lines_f(void *arg, const char *machine, bool is_text, uint64_t missed, const char *lines, size_t n);
/* Wait for output, at most that long, and hand it over. False: there will be no more. */
bool dt_viewer_work(dt_viewer *w, int ms, dt_viewer_lines_f *f, void *arg);
void dt_viewer_end(dt_viewer *w, dt_viewer_lines_f *f, void *arg); /* their aggregations as they are */
bool dt_viewer_is_broken(const dt_viewer *w); /* a machine has gone before its session had ended; that was said */
/* What a target says about sessions. False: the message is not about them. *why: what is wrong with it, or NULL. */
struct dt_target;
bool dt_viewer_take(struct dt_target *t, dt_packet *p, const char **why);

#endif
