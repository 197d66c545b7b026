/* udp: datagrams, sent and received; udplite: those with a checksum of a part of them. */
#include "probe/providers/net.h"

/*
 * A datagram; its socket is described by the packet, since a sending socket may not be connected,
 * and the socket of an incoming datagram is not known yet: its local end is the destination.
 */
#define DATAGRAM(from, native, socket, header)                                                     \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, {from, native, socket},                                \
		{                                                                                  \
			3, "struct udphdr *", header                                               \
		}                                                                                  \
	}
#define DATAGRAMS(number, socket, header)                                                          \
	{"send", .args = DATAGRAM(0, SKB, socket, header),                                         \
	 .sites = SITES(OUT(.when = IS_PROTO(OUT_IP, number), .arg = PACKET(OUT_IP)))},                 \
	{                                                                                          \
		"receive", .args = DATAGRAM(3, "struct udphdr *", socket, header), .sites = SITES(     \
			IN(.when = IS_PROTO(IN_IP, number), .arg = PACKET(IN_IP))                  \
		)                                                                                  \
	}

static const dt_stable_probe rows[] = {DATAGRAMS("17", "udpsinfo_t *", "udpinfo_t *")};
static const dt_stable_probe lite[] = {DATAGRAMS("136", "udplitesinfo_t *", "udpliteinfo_t *")};

DT_STABLE_PROVIDER(udp, "udp", rows, DT_STABLE_EVOLVING);
DT_STABLE_PROVIDER(udplite, "udplite", lite, DT_STABLE_EVOLVING);
