/*
 * dtraced(8): the agent of a machine. It listens on unix sockets and on the serial port of a guest, and for each front
 * that comes it starts a process, which serves that front (dtrace_agent_run) and ends with it. So whatever happens to a
 * session, ending its process detaches everything.
 *
 * A NATS server is served by a process too, which hands the fronts over to this one: it has threads, and this one forks.
 *
 * Who is at the other end of a socket the kernel says (SO_PEERCRED); the policy says what that user may do. Nothing
 * listens on a network.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <linux/vm_sockets.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dtrace.h"
#include "dtraced.h"

#define PORT_NAME      "org.dtrace.0"
#define DEFAULT_POLICY "/etc/dtrace/policy"
#define DEFAULT_OUTPUT "/var/lib/dtrace/sessions"
#define MAX_PLACES     16
#define RESERVED_PORTS 1024 /* of vsock: only root can have them (CAP_NET_BIND_SERVICE) */
#define REFUSALS       20 /* messages about fronts that are refused, at once */
#define SERVED	       10 /* s: longer than connecting may take */
#define MAX_CHILDREN   64
#define MAX_OF_USER    16 /* of these, for one user who is not root */

/* Where fronts come from. */
struct place {
	const char *path;
	enum { SOCKET, PORT, NATS, VSOCK } kind;
	int fd;	   /* sockets, vsock: it listens; NATS: fronts come from here; -1: not open */
	pid_t pid; /* ports, NATS: the process that serves it; 0: none */
};

static struct place places[MAX_PLACES];
static int nplaces;
static struct child {
	pid_t pid; /* 0: none */
	uid_t user;
} children[MAX_CHILDREN];
static struct policy policy;
static const char *name;
static const char *output = DEFAULT_OUTPUT; /* of durable sessions */
static const char *targets, *wait_time; /* relay */
static volatile sig_atomic_t ending;

void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "dtraced: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

char *path_of(const char *fmt, ...)
{
	va_list ap;
	char *path;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory");
	return path;
}

static void usage(FILE *out, int status)
{
	fprintf(out, "Usage: dtraced [flags]\n"
		     "Serves dtrace -E of this machine, its host, or others that reach its sockets.\n\n"
		     "  -l socket   listen on a unix socket; may be given several times\n"
		     "  -d port     serve a serial port (without -l and -d: that called " PORT_NAME ")\n"
		     "  -v port     listen on a port of vsock (884 is the usual one), for the host of this guest\n"
		     "  -N url      be found over a NATS server: nats://host:4222\n"
		     "  -n name     the name of this machine (its host name)\n"
		     "  -r targets  be a relay for these machines: sockets, directories of sockets, NATS servers\n"
		     "  -t time     how long a relay waits for them when a front comes (1s)\n"
		     "  -p policy   who may use what (" DEFAULT_POLICY ", if it is there)\n"
		     "  -s folder   run the scripts NAME.d in it as durable sessions\n"
		     "  -o folder   keep their output there (" DEFAULT_OUTPUT ")\n");
	exit(status);
}

/* ---- one front ---- */

/* Only the process that serves it runs this; it does not return. */
static _Noreturn void serve(int fd, const struct rule *r)
{
	struct dtrace_agent a = {.size = sizeof(a), .fd = fd, .name = name, .targets = targets, .wait = wait_time};
	char why[512] = "";

	a.providers = r->providers;
	a.destructive = r->destructive;
	a.overhead = r->overhead;
	a.memory = r->memory;
	a.sessions = output;
	a.watch = r->sessions ? r->sessions : r->providers ? "" : NULL;
	if (dtrace_agent_run(&a, why, sizeof(why)) < 0)
		fprintf(stderr, "dtraced: %s\n", why);
	_exit(0);
}

