/*
 * keeper: a process that gets out of the target when dtrace has been killed. See dt_companion (proc/hold.h).
 *
 * It is started before dtrace gets in, and shares with dtrace what is to be undone: the places, and struct dt_pe_remains. Probes
 * do nothing as soon as it has taken back the lease; then it restores the code.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process/process.h"

struct dt_pe_keeper {
	struct dt_companion process;
};

static void keep(void *arg, pid_t tracer)
{
	struct dt_pe_target *t = arg;
	struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
	uint32_t live = 0;
	char word, path[64];
	dt_error err;

	(void)tracer;
	while (poll(fds, DT_NELEM(fds), -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents && read(0, &word, 1) == 1)
		return;
	while (poll(&fds[1], 1, -1) < 0 && errno == EINTR)
		; /* its files are closed before its targets are released */
	snprintf(path, sizeof(path), "/proc/%ld/mem", t->pid);
	t->hold = t->late = NULL; /* those are dtrace's */
	t->theirs = false;
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem < 0)
		return;
	if (t->in->shared)
		dt_pe_write(t, t->in->shared + offsetof(struct dt_pe_shared, live), &live, sizeof(live));
	dt_pe_target_leave(t, &err);
}

struct dt_pe_keeper *dt_pe_keeper_start(struct dt_pe_target *t, dt_error *err)
{
	struct dt_pe_keeper *k = dt_xcalloc(1, sizeof(*k));

	if (dt_companion_start(&k->process, &(struct dt_companion_work){.name = "dtrace-keeper", .run = keep, .arg = t}))
		return k;
	dt_err(err, errno, "cannot start the process that restores the target: %s", dt_strerror(errno));
	free(k);
	return NULL;
}

void dt_pe_keeper_free(struct dt_pe_keeper *k)
{
	if (!k)
		return;
	send(k->process.socket, "e", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	dt_companion_end(&k->process);
	free(k);
}
