/*
 * memory: how much of it one kind of buffer may take.
 *
 * That is a quarter of the machine's memory. A process in a control group (a container, a systemd service) has less: the
 * smallest limit of its group and of those above it. The kernel memory of BPF maps counts against
 * that limit, and a process that exceeds it is killed. So the needs of the rest of a session are
 * subtracted first, or most of the limit in a small group.
 *
 * The limits are read from the group in /proc/self/cgroup up to the root of the mount: memory.max
 * and memory.high of version 2, memory.limit_in_bytes of version 1. In a container without a cgroup
 * namespace that path does not exist below the mount; then only the mount's root counts, which is
 * the container's own group.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define MACHINE_SHARE 4		    /* a quarter */
#define SESSION	      (24ull << 20) /* the rest of a session with symbols and stacks */
#define SMALL_SHARE   12

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The number in a file; UINT64_MAX: "max", or no such file. */
static uint64_t read_limit(const char *dir, const char *name)
{
	char *path = dt_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	uint64_t limit;

	free(path);
	if (!f || fscanf(f, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	if (f)
		fclose(f);
	return limit;
}

/* The smallest limit from a group up to its mount. */
static uint64_t smallest(const char *mount, const char *group, const char *const names[])
{
	uint64_t limit = UINT64_MAX;
	char *path = dt_xasprintf("%s%s", mount, group), *slash;

	for (;;) {
		for (size_t i = 0; names[i]; i++)
			limit = least(limit, read_limit(path, names[i]));
		slash = strrchr(path, '/');
		if (strlen(path) <= strlen(mount) || !slash)
			break;
		*slash = 0;
	}
	free(path);
	return limit;
}

/* One line of /proc/self/cgroup: "0::/group" or "4:cpu,memory:/group". */
static uint64_t line_limit(char *line, const char *root)
{
	static const char *const v1[] = {"memory.limit_in_bytes", NULL};
	static const char *const v2[] = {"memory.max", "memory.high", NULL};
	char *controllers = strchr(line, ':'),
	     *group = controllers ? strchr(controllers + 1, ':') : NULL;
	uint64_t limit = UINT64_MAX;
	char *mount;

	if (!group)
		return limit;
	*group++ = 0;
	group[strcspn(group, "\n")] = 0;
	if (strncmp(group, "/..", 3) == 0) /* outside our namespace */
		*group = 0;
	controllers++;
	if (!*controllers)
		return smallest(root, group, v2);
	for (char *name; (name = strsep(&controllers, ","));) {
		if (strcmp(name, "memory") != 0)
			continue;
		mount = dt_xasprintf("%s/memory", root);
		limit = smallest(mount, group, v1);
		free(mount);
	}
	return limit;
}

uint64_t dt_memory_group_limit(const char *self, const char *root)
{
	FILE *f = fopen(self, "re");
	uint64_t limit = UINT64_MAX;
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		limit = least(limit, line_limit(line, root));
	free(line);
	if (f)
		fclose(f);
	return limit;
}

uint64_t dt_memory_share(uint64_t machine, uint64_t group)
{
	uint64_t share = machine / MACHINE_SHARE, room;

	if (group >= machine)
		return share;
	room = group > SESSION ? (group - SESSION) / MACHINE_SHARE : 0;
	return least(share, room > group / SMALL_SHARE ? room : group / SMALL_SHARE);
}

uint64_t dt_page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t dt_memory_for_buffers(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t machine = pages > 0 ? (uint64_t)pages * dt_page_size() : UINT64_MAX;

	return dt_memory_share(machine,
			       dt_memory_group_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
}
