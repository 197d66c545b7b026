/*
 * target: the API for the processes of -c and -p. The first one is $target. src/proc/control.c
 * controls them.
 */
#include "session/session.h"

/* Messages of the set become notices: "pid 12 has exited". */
static int say(void *arg, const struct dt_proc_news *n)
{
	dt_diag d = {
	    .kind = DT_DIAG_PROCESS,
	    .text = n->text,
	    .pid = n->pid,
	    .ended = n->ended,
	    .status = n->status,
	};

	return dt_session_tell(arg, &d);
}

void dt_targets_new(dtrace_hdl_t *h)
{
	h->procs = dt_procs_new(&h->opts, h->jail, say, h);
	dt_probes_set_procs(h->probes, h->procs);
}

static int enter(dtrace_hdl_t *h, const dt_proc *p)
{
	if (!p)
		return dt_session_fail(h);
	if (h->macros.target == 0)
		h->macros.target = p->pid;
	return 0;
}

long dtrace_proc_create(dtrace_hdl_t *h, char *const argv[])
{
	dt_proc *p;

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	memset(&h->err, 0, sizeof(h->err));
	p = dt_procs_create(h->procs, argv, &h->err);
	return enter(h, p) < 0 ? -1 : p->pid;
}

int dtrace_proc_grab(dtrace_hdl_t *h, long pid)
{
	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	memset(&h->err, 0, sizeof(h->err));
	return enter(h, dt_procs_grab(h->procs, pid, &h->err));
}
