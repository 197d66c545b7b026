/*
 * site for aarch64: static probes have one nop, which only ever becomes a breakpoint.
 */
#include <stddef.h>

#include "arch/site.h"

/* The kernel emulates ret. */
const struct dt_site_moved *dt_site_moved(void)
{
	return NULL;
}

const struct dt_site_pair *dt_site_pair(void)
{
	return NULL;
}
