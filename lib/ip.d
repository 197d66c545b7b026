/*
 * ip.d: packets of IP as DTrace describes them.
 *
 *    ip:::send { @[args[2]->ip_daddr] = sum(args[2]->ip_plength); }
 */
#pragma D depends_on library net.d

typedef struct pktinfo {
	uintptr_t pkt_addr;	/* struct sk_buff */
} pktinfo_t;

typedef struct csinfo {
	uintptr_t cs_addr;	/* struct sock; 0: not known yet */
	uint64_t cs_cid;	/* the same for all events of a connection */
	pid_t cs_pid;		/* current process */
	zoneid_t cs_zoneid;
} csinfo_t;

typedef struct ipinfo {
	uint8_t ip_ver;		/* 4 or 6 */
	uint32_t ip_plength;	/* bytes after the IP header */
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;

typedef unsigned int netstackid_t;

typedef struct ifinfo {
	string if_name;
	int8_t if_local;	/* 1: loopback */
	netstackid_t if_ipstack; /* the network namespace, as in /proc/PID/ns/net */
	uintptr_t if_addr;	/* struct net_device */
} ifinfo_t;

typedef struct ipv4info {	/* all 0 in a packet of version 6 */
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;	/* bytes */
	uint8_t ipv4_tos;
	uint16_t ipv4_length;
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;	/* of a fragment, in bytes */
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	uint32_t ipv4_src;	/* in network order */
	uint32_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	uintptr_t ipv4_hdr;	/* struct iphdr */
} ipv4info_t;

typedef struct ipv6info {	/* all 0 in a packet of version 4 */
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	uintptr_t ipv6_src;	/* address of the 16 bytes */
	uintptr_t ipv6_dst;
	string ipv6_saddr;
	string ipv6_daddr;
	uintptr_t ipv6_hdr;	/* struct ipv6hdr */
} ipv6info_t;

/* flags of version 4 */
inline int IPH_DF = 2;
inline int IPH_MF = 1;

inline string __protostr[int P] = P == 6 ? "TCP" : P == 17 ? "UDP" : P == 1 ? "ICMP" : P == 58 ? "ICMPV6" :
    P == 132 ? "SCTP" : P == 136 ? "UDPLITE" : P == 2 ? "IGMP" : P == 4 ? "IPIP" : P == 47 ? "GRE" :
    P == 50 ? "ESP" : P == 51 ? "AH" : P == 41 ? "IPV6" : "<unknown>";

/* the addresses of a packet */
inline string __ip_saddr[struct iphdr *I] =
    I->version == 4 ? inet_ntop(AF_INET, &I->saddr) : inet_ntop(AF_INET6, &((struct ipv6hdr *)I)->saddr);
inline string __ip_daddr[struct iphdr *I] =
    I->version == 4 ? inet_ntop(AF_INET, &I->daddr) : inet_ntop(AF_INET6, &((struct ipv6hdr *)I)->daddr);
/* ... and those of a socket */
inline string __laddr[struct sock *S] = S->__sk_common.skc_family == AF_INET ?
    inet_ntop(AF_INET, &S->__sk_common.skc_rcv_saddr) : inet_ntop(AF_INET6, &S->__sk_common.skc_v6_rcv_saddr);
inline string __raddr[struct sock *S] = S->__sk_common.skc_family == AF_INET ?
    inet_ntop(AF_INET, &S->__sk_common.skc_daddr) : inet_ntop(AF_INET6, &S->__sk_common.skc_v6_daddr);

translator pktinfo_t < struct sk_buff *S > {
	pkt_addr = (uintptr_t)S;
};

translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
	cs_cid = (uint64_t)S;
	cs_pid = pid;
	cs_zoneid = 0;
};

translator ipinfo_t < struct iphdr *I > {
	ip_ver = I->version;
	ip_plength = I->version == 4 ? ntohs(I->tot_len) - I->ihl * 4 : ntohs(((struct ipv6hdr *)I)->payload_len);
	ip_saddr = __ip_saddr[I];
	ip_daddr = __ip_daddr[I];
};

