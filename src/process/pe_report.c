/*
 * pe_report: how a probe would be placed, or why it would not be: for dtrace -lv.
 */
#include <stdlib.h>

#include "process/process.h"
#include "proc/control.h"

#define EVENTS_MAX 65536 /* of a probe */

struct view { /* kept between the probes of one process */
	long pid;
	dt_maps *maps;
	struct dt_pe_files *files;
};

static void view_free(struct view *v)
{
	if (!v)
		return;
	dt_pe_files_free(v->files);
	dt_maps_free(v->maps);
	free(v);
}

static struct view *view_of(void **kept, dt_procs *procs, long pid)
{
	struct view *v = *kept;
	dt_error ignored;

	if (v && v->pid == pid)
		return v;
	view_free(v);
	*kept = v = dt_xcalloc(1, sizeof(*v));
	v->pid = pid;
	v->maps = dt_maps_read(pid, &ignored);
	v->files = v->maps ? dt_pe_files_new(pid, dt_procs_jail(procs)) : NULL;
	if (v->files)
		dt_pe_files_see(v->files, v->maps);
	return v;
}

static void print_place(const struct dt_pe_place *x, dt_buf *out)
{
	dt_buf_printf(out, "in the process: %llx: a jump, in place of %u bytes", (unsigned long long)(x->patch.at - x->function), x->patch.size);
	if (x->patch.nmoved > 1)
		dt_buf_printf(out, " (%u instructions)", x->patch.nmoved);
	dt_buf_printf(out, "\n");
}

void dt_pe_report(void **kept, dt_procs *procs, const dt_probe *probe, const dt_attach *at, dt_buf *out)
{
	dt_pe_places all;

	if (!probe) {
		view_free(*kept);
		*kept = NULL;
		return;
	}
	if (!dt_pe_is_available() || !dt_pe_places_init(&all, EVENTS_MAX))
		return;
	for (; at && at->path && at->pid; at = at->also) {
		const dt_event event = {.at = *at};
		struct view *v = view_of(kept, procs, at->pid);
		dt_error why = {0};
		const dt_mapping *m = v->files ? dt_pe_place_mapping(v->files, &event, &(uint32_t){0}, &why) : NULL;
		const struct dt_pe_place *x = m ? dt_pe_place(&all, v->files, &(struct dt_pe_wish){probe, &event, m}, &why) : NULL;

		if (x)
			print_place(x, out);
		else if (v->files)
			dt_buf_printf(out, "in the process: not available: %s\n", why.text);
	}
	dt_pe_places_free(&all);
}
