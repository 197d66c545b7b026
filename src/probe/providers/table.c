/* table: every provider there is. Ids do not depend on this order: each owns a fixed range. */
#include "probe/providers/providers.h"

const dt_provider *const dt_provider_table[] = {
    &dt_provider_dtrace,
    &dt_provider_profile,
    &dt_provider_syscall,
    &dt_provider_sdt,
    &dt_provider_proc,
    &dt_provider_sched,
    &dt_provider_ip,
    &dt_provider_tcp,
    &dt_provider_udp,
    &dt_provider_sctp,
    &dt_provider_pid,
    &dt_provider_usdt,
    NULL,
};