pid_t spawn(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < nplaces; i++)
		if (places[i].fd >= 0)
			close(places[i].fd);
	sessions_forget();
	return 0;
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* Whoever is refused may come again at once. So not more than REFUSALS at once are said, and then one each second. */
static void say_refused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say_refused(const char *fmt, ...)
{
	static time_t spoke; /* as if one was said each second, up to then */
	static unsigned long hidden;
	time_t now = time(NULL);
	va_list ap;

	spoke = spoke < now - REFUSALS ? now - REFUSALS : spoke;
	if (spoke >= now) {
		hidden++;
		return;
	}
	spoke++;
	if (hidden)
		fprintf(stderr, "dtraced: %lu more fronts were refused\n", hidden);
	hidden = 0;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

/* NULL: nobody of that kind may come. */
static const struct rule *rule_for(uid_t user)
{
	const struct rule *r = policy_of(&policy, user);
	char text[USER_TEXT];

	if (!r)
		say_refused("dtraced: user %s is not in the policy: refused\n", policy_user_text(user, text));
	return r;
}

/* Until a front at the host opens its end and says something. */
static _Noreturn void serve_port(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	const struct rule *r;

	if (fd < 0)
		fprintf(stderr, "dtraced: cannot open %s: %s\n", path, strerror(errno));
	while (fd >= 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (poll(&p, 1, -1) > 0 && (p.revents & POLLIN) && !(p.revents & (POLLHUP | POLLERR)))
			break;
		wait_a_little(); /* no front is connected */
	}
	r = fd >= 0 ? rule_for(HOST_USER) : NULL;
	if (r)
		serve(fd, r);
	sleep(1); /* then it is tried again */
	_exit(1);
}

/* From the process that serves a NATS server. -1: there is none. */
static int receive(int from)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte;
	struct iovec v = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Who comes over vsock, by the number of the machine and the port there: users of the host who are not root have no reserved one. */
static uid_t vsock_user(int fd)
{
	struct sockaddr_vm a = {0};
	socklen_t n = sizeof(a);

	if (getpeername(fd, (struct sockaddr *)&a, &n) < 0)
		return VSOCK_USER;
	return a.svm_cid == VMADDR_CID_HOST && a.svm_port < RESERVED_PORTS ? HOST_USER : VSOCK_USER;
}

static bool who_is(const struct place *p, int fd, uid_t *user)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	switch (p->kind) {
	case NATS: *user = NATS_USER; return true;
	case VSOCK: *user = vsock_user(fd); return true;
	case PORT: *user = HOST_USER; return true;
	case SOCKET: break;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return false;
	*user = who.uid;
	return true;
}

/* For one more front of this user; -1: there are too many. Users other than root leave room for others. */
static int free_slot(uid_t user)
{
	int slot = -1, of_user = 0;
	char text[USER_TEXT];

	for (int i = 0; i < MAX_CHILDREN; i++) {
		if (!children[i].pid)
			slot = i;
		else
			of_user += children[i].user == user;
	}
	if (user != 0 && of_user >= MAX_OF_USER)
		slot = -1;
	if (slot < 0)
		say_refused("dtraced: user %s has %d fronts, and there is no room for another: refused\n",
			    policy_user_text(user, text), of_user);
	return slot;
}

static void accept_front(const struct place *p)
{
	int fd = p->kind == NATS ? receive(p->fd) : accept4(p->fd, NULL, NULL, SOCK_CLOEXEC), slot;
	const struct rule *r;
	uid_t user;
	pid_t pid;

	if (fd < 0)
		return;
	if (who_is(p, fd, &user) && (r = rule_for(user)) && (slot = free_slot(user)) >= 0) {
		pid = spawn();
		if (pid == 0)
			serve(fd, r);
		if (pid > 0)
			children[slot] = (struct child){pid, user};
	}
	close(fd);
}

/* ---- all of them ---- */

static void add_place(const char *path, int kind)
{
	if (nplaces == MAX_PLACES)
		die("more than %d sockets and ports", MAX_PLACES);
	places[nplaces++] = (struct place){.path = path, .kind = (unsigned)kind, .fd = -1};
}

/* Another process may be listening there; one that is gone leaves its socket behind. */
static bool is_used(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool used = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0;

	if (fd >= 0)
		close(fd);
	return used;
}

static void listen_at(struct place *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;

	if (strlen(p->path) >= sizeof(a.sun_path))
		die("%s: the path is too long for a socket", p->path);
	strcpy(a.sun_path, p->path);
	if (stat(p->path, &st) == 0 && S_ISSOCK(st.st_mode) && !is_used(&a))
		unlink(p->path);
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	umask(0177); /* who may connect: the owner; chmod(1) and the policy say who else */
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(p->fd, 64) < 0)
		die("cannot listen on %s: %s", p->path, strerror(errno));
	umask(0022);
}

static void listen_vsock(struct place *p)
{
	char *end;
	unsigned long port = strtoul(p->path, &end, 10);
	struct sockaddr_vm a = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = (unsigned)port};

	if (*end || end == p->path || port >= VMADDR_PORT_ANY)
		die("\"%s\" is not a port of vsock", p->path);
	p->fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(p->fd, 64) < 0)
		die("cannot listen on port %lu of vsock: %s", port, strerror(errno));
}

/* The serial port of that name. udev makes a link for it; without udev the kernel still tells which one it is. */
static const char *find_port(void)
{
	static char path[320];
	struct dirent *e;
	DIR *d = opendir("/sys/class/virtio-ports");

	while (d && (e = readdir(d))) {
		char text[64] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
		text[strcspn(text, "\n")] = 0;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (strcmp(text, PORT_NAME) == 0) {
			closedir(d);
			return path;
		}
	}
	if (d)
		closedir(d);
	die("this machine has no serial port called " PORT_NAME "; name a socket (-l)");
}