/* A connection, as sender and as receiver. */
translator ipinfo_t < struct sock *S > {
	ip_ver = S->__sk_common.skc_family == AF_INET ? 4 : 6;
	ip_plength = 0;
	ip_saddr = __laddr[S];
	ip_daddr = __raddr[S];
};
translator ipinfo_t < struct inet_sock *S > {
	ip_ver = S->sk.__sk_common.skc_family == AF_INET ? 4 : 6;
	ip_plength = 0;
	ip_saddr = __raddr[&S->sk];
	ip_daddr = __laddr[&S->sk];
};

translator ifinfo_t < struct net_device *D > {
	if_name = stringof(D->name);
	if_local = (D->flags & 0x8 /* IFF_LOOPBACK */) != 0;
	if_ipstack = D->nd_net.net->ns.inum;
	if_addr = (uintptr_t)D;
};

translator ipv4info_t < struct iphdr *I > {
	ipv4_ver = I->version == 4 ? 4 : 0;
	ipv4_ihl = I->version == 4 ? I->ihl * 4 : 0;
	ipv4_tos = I->version == 4 ? I->tos : 0;
	ipv4_length = I->version == 4 ? ntohs(I->tot_len) : 0;
	ipv4_ident = I->version == 4 ? ntohs(I->id) : 0;
	ipv4_flags = I->version == 4 ? ntohs(I->frag_off) >> 13 : 0;
	ipv4_offset = I->version == 4 ? (ntohs(I->frag_off) & 0x1fff) * 8 : 0;
	ipv4_ttl = I->version == 4 ? I->ttl : 0;
	ipv4_protocol = I->version == 4 ? I->protocol : 0;
	ipv4_protostr = I->version == 4 ? __protostr[I->protocol] : "";
	ipv4_checksum = I->version == 4 ? ntohs(I->check) : 0;
	ipv4_src = I->version == 4 ? I->saddr : 0;
	ipv4_dst = I->version == 4 ? I->daddr : 0;
	ipv4_saddr = I->version == 4 ? inet_ntop(AF_INET, &I->saddr) : "";
	ipv4_daddr = I->version == 4 ? inet_ntop(AF_INET, &I->daddr) : "";
	ipv4_hdr = I->version == 4 ? (uintptr_t)I : 0;
};

translator ipv6info_t < struct iphdr *I > {
	ipv6_ver = I->version == 6 ? 6 : 0;
	ipv6_tclass = I->version == 6 ? (ntohl(*(uint32_t *)I) >> 20) & 0xff : 0;
	ipv6_flow = I->version == 6 ? ntohl(*(uint32_t *)I) & 0xfffff : 0;
	ipv6_plen = I->version == 6 ? ntohs(((struct ipv6hdr *)I)->payload_len) : 0;
	ipv6_nexthdr = I->version == 6 ? ((struct ipv6hdr *)I)->nexthdr : 0;
	ipv6_nextstr = I->version == 6 ? __protostr[((struct ipv6hdr *)I)->nexthdr] : "";
	ipv6_hlim = I->version == 6 ? ((struct ipv6hdr *)I)->hop_limit : 0;
	ipv6_src = I->version == 6 ? (uintptr_t)&((struct ipv6hdr *)I)->saddr : 0;
	ipv6_dst = I->version == 6 ? (uintptr_t)&((struct ipv6hdr *)I)->daddr : 0;
	ipv6_saddr = I->version == 6 ? inet_ntop(AF_INET6, &((struct ipv6hdr *)I)->saddr) : "";
	ipv6_daddr = I->version == 6 ? inet_ntop(AF_INET6, &((struct ipv6hdr *)I)->daddr) : "";
	ipv6_hdr = I->version == 6 ? (uintptr_t)I : 0;
};
