/*
 * writers: records per second that each output format takes, on one core, without an engine: the same record
 * again and again, to /dev/null.
 *
 *   writers [records]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dtrace.h"
#include "format/formats.h"

static uint64_t todo;
static dt_record record;

static int status(dt_engine *e, dt_status *st)
{
	(void)e;
	st->running = true;
	return 0;
}

static int consume(dt_engine *e, const dt_sink *sink)
{
	(void)e;
	for (uint64_t i = 0; i < todo; i++) {
		record.timestamp = 14362822878169 + i * 1017;
		if (sink->record(sink->arg, &record) < 0)
			return -1;
	}
	return 0;
}

static const struct dt_engine_ops engine = {.status = status, .consume = consume};

static int take(const dtrace_record_t *r, void *arg)
{
	uint64_t *sum = arg;

	for (unsigned i = 0; i < dtrace_record_info(r)->nitems; i++)
		*sum += dtrace_value_info(dtrace_record_value(r, i, 0))->size;
	return 0;
}

static double measure(const struct dt_writer_ops *ops, dt_options *opts, dt_types *types)
{
	static uint64_t sum;
	struct dtrace_consumer to = {.size = sizeof(to), .arg = &sum, .record = take};
	struct dt_consumer_env env = {
	    .opts = opts, .types = types, .writer = ops, .writer_arg = &to, .out = fopen("/dev/null", "w")};
	dt_consumer *c = dt_consumer_new(&env);
	struct timespec a, b;
	dt_error err;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	if (dt_consumer_work(c, &engine, NULL, true, &err) < 0)
		abort();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	dt_consumer_free(c);
	fclose(env.out);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
	static const struct dt_writer_ops *const writers[] = {&dt_writer_text, &dt_writer_ndjson,
							      &dt_writer_json, &dt_writer_callbacks};
	static dt_options opts;
	dt_types *types = dt_types_new();
	const struct dt_intrinsics *in = dt_intrinsics(types);
	dt_difo number = {.type = in->int_, .name = "pid", .rtype = {DT_TYPE_CTF, DT_K_INTEGER, 0, 0, 4}};
	dt_difo text = {.type = in->string, .name = "execname", .rtype = {DT_TYPE_STRING, 0, 1, 0, 256}};
	dt_difo address = {.type = in->uint64, .name = "arg0", .rtype = {DT_TYPE_CTF, DT_K_INTEGER, 0, 0, 8}};
	dt_action actions[] = {{.kind = DT_ACT_DIFEXPR, .difo = &number, .size = 4},
			       {.kind = DT_ACT_DIFEXPR, .difo = &text, .size = 256},
			       {.kind = DT_ACT_DIFEXPR, .difo = &address, .size = 8}};
	dt_stmt stmts[] = {{.kind = DT_ST_TRACE, .first = 0, .nactions = 1},
			   {.kind = DT_ST_TRACE, .first = 1, .nactions = 1},
			   {.kind = DT_ST_TRACE, .first = 2, .nactions = 1}};
	dt_clause clause = {.actions = actions, .nactions = 3, .stmts = stmts, .nstmts = 3};
	dt_probe probe = {.id = 1017, .prov = "syscall", .mod = "vmlinux", .func = "openat", .name = "entry"};
	dt_ecb ecb = {.epid = 1, .probe = &probe, .clause = &clause};
	int pid = 12345;
	uint64_t arg = 0xffffffffffffff9c;
	dt_datum values[] = {{&pid, 4}, {"systemd-journal", 16}, {&arg, 8}};
	double text_time = 0;

	todo = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	dt_options_init(&opts);
	record = (dt_record){.ecb = &ecb, .values = values};
	for (size_t i = 0; i < DT_NELEM(writers); i++) {
		double best = 1e9;

		for (int k = 0; k < 5; k++) {
			double t = measure(writers[i], &opts, types);

			best = t < best ? t : best;
		}
		if (i == 0)
			text_time = best;
		printf("%-10s %9.0f records/s %5.2f x the time of text\n", writers[i]->name,
		       (double)todo / best, best / text_time);
	}
	dt_types_free(types);
	dt_options_free(&opts);
	return 0;
}