static void reap(void)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (sessions_reap(pid, status))
			continue;
		for (int i = 0; i < MAX_CHILDREN; i++)
			if (children[i].pid == pid)
				children[i].pid = 0;
		for (int i = 0; i < nplaces; i++)
			if (places[i].pid == pid)
				places[i].pid = 0;
	}
}

/* It tries again all the time; the same reason is said once, unless it was served in between. */
static _Noreturn void serve_nats(const char *url, int handover)
{
	char why[512] = "", told[512] = "";

	for (;;) {
		time_t begin = time(NULL);

		dtrace_agent_nats(url, name, handover, why, sizeof(why));
		if (strcmp(why, told) != 0 || time(NULL) - begin > SERVED)
			fprintf(stderr, "dtraced: %s\n", why);
		memcpy(told, why, sizeof(told));
		sleep(1);
	}
}

/* A new process needs a new socket pair: what was on its way in the old one is void. */
static void staff_nats(struct place *p)
{
	int pair[2];

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	p->pid = spawn();
	if (p->pid == 0)
		serve_nats(p->path, pair[1]);
	close(pair[1]);
	p->fd = pair[0];
}

static void staff(void)
{
	for (int i = 0; i < nplaces; i++) {
		if (places[i].kind == SOCKET || places[i].kind == VSOCK || places[i].pid)
			continue;
		if (places[i].kind == NATS) {
			staff_nats(&places[i]);
			continue;
		}
		places[i].pid = spawn();
		if (places[i].pid == 0)
			serve_port(places[i].path);
	}
}

static void on_end(int sig)
{
	(void)sig;
	ending = 1;
}

static void on_child(int sig)
{
	(void)sig;
}

/* A socket tells the front that its agent has ended; a serial port does not. */
static void leave_port(const struct place *p)
{
	struct dtrace_agent a = {.size = sizeof(a), .name = name, .leaving = 1};
	char why[64];

	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);
	a.fd = open(p->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (a.fd >= 0)
		dtrace_agent_run(&a, why, sizeof(why));
}

static void run(void)
{
	while (!ending) {
		struct pollfd fds[MAX_PLACES];
		int n = 0;

		reap();
		staff();
		sessions_work();
		for (int i = 0; i < nplaces; i++)
			if (places[i].fd >= 0)
				fds[n++] = (struct pollfd){.fd = places[i].fd, .events = POLLIN};
		if (poll(fds, (nfds_t)n, 500) <= 0)
			continue;
		for (int i = 0, k = 0; i < nplaces; i++)
			if (places[i].fd >= 0 && fds[k++].revents & POLLIN)
				accept_front(&places[i]);
	}
	for (int i = 0; i < nplaces; i++) {
		if (places[i].kind == SOCKET)
			unlink(places[i].path);
		if (places[i].pid > 0)
			kill(places[i].pid, SIGTERM);
		if (places[i].kind == PORT)
			leave_port(&places[i]);
	}
	for (int i = 0; i < MAX_CHILDREN; i++)
		if (children[i].pid)
			kill(children[i].pid, SIGTERM);
	sessions_end();
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_end};
	const char *path = access(DEFAULT_POLICY, F_OK) == 0 ? DEFAULT_POLICY : NULL;
	const char *scripts = NULL, *url = NULL;
	int c;

	while ((c = getopt(argc, argv, "l:d:n:N:o:p:r:s:t:v:h")) != -1) {
		switch (c) {
		case 'l': add_place(optarg, SOCKET); break;
		case 'd': add_place(optarg, PORT); break;
		case 'v': add_place(optarg, VSOCK); break;
		case 'N':
			add_place(optarg, NATS);
			url = optarg;
			break;
		case 'n': name = optarg; break;
		case 'o': output = optarg; break;
		case 'p': path = optarg; break;
		case 's': scripts = optarg; break;
		case 'r': targets = optarg; break;
		case 't': wait_time = optarg; break;
		case 'h': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	}
	if (optind < argc)
		usage(stderr, 2);
	if (name && (!*name || strcmp(name, "host") == 0))
		die("a machine cannot be called \"%s\"", name);
	if (nplaces == 0 && !scripts)
		add_place(find_port(), PORT);
	policy_read(&policy, path);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child}, NULL); /* wakes poll() */
	signal(SIGPIPE, SIG_IGN);
	if (scripts)
		sessions_open(scripts, output, name, url);
	for (int i = 0; i < nplaces; i++)
		if (places[i].kind == SOCKET)
			listen_at(&places[i]);
		else if (places[i].kind == VSOCK)
			listen_vsock(&places[i]);
	run();
	return 0;
}
