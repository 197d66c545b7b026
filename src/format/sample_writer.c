/*
 * sample_writer: shared by the formats for stacks. It collects samples from records and
 * aggregations; the format turns them into a document at the end.
 */
#include <stdlib.h>

#include "format/samples.h"

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_samples *samples;
	dt_samples_emit_f *emit;
	dt_buf out;
};

dt_writer *dt_sample_writer_open(const struct dt_consumer_env *env, dt_samples_emit_f *emit)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	w->emit = emit;
	w->samples = dt_samples_new(env);
	return w;
}

void dt_sample_writer_close(dt_writer *w)
{
	dt_samples_free(w->samples);
	dt_buf_free(&w->out);
	free(w);
}

void dt_sample_writer_begin(dt_writer *w, const dt_record_event *r)
{
	(void)r;
	dt_samples_record_begin(w->samples);
}

void dt_sample_writer_value(dt_writer *w, const dt_value *v)
{
	dt_samples_record_value(w->samples, v);
}

void dt_sample_writer_record_end(dt_writer *w)
{
	dt_samples_record_end(w->samples);
}

int dt_sample_writer_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	(void)err;
	dt_samples_aggs(w->samples, t);
	return 0;
}

void dt_sample_writer_clear(dt_writer *w, const dt_agg *agg)
{
	dt_samples_clear(w->samples, agg);
}

/* What the document does not show, and why. */
static int report(dt_writer *w, dt_error *err)
{
	uint64_t skipped = dt_samples_skipped(w->samples);
	char *text = NULL;
	int rc = 0;

	if (skipped)
		text = dt_xasprintf("%llu row%s of aggregations not in the output: min(), max() "
				    "and sums below zero cannot be added up",
				    (unsigned long long)skipped, skipped == 1 ? "" : "s");
	else if (dt_samples_count(w->samples) == 0)
		text = dt_xstrdup("no stacks were recorded: there was no aggregation with keys, "
				  "and no record with a stack");
	if (text && w->env->diag &&
	    w->env->diag(w->env->arg, &(dt_diag){.kind = DT_DIAG_DROP, .text = text}) != 0)
		rc = dt_err(err, EDT_DROPABORT, NULL);
	free(text);
	return rc;
}

int dt_sample_writer_end(dt_writer *w, dt_error *err)
{
	if (report(w, err) < 0)
		return -1;
	return w->emit(w->samples, w->env, &w->out, err);
}

dt_buf *dt_sample_writer_output(dt_writer *w)
{
	return &w->out;
}
