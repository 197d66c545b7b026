/* objects: the BPF programs, maps and links that are in the kernel now, one line each, oldest first.
 * With arguments: only programs and links whose names begin with one of them (links have the name of their program).
 * objects -u ID...: the maps that these programs use.
 *
 * Maps are not opened, so they have no names: a program array that loses its last descriptor while the kernel still clears it,
 * because it had lost its last one before, is never freed (Linux 6.18: prog_array_map_clear() takes a reference for work that is
 * queued already). Opening and closing one of a process that ends does that. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wanted(const char *name, char **prefixes)
{
	for (char **p = prefixes; *p; p++)
		if (strncmp(name, *p, strlen(*p)) == 0)
			return 1;
	return !*prefixes;
}

static void prog_name(__u32 id, char *name, size_t size)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		snprintf(name, size, "%s", info.name);
	close(fd);
}

static void used_by(__u32 prog)
{
	__u32 ids[256], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = 256, .map_ids = (__u64)(unsigned long)ids };
	int fd = bpf_prog_get_fd_by_id(prog);

	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		for (__u32 i = 0; i < info.nr_map_ids && i < 256; i++)
			printf("map %u\n", ids[i]);
	close(fd);
}

int main(int argc, char **argv)
{
	char name[32];
	__u32 id = 0;

	if (argc > 1 && strcmp(argv[1], "-u") == 0) {
		for (char **p = argv + 2; *p; p++)
			used_by((__u32)strtoul(*p, NULL, 10));
		return 0;
	}
	while (bpf_prog_get_next_id(id, &id) == 0) {
		name[0] = 0;
		prog_name(id, name, sizeof(name));
		if (wanted(name, argv + 1))
			printf("prog %u %s\n", id, name);
	}
	for (id = 0; bpf_map_get_next_id(id, &id) == 0;)
		printf("map %u\n", id);
	for (id = 0; bpf_link_get_next_id(id, &id) == 0;) {
		struct bpf_link_info info = { 0 };
		__u32 len = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		name[0] = 0;
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
			prog_name(info.prog_id, name, sizeof(name));
		close(fd);
		if (wanted(name, argv + 1))
			printf("link %u %s\n", id, name);
	}
	return 0;
}
