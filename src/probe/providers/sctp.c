/* sctp: packets of SCTP. Associations and their states are inside a module that has no events for them. */
#include "probe/providers/net.h"

#define SCTP_PACKET                                                                                \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, {3, "struct sctphdr *", "sctpsinfo_t *"},              \
		    {3, "struct sctphdr *", "sctpinfo_t *"}                                        \
	}

static const dt_stable_probe rows[] = {
    {"send", .args = SCTP_PACKET, .sites = {OUT(.when = IS_PROTO(OUT_IP, "132"), .arg = PACKET(OUT_IP))}},
    {"receive", .args = SCTP_PACKET, .sites = {IN(.when = IS_PROTO(IN_IP, "132"), .arg = PACKET(IN_IP))}},
};

DT_STABLE_PROVIDER(sctp, "sctp", 40900, rows, DT_STABLE_EVOLVING);
