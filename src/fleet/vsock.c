/*
 * vsock: connecting to a guest by its number. A guest that does not run is an error at once; one that is starting does not answer,
 * so connecting goes on beside the other work, and is looked at whenever machines are looked for.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <linux/vm_sockets.h>
#include <unistd.h>

#include "fleet/one_target.h"

#define DEFAULT_PORT 884
#define LAST_RESERVED 1023 /* of the ports that only root can have (CAP_NET_BIND_SERVICE), as the kernel has it */
#define FIRST_MS     300 /* the first time it is waited for */
#define MOST_MS	     900

/* The port tells a guest that we are root: it lets other users of its host in by a rule only. Others get any port when they connect. */
static void bind_as_root(int fd)
{
	struct sockaddr_vm a = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY};

	for (a.svm_port = LAST_RESERVED; a.svm_port > 0; a.svm_port--)
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 || errno != EADDRINUSE)
			break;
}

/* vsock:CID or vsock:CID:PORT */
static int begin(const char *address)
{
	struct timeval most = {.tv_usec = MOST_MS * 1000};
	struct sockaddr_vm a = {.svm_family = AF_VSOCK};
	unsigned cid = 0, port = DEFAULT_PORT;
	int fd, n = 0, e;

	if (sscanf(address, "vsock:%u%n:%u%n", &cid, &n, &port, &n) < 1 || address[n])
		return errno = EINVAL, -1;
	a.svm_cid = cid;
	a.svm_port = port;
	fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	bind_as_root(fd);
	setsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_CONNECT_TIMEOUT, &most, sizeof(most));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 || errno == EINPROGRESS)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static struct dt_knock *find(dt_fleet *f, const char *address)
{
	for (uint32_t i = 0; i < f->knocks.n; i++)
		if (strcmp(f->knocks.v[i].address, address) == 0)
			return &f->knocks.v[i];
	return NULL;
}

static void forget(dt_fleet *f, struct dt_knock *k)
{
	free(k->address);
	*k = f->knocks.v[--f->knocks.n];
}

int dt_vsock_connect(dt_fleet *f, const char *address)
{
	struct dt_knock *k = find(f, address);
	struct pollfd p = {.events = POLLOUT};
	int error = 0, ms = 0;
	socklen_t n = sizeof(error);

	if (!k) {
		int fd = begin(address);

		if (fd < 0)
			return -1;
		k = dt_vec_add(&f->knocks, NULL);
		*k = (struct dt_knock){dt_xstrdup(address), fd};
		ms = f->going ? 0 : FIRST_MS;
	}
	p.fd = k->fd;
	if (poll(&p, 1, ms) <= 0)
		return errno = EINPROGRESS, -1;
	forget(f, k);
	if (getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && !error)
		return p.fd;
	close(p.fd);
	errno = error;
	return -1;
}

void dt_vsock_close(dt_fleet *f)
{
	while (f->knocks.n) {
		close(f->knocks.v[0].fd);
		forget(f, &f->knocks.v[0]);
	}
	dt_vec_free(&f->knocks);
}
