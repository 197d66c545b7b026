/*
 * events: trace a D program and show every record with its typed values.
 *
 *	cc -o events events.c -ldtrace
 *	events [-x option[=value]]... 'BEGIN { trace(pid); printf("%s\n", execname); exit(0); }'
 */
#include <dtrace.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void show(const dtrace_value_t *v, int depth);

static void show_frames(const dtrace_value_t *v, unsigned n, int depth)
{
	for (unsigned i = 0; i < n; i++) {
		struct dtrace_frame f = {.size = sizeof(f)};

		if (dtrace_value_frame(v, i, &f) == 0)
			printf("%*s%s`%s+0x%" PRIx64 "\n", depth * 2, "", f.module ? f.module : "?",
			       f.symbol ? f.symbol : "?", f.offset);
	}
}

static void show_children(const dtrace_value_t *v, unsigned n, int depth)
{
	for (unsigned i = 0; i < n; i++)
		show(dtrace_value_child(v, i), depth);
}

static void show(const dtrace_value_t *v, int depth)
{
	const struct dtrace_valueinfo *i = dtrace_value_info(v);
	const char *type = dtrace_value_type(v), *name;

	printf("%*s%s (%s): ", depth * 2, "", i->name ? i->name : "-", type ? type : "?");
	switch (i->kind) {
	case DTRACE_VALUE_NONE: printf("nothing\n"); break;
	case DTRACE_VALUE_INT:
		name = dtrace_value_enumerator(v);
		if (name)
			printf("%s\n", name);
		else if (i->is_pointer)
			printf("0x%" PRIx64 "\n", i->u);
		else if (i->is_signed)
			printf("%" PRId64 "\n", (int64_t)i->u);
		else
			printf("%" PRIu64 "\n", i->u);
		break;
	case DTRACE_VALUE_FLOAT: printf("%g\n", dtrace_value_double(v)); break;
	case DTRACE_VALUE_STRING: printf("\"%.*s\"\n", (int)i->size, (const char *)i->data); break;
	case DTRACE_VALUE_BYTES:
		for (size_t k = 0; k < i->size; k++)
			printf("%02x", ((const unsigned char *)i->data)[k]);
		printf("\n");
		break;
	case DTRACE_VALUE_STRUCT:
	case DTRACE_VALUE_ARRAY:
		printf("%u inside\n", i->nchildren);
		show_children(v, i->nchildren, depth + 1);
		break;
	case DTRACE_VALUE_STACK:
	case DTRACE_VALUE_SYMBOL:
		printf("%u frames\n", i->nframes);
		show_frames(v, i->nframes, depth + 1);
		break;
	}
}

static int on_record(const dtrace_record_t *r, void *arg)
{
	const struct dtrace_recordinfo *i = dtrace_record_info(r);

	(void)arg;
	printf("%s:%s:%s:%s\n", i->probe.provider, i->probe.module, i->probe.function, i->probe.name);
	for (unsigned k = 0; k < i->nitems; k++) {
		const struct dtrace_item *item = dtrace_record_item(r, k);

		if (item->text)
			printf("  %s [%.*s]\n", item->action, (int)item->textlen, item->text);
		else
			printf("  %s\n", item->action);
		for (unsigned n = 0; n < item->nvalues; n++)
			show(dtrace_record_value(r, k, n), 2);
	}
	return 0;
}

static int on_row(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_rowinfo *i = dtrace_row_info(r);

	(void)arg;
	printf("@%s %s", i->name, i->function);
	if (i->nbuckets == 0)
		printf(" = %" PRId64, i->value);
	printf("\n");
	for (unsigned k = 0; k < i->nkeys; k++)
		show(dtrace_row_key(r, k), 1);
	for (unsigned k = 0; k < i->nbuckets; k++)
		printf("  %" PRId64 "..%" PRId64 ": %" PRId64 "\n", i->buckets[k].low,
		       i->buckets[k].high, i->buckets[k].count);
	return 0;
}

static int on_drop(const struct dtrace_drop *d, void *arg)
{
	(void)arg;
	printf("drop: %s\n", d->text);
	return 0;
}

static int on_fault(const struct dtrace_fault *f, void *arg)
{
	(void)arg;
	printf("fault in clause %u, action %u: %s\n", f->clause, f->action, f->what);
	return 0;
}

static int on_process(const struct dtrace_process *p, void *arg)
{
	(void)arg;
	printf("process: %s\n", p->ended ? "ended" : p->text);
	return 0;
}

static int fail(dtrace_hdl_t *h)
{
	fprintf(stderr, "events: %s\n", dtrace_errtext(h));
	dtrace_close(h);
	return 1;
}

int main(int argc, char **argv)
{
	struct dtrace_consumer c = {
	    .size = sizeof(c),
	    .record = on_record,
	    .aggregation = on_row,
	    .drop = on_drop,
	    .fault = on_fault,
	    .process = on_process,
	};
	dtrace_hdl_t *h = dtrace_open(NULL);
	enum dtrace_work_status st;
	dtrace_prog_t *p;
	int i = 1;

	if (!h)
		return 1;
	for (; i + 1 < argc && strcmp(argv[i], "-x") == 0; i += 2) {
		char *eq = strchr(argv[i + 1], '=');

		if (eq)
			*eq = 0;
		if (dtrace_setopt(h, argv[i + 1], eq ? eq + 1 : NULL) < 0)
			return fail(h);
	}
	if (i >= argc) {
		fprintf(stderr, "usage: events [-x option[=value]]... program\n");
		return 2;
	}
	dtrace_setopt(h, "temporal", NULL);
	if (!(p = dtrace_compile_string(h, argv[i], NULL)) || dtrace_enable(h, p, NULL) < 0 ||
	    dtrace_consume(h, &c) < 0 || dtrace_go(h) < 0)
		return fail(h);
	while ((st = dtrace_work(h, NULL)) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	if (st == DTRACE_WORK_ERROR || dtrace_stop(h) < 0 || dtrace_work(h, NULL) == DTRACE_WORK_ERROR ||
	    dtrace_aggregate_print(h, NULL) < 0)
		return fail(h);
	i = dtrace_exit_status(h);
	dtrace_close(h);
	return i;
}
