/*
 * samples: how long a million samples of 50,000 stacks take to become a flame graph (and the other
 * formats about stacks), and the memory of it all: from the rows that an engine hands over to the
 * finished file. bench/format builds and runs it.
 *
 *	samples FORMAT		its file on standard output, a line about time and memory on standard error
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "format/formats.h"

enum { SAMPLES = 1000000, STACKS = 50000, FRAMES = 32, FUNCTIONS = 20000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool name(void *arg, uint64_t addr, const char **mod, const char **sym, uint64_t *off)
{
	static char names[FUNCTIONS][32];
	uint64_t n = addr / 256 % FUNCTIONS;

	(void)arg;
	if (!names[n][0])
		snprintf(names[n], sizeof(names[n]), "function_number_%u", (unsigned)n);
	*mod = "vmlinux";
	*sym = names[n];
	*off = addr % 256;
	return true;
}

/* Stack i: half of its frames are shared with many others, as in life, the rest with few. */
static void make_stack(uint64_t pc[FRAMES], uint32_t i)
{
	uint64_t h = i;

	for (uint32_t f = 0; f < FRAMES; f++) {
		uint32_t outer = FRAMES - 1 - f; /* 0: the outermost */

		h = h * 6364136223846793005u + 1442695040888963407u;
		pc[f] = 0xffffffff81000000u + (outer < FRAMES / 2 ? i % (outer * 8 + 1) + outer * 512 : h >> 40) % FUNCTIONS * 256 + 8;
	}
}

int main(int argc, char **argv)
{
	static dt_action key = {.kind = DT_ACT_STACK, .arg = FRAMES, .size = FRAMES * 8};
	static dt_agg agg = {.name = "_", .id = 1, .func = DT_ACT_COUNT, .nkeys = 1, .keys = &key, .nwords = 1};
	dt_options opts;
	struct dt_consumer_env env = {.opts = &opts, .ksym = name};
	dt_error err = {0};
	const struct dt_writer_ops *ops;
	uint64_t (*stacks)[FRAMES] = calloc(STACKS, sizeof(*stacks)), one = 1, format;
	double start;
	struct rusage r;
	dt_aggtable t;
	dt_aggset *set;
	dt_aggs *aggs;
	dt_writer *w;
	dt_buf *out;

	dt_options_init(&opts);
	if (argc != 2 || dt_options_set(&opts, "oformat", argv[1], DT_WHEN_OPEN, &err) < 0)
		return 2;
	format = dt_opt(&opts, DT_O_OFORMAT);
	ops = dt_format_writer(format);
	for (uint32_t i = 0; i < STACKS; i++)
		make_stack(stacks[i], i);
	start = now();
	aggs = dt_aggs_new(&env);
	for (uint32_t i = 0; i < SAMPLES; i++)
		dt_aggs_merge(aggs, &agg, &(dt_datum){stacks[i % STACKS], FRAMES * 8}, &one);
	w = ops->open(&env);
	set = dt_aggs_get(aggs, &agg);
	dt_aggtable_make(&t, &set, 1, &opts);
	t.at_exit = true;
	if (ops->aggs(w, &t, &err) < 0 || ops->end(w, &err) < 0)
		return 1;
	out = ops->output(w);
	fwrite(out->s, 1, out->n, stdout);
	getrusage(RUSAGE_SELF, &r);
	fprintf(stderr, "%.2f %.0f %.1f %.2f\n", now() - start, (double)r.ru_maxrss / 1024, (double)out->n / 1e6,
		(double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6);
	return 0;
}
