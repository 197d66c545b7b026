/*
 * stale: a process that gets the number of one that has ended unnoticed.
 *
 *	stale root		says "ready", waits for input, calls work() once
 *	stale child ROOT MAP...	enters a free number into the family of ROOT (option follow), which is one of these maps, as if such
 *				a process had been there and its end had been missed; then a process with this number, of
 *				another parent, calls work()
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void work(void)
{
	__asm__ volatile("" ::: "memory");
}

static int bpf(int command, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

static int element(int command, int map, uint32_t *key, uint32_t *value)
{
	union bpf_attr a = {.map_fd = (uint32_t)map, .key = (uintptr_t)key, .value = (uintptr_t)value};

	return bpf(command, &a);
}

/* The map that has this process as its own ancestor. */
static int family_of(uint32_t root, char **maps)
{
	for (char **m = maps; *m; m++) {
		union bpf_attr a = {.map_id = (uint32_t)atoi(*m)};
		int fd = bpf(BPF_MAP_GET_FD_BY_ID, &a);
		struct bpf_map_info info = {0};
		union bpf_attr i = {.info = {.bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info}};
		uint32_t key = root, value = 0;

		if (fd >= 0 && bpf(BPF_OBJ_GET_INFO_BY_FD, &i) == 0 && strcmp(info.name, "dt_family") == 0 &&
		    element(BPF_MAP_LOOKUP_ELEM, fd, &key, &value) == 0 && value == root)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int child(uint32_t root, char **maps)
{
	int map = family_of(root, maps), status;
	pid_t number = 30000, got;

	while (kill(number, 0) == 0 || errno != ESRCH)
		number--;
	if (map < 0 || element(BPF_MAP_UPDATE_ELEM, map, &(uint32_t){(uint32_t)number}, &root) < 0) {
		perror("the family");
		return 1;
	}
	got = (pid_t)syscall(SYS_clone3,
			     &(struct clone_args){.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1},
			     sizeof(struct clone_args));
	if (got == 0) {
		work();
		_exit(0);
	}
	if (got != number || waitpid(got, &status, 0) != got) {
		perror("clone3");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char c;

	if (argc > 2)
		return child((uint32_t)atoi(argv[2]), argv + 3);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	work();
	return 0;
}
