/* objects: the BPF programs, maps and links that are in the kernel now, one line each, oldest first.
 * With arguments: only those whose names begin with one of them (links have the name of their program). */
#include <bpf/bpf.h>
#include <stdio.h>
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

int main(int argc, char **argv)
{
	char name[32];
	__u32 id = 0;

	(void)argc;
	while (bpf_prog_get_next_id(id, &id) == 0) {
		name[0] = 0;
		prog_name(id, name, sizeof(name));
		if (wanted(name, argv + 1))
			printf("prog %u %s\n", id, name);
	}
	for (id = 0; bpf_map_get_next_id(id, &id) == 0;) {
		struct bpf_map_info info = { 0 };
		__u32 len = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && wanted(info.name, argv + 1))
			printf("map %u %s\n", id, info.name);
		close(fd);
	}
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
