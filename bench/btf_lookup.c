/*
 * btf_lookup: the cost of the first look-up of a kernel type, in time and memory.
 *
 *   cc -Isrc -D_GNU_SOURCE -O2 bench/btf_lookup.c build/libdtrace.a -o /tmp/btf_lookup
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "type/type.h"

static double ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void report(const char *what, double since)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	printf("%-34s %8.3f ms   peak %ld KiB\n", what, ms_now() - since, r.ru_maxrss);
}

int main(void)
{
	double t = ms_now();
	dt_types *ts = dt_types_new();
	uint64_t offset = 0;
	int64_t value = 0;
	dt_type *task;

	report("empty store", t);
	t = ms_now();
	task = dt_type_lookup(ts, NULL, DT_NS_STRUCT, "task_struct");
	report("first look-up: struct task_struct", t);
	if (task == NULL) {
		printf("%s\n", dt_types_kernel_problem(ts));
		return 1;
	}
	t = ms_now();
	dt_type_member(ts, task, "comm", &offset);
	report("its members", t);
	t = ms_now();
	dt_type_lookup(ts, NULL, DT_NS_STRUCT, "sk_buff");
	report("second look-up: struct sk_buff", t);
	t = ms_now();
	dt_type_of_symbol(ts, NULL, "vfs_read");
	report("type of vfs_read()", t);
	t = ms_now();
	dt_enumerator_lookup(ts, "TCP_ESTABLISHED", true, &task, &value);
	report("first enumerator", t);
	t = ms_now();
	dt_types_free(ts);
	report("free", t);
	return 0;
}
