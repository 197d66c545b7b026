/*
 * limit: load programs of limit.bpf.o, attach them, wait to be terminated.
 *
 *	limit OBJECT PROGRAM...		attach as the section says
 *	limit OBJECT sample HZ		on the clock of every CPU
 */
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_named(const char *name, char **names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int attach_clock(struct bpf_program *p, int hz)
{
	struct perf_event_attr a = {.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};

	a.freq = 1;
	a.sample_freq = (unsigned)hz;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0);

		if (fd < 0 || !bpf_program__attach_perf_event(p, fd))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *o = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *p;
	bool clock;

	if (!o)
		return 1;
	clock = strcmp(argv[2], "sample") == 0;
	bpf_object__for_each_program(p, o) bpf_program__set_autoload(p, is_named(bpf_program__name(p), argv + 2));
	if (bpf_object__load(o) != 0)
		return 1;
	bpf_object__for_each_program(p, o)
	{
		if (!bpf_program__autoload(p))
			continue;
		if (clock ? attach_clock(p, argc > 3 ? atoi(argv[3]) : 997) : !bpf_program__attach(p))
			return 1;
	}
	pause();
	return 0;
}
