/*
 * flow: the indentation of -F.
 *
 * A probe named entry (or *-entry) opens a level, one named return (or *-return) closes it. If
 * several clauses are on one probe, only the first entry and the last return count: the others are
 * shown as plain probes, inside. To tell which return is the last, the consumer passes the next
 * record. A stream is consumed in one order: all CPUs together with the temporal option, else each
 * CPU separately.
 */
#include <stdlib.h>

#include "consume/writer.h"

#define STEP	    2
#define STREAMS_MAX 65536

static bool is_or_ends_in(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	return n >= w && strcmp(name + n - w, word) == 0 && (n == w || name[n - w - 1] == '-');
}

enum dt_flow_kind dt_flow_kind_of(const dt_probe *p)
{
	if (is_or_ends_in(p->name, "entry"))
		return DT_FLOW_ENTRY;
	return is_or_ends_in(p->name, "return") ? DT_FLOW_RETURN : DT_FLOW_NONE;
}

static struct dt_flow_stream *find_stream(dt_flow_state *fs, uint32_t i)
{
	if (i >= STREAMS_MAX)
		i = 0;
	if (i >= fs->nstreams) {
		fs->streams = dt_xrealloc(fs->streams, (i + 1) * sizeof(*fs->streams));
		memset(fs->streams + fs->nstreams, 0,
		       (i + 1 - fs->nstreams) * sizeof(*fs->streams));
		fs->nstreams = i + 1;
	}
	return &fs->streams[i];
}

/* Another clause on the same probe. */
static bool is_sibling(const dt_ecb *a, const dt_ecb *b)
{
	return a && a != b && a->probe->id == b->probe->id;
}

dt_flow dt_flow_step(dt_flow_state *fs, uint32_t stream, const dt_ecb *ecb, const dt_ecb *next)
{
	struct dt_flow_stream *s = find_stream(fs, stream);
	dt_flow f = {.kind = dt_flow_kind_of(ecb->probe)};

	if (f.kind == DT_FLOW_ENTRY && is_sibling(s->last, ecb))
		f.kind = DT_FLOW_NONE;
	if (f.kind == DT_FLOW_RETURN && is_sibling(next, ecb))
		f.kind = DT_FLOW_NONE;
	if (f.kind == DT_FLOW_RETURN && s->indent >= STEP)
		s->indent -= STEP;
	f.indent = s->indent;
	if (f.kind == DT_FLOW_ENTRY)
		s->indent += STEP;
	s->last = ecb;
	return f;
}
