/*
 * turns: what programs at system calls add to getppid(), measured in turns within one process.
 *
 *	turns OBJECT CHUNKS ROUNDS DEPTH WHO...
 *
 * WHO is a name of programs of limit.bpf.o (name, or name+name), or the number of a tracer's process: its programs at system
 * calls are taken over and the process is killed, so that it does not share the CPU, and so that its programs can be attached
 * and detached in milliseconds. Nobody reads what they record; their ring buffers are emptied between chunks.
 *
 * DEPTH: how many functions call each other before the call. While a tracer is there, calls are made for a while, so that it
 * can read what it needs to know about this program.
 *
 * Prints a line for each WHO: what each round added, in ns, the smallest chunk of it less that of the same round without
 * programs. The first line is what a call takes without. A turn in which others have programs at system calls is repeated.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "quiet.h"

#define CALLS 200
#define MOST 8
#define WAIT 3000 /* tries */

struct program {
	int fd;
	char at[32];
};
struct ring {
	volatile unsigned long *taken;
	const volatile unsigned long *given;
};
struct who {
	struct program p[MOST];
	struct ring ring[64];
	int n, nrings;
};

static void fail(const char *what, const char *which)
{
	fprintf(stderr, "turns: %s: %s\n", what, which);
	exit(1);
}

/* ---- whose programs ---- */

static void add_rings(struct who *w, int prog)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info), ids[64];
	long page = sysconf(_SC_PAGESIZE);

	info.nr_map_ids = 64;
	info.map_ids = (uint64_t)(uintptr_t)ids;
	if (bpf_obj_get_info_by_fd(prog, &info, &len) != 0)
		return;
	for (uint32_t i = 0; i < info.nr_map_ids && i < 64 && w->nrings < 64; i++) {
		struct bpf_map_info m = {0};
		struct ring r;
		int fd = bpf_map_get_fd_by_id(ids[i]);

		len = sizeof(m);
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &m, &len) != 0 || m.type != BPF_MAP_TYPE_RINGBUF) {
			close(fd);
			continue;
		}
		r.taken = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		r.given = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, fd, page);
		if (r.taken != MAP_FAILED && r.given != MAP_FAILED)
			w->ring[w->nrings++] = r;
	}
}

static void add_program(struct who *w, int fd, const char *at)
{
	if (w->n == MOST || fd < 0)
		fail("cannot take program at", at);
	w->p[w->n].fd = fd;
	snprintf(w->p[w->n++].at, sizeof(w->p[0].at), "%s", at);
	add_rings(w, fd);
}

/* Takes the programs of a tracer, and ends it. */
static void take_over(struct who *w, const char *pid)
{
	char path[300];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		char text[600] = "", at[32], *id, *name;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, d->d_name);
		f = fopen(path, "r");
		if (f) {
			text[fread(text, 1, sizeof(text) - 1, f)] = 0;
			fclose(f);
		}
		id = strstr(text, "prog_id:");
		name = strstr(text, "tp_name:");
		if (id && name && sscanf(name + 8, "%31s", at) == 1 && strncmp(at, "sys_e", 5) == 0)
			add_program(w, bpf_prog_get_fd_by_id((__u32)atoi(id + 8)), at);
	}
	if (dir)
		closedir(dir);
	if (!w->n)
		fail("no programs at system calls of process", pid);
	kill(atoi(pid), SIGKILL);
}

static void by_hand(struct who *w, struct bpf_object *o, char *names)
{
	for (char *s = strtok(names, "+"); s; s = strtok(NULL, "+")) {
		struct bpf_program *p = bpf_object__find_program_by_name(o, s);

		if (!p)
			fail("no such program", s);
		add_program(w, bpf_program__fd(p), strchr(bpf_program__section_name(p), '/') + 1);
	}
}

/* ---- turns ---- */

static __attribute__((noinline)) double best_chunk(const struct who *w, int chunks, int depth)
{
	double best = 0;

	if (depth > 1) {
		best = best_chunk(w, chunks, depth - 1);
		__asm__ volatile("" ::: "memory"); /* not a tail call */
		return best;
	}
	for (int chunk = 0; chunk < chunks; chunk++) {
		double t;

		for (int i = 0; i < w->nrings; i++)
			*w->ring[i].taken = *w->ring[i].given;
		t = quiet_now();
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		t = (quiet_now() - t) / CALLS;
		best = best && best < t ? best : t;
	}
	return best;
}

/* Nanoseconds of a call; 0: others traced meanwhile */
static double try_turn(const struct who *w, int chunks, int depth)
{
	int links[MOST];
	double ns;
	bool alone;

	for (int i = 0; i < w->n; i++) {
		links[i] = bpf_raw_tracepoint_open(w->p[i].at, w->p[i].fd);
		if (links[i] < 0)
			fail("cannot attach to", w->p[i].at);
	}
	alone = quiet_links().n == w->n;
	ns = alone ? best_chunk(w, chunks, depth) : 0;
	alone = alone && quiet_links().n == w->n;
	for (int i = 0; i < w->n; i++)
		close(links[i]);
	return alone ? ns : 0;
}

static double turn(const struct who *w, int chunks, int depth)
{
	for (int i = 0; i < WAIT; i++) {
		double ns = try_turn(w, chunks, depth);

		if (ns > 0)
			return ns;
		usleep(20000);
	}
	fail("others trace all the time", "gave up");
	return 0;
}

static void print(const char *name, const double *ns, int step, int rounds)
{
	printf("%s", name);
	for (int r = 0; r < rounds; r++)
		printf(" %.1f", ns[r * step]);
	printf("\n");
}

#define FIRST 5 /* of argv: WHO */

int main(int argc, char **argv)
{
	static struct who who[64], nobody;
	struct sched_param realtime = {.sched_priority = 10};
	int n = argc - FIRST, chunks, rounds, depth;
	struct bpf_object *o = argc > FIRST ? bpf_object__open_file(argv[1], NULL) : NULL;
	double *ns; /* of each round: without programs, then of each WHO what it adds */

	if (!o || n > 64 || bpf_object__load(o) != 0)
		fail("usage", "turns OBJECT CHUNKS ROUNDS DEPTH WHO...");
	chunks = atoi(argv[2]);
	rounds = atoi(argv[3]);
	depth = atoi(argv[4]);
	ns = calloc((size_t)rounds * ((size_t)n + 1) + 1, sizeof(*ns));
	for (int i = 0; i < 20; i++) {
		best_chunk(&nobody, 1, depth);
		usleep(20000);
	}
	for (int i = 0; i < n; i++) {
		if (argv[FIRST + i][0] >= '0' && argv[FIRST + i][0] <= '9')
			take_over(&who[i], argv[FIRST + i]);
		else
			by_hand(&who[i], o, strdup(argv[FIRST + i]));
	}
	sched_setscheduler(0, SCHED_FIFO, &realtime);
	for (int r = 0; r < rounds; r++) {
		double *at = ns + r * (n + 1);

		at[0] = turn(&nobody, chunks, depth);
		for (int i = 0; i < n; i++)
			at[1 + (i + r) % n] = turn(&who[(i + r) % n], chunks, depth) - at[0];
	}
	print("none", ns, n + 1, rounds);
	for (int i = 0; i < n; i++)
		print(argv[FIRST + i], ns + 1 + i, n + 1, rounds);
	return 0;
}
