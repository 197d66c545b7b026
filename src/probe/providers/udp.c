/* udp: datagrams, sent and received; udplite: those with a partial checksum. */
#include "probe/providers/net.h"

#define DATAGRAM(socket, header)                                                                   \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, {3, "struct udphdr *", socket}, {3, "struct udphdr *", header} \
	}

static const dt_stable_probe rows[] = {
    {"send",
     .args = {PKT_INFO, CS_INFO, IP_INFO, {1, "struct sock *", "udpsinfo_t *"}, {3, "struct udphdr *", "udpinfo_t *"}},
     .sites = {OUT(.when = IS_PROTO(OUT_IP, "17"), .arg = PACKET(OUT_IP))}},
    /* the socket is not known yet: its own end is the destination */
    {"receive",
     .args = DATAGRAM("udpsinfo_t *", "udpinfo_t *"),
     .sites = {IN(.when = IS_PROTO(IN_IP, "17"), .arg = PACKET(IN_IP))}},
};

DT_STABLE_PROVIDER(udp, "udp", 40800, rows, DT_STABLE_EVOLVING);
