/*
 * libFuzzer target: any bytes as a file of folded stacks (option flamediff). What was read must come out as the same
 * number of samples.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void add(void *arg, const uint32_t *path, uint32_t depth, const struct dt_snode *node)
{
	if (depth == 0 || !path || dt_snode_self(node))
		abort();
	*(uint64_t *)arg += node->other;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("folded", MFD_CLOEXEC);
	dt_samples *s = dt_samples_new(NULL);
	uint64_t total = 0, nodes = 0;
	dt_error err = {0};
	char path[64];

	if (fd < 0 || (n && write(fd, data, n) != (ssize_t)n))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (dt_folded_read(s, path, &err) < 0 && !err.text[0])
		abort();
	for (uint32_t i = 0; i < dt_samples_count(s); i++) {
		dt_sampleset *set = dt_samples_nth(s, i);

		dt_sampleset_each(s, set, add, &total);
		for (uint32_t k = 0; k < set->nodes.n; k++)
			nodes += set->nodes.v[k].other;
	}
	if (total != nodes)
		abort();
	dt_samples_free(s);
	close(fd);
	return 0;
}
