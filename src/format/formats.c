/*
 * formats: the writer of each format.
 */
#include "format/formats.h"

static const struct dt_writer_ops *const writers[] = {
    [DT_OFORMAT_TEXT] = &dt_writer_text,
    [DT_OFORMAT_JSON] = &dt_writer_json,
    [DT_OFORMAT_NDJSON] = &dt_writer_ndjson,
    [DT_OFORMAT_FOLDED] = &dt_writer_folded,
    [DT_OFORMAT_FLAMEGRAPH] = &dt_writer_flamegraph,
    [DT_OFORMAT_PPROF] = &dt_writer_pprof,
    [DT_OFORMAT_PERFETTO] = &dt_writer_perfetto,
    [DT_OFORMAT_PROMETHEUS] = &dt_writer_prometheus,
};

const struct dt_writer_ops *dt_format_named(const char *name)
{
	for (size_t i = 0; i < DT_NELEM(writers); i++)
		if (writers[i] && strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

const struct dt_writer_ops *dt_format_writer(uint64_t oformat)
{
	return oformat < DT_NELEM(writers) ? writers[oformat] : NULL;
}
