/* table: every provider there is, as providers.def lists them. */
#include "probe/providers/providers.h"

const dt_provider *const dt_provider_table[] = {
#define DT_PROVIDER(id, first, n) &dt_provider_##id,
#include "probe/providers/providers.def"
#undef DT_PROVIDER
    NULL,
};
