/* ip: packets of IP version 4 and 6, sent and received. */
#include "probe/providers/net.h"

#define IP_ARGS                                                                                    \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, {4, "struct net_device *", "ifinfo_t *"},              \
		    {2, "struct iphdr *", "ipv4info_t *"}, {2, "struct iphdr *", "ipv6info_t *"}   \
	}

static const dt_stable_probe rows[] = {
    {"send", .args = IP_ARGS, .sites = SITES(OUT(.when = IS_IP, .arg = PACKET(OUT_IP)))},
    {"receive", .args = IP_ARGS, .sites = SITES(IN(.when = IS_IP, .arg = PACKET(IN_IP)))},
};

DT_STABLE_PROVIDER(ip, "ip", rows, DT_STABLE_EVOLVING);
