/*
 * net: shared by the network providers: the headers of a packet in D, for tables of stable probes.
 *
 * An outgoing packet is seen where it is handed to a device (net_dev_queue), an incoming one where
 * it enters the protocols (netif_receive_skb). For an incoming packet skb->data is at its IP
 * header, for an outgoing one skb->network_header gives its offset. Both see every packet once on
 * every interface, including loopback, on every kernel, with or without kprobes. A large send is
 * one packet here, which the device or the driver splits (GSO); received ones may have been merged
 * (GRO).
 */
#ifndef DT_PROVIDERS_NET_H
#define DT_PROVIDERS_NET_H

#include "probe/providers/stable.h"

#define SKB "struct sk_buff *"

/* the IP header */
#define OUT_IP "(args[0]->head + args[0]->network_header)"
#define IN_IP  "args[0]->data"

/* skb->protocol, in network order */
#define IS_IP4 "args[0]->protocol == 8"
#define IS_IP6 "args[0]->protocol == 0xdd86"
#define IS_IP  "(" IS_IP4 " || " IS_IP6 ")"

/* a packet of this protocol, with its header in it: not a later fragment */
#define IS_PROTO(ip, number)                                                                       \
	"(" IS_IP4 " ? ((struct iphdr *)" ip ")->protocol == " number " && !(((struct iphdr *)" ip         \
	")->frag_off & 0xff1f) : " IS_IP6 " && ((struct ipv6hdr *)" ip ")->nexthdr == " number ")"
/* the header after the IP header */
#define PAYLOAD(ip) "(uint64_t)" ip " + (" IS_IP4 " ? (*(uint8_t *)" ip " & 15) * 4 : 40)"

#define OUT(...) AT(TRACEPOINT, "net_dev_queue", __VA_ARGS__)
#define IN(...)	 AT(TRACEPOINT, "netif_receive_skb", __VA_ARGS__)

/* native arguments of a packet: skb, socket or 0, IP header, header after it, device */
#define PACKET(ip)                                                                                 \
	{                                                                                          \
		"arg0", "(uint64_t)args[0]->sk", "(uint64_t)" ip, PAYLOAD(ip), "(uint64_t)args[0]->dev" \
	}

/* args[] of a packet: pktinfo_t, csinfo_t, ipinfo_t ... */
#define PKT_INFO {0, SKB, "pktinfo_t *"}
#define CS_INFO	 {1, "struct sock *", "csinfo_t *"}
#define IP_INFO	 {2, "struct iphdr *", "ipinfo_t *"}

#endif
