/*
 * sctp.d: packets and associations of SCTP as DTrace describes them.
 *
 *    sctp:::state-change { @[sctp_state_string[args[5]->sctps_state], sctp_state_string[args[3]->sctps_state]] = count(); }
 */
#pragma D depends_on library ip.d

typedef struct sctpinfo {
	uint16_t sctp_sport;
	uint16_t sctp_dport;
	uint32_t sctp_verify;	/* verification tag */
	uint32_t sctp_checksum;
	uintptr_t sctp_hdr;	/* struct sctphdr */
} sctpinfo_t;

/* One end of an association. Its other addresses are known if the kernel has type information for
 * SCTP; else they are 0. */
typedef struct sctpsinfo {
	uintptr_t sctps_addr;		/* struct sock; 0: not known */
	int sctps_num_raddrs;		/* number of addresses of the other end */
	uintptr_t sctps_raddrs;		/* struct list_head of them */
	int sctps_num_laddrs;		/* 1: the socket is bound to one; 0: to all of this host */
	uintptr_t sctps_laddrs;		/* struct list_head of them */
	uint16_t sctps_lport;
	uint16_t sctps_rport;
	string sctps_laddr;
	string sctps_raddr;
	int32_t sctps_state;		/* SCTP_STATE_*; packets: 0 if the socket is not known */
} sctpsinfo_t;

typedef struct sctplsinfo {	/* the previous state */
	int32_t sctps_state;
} sctplsinfo_t;

/* states of a socket of SCTP, as the kernel numbers them */
inline int32_t SCTP_STATE_ESTABLISHED = 1;
inline int32_t SCTP_STATE_ESTABLISHING = 2;
inline int32_t SCTP_STATE_CLOSED = 7;
inline int32_t SCTP_STATE_CLOSING = 8;
inline int32_t SCTP_STATE_LISTENING = 10;

inline string sctp_state_string[int32_t S] = S == 1 ? "state-established" : S == 2 ? "state-establishing" :
    S == 7 ? "state-closed" : S == 8 ? "state-closing" : S == 10 ? "state-listening" : "<unknown>";

/* struct sctphdr is part of a module; its layout is that of the packet. */
translator sctpinfo_t < struct sctphdr *H > {
	sctp_sport = ntohs(*(uint16_t *)H);
	sctp_dport = ntohs(*((uint16_t *)H + 1));
	sctp_verify = ntohl(*((uint32_t *)H + 1));
	sctp_checksum = *((uint32_t *)H + 2);
	sctp_hdr = (uintptr_t)H;
};

/* The first association of a socket: asocs is a list. Other kinds of sockets can also send such
 * packets. */
inline int __is_sctp[struct sock *S] = S != NULL && S->sk_protocol == 132 && S->sk_type != 3;
inline uintptr_t __asocs[struct sock *S] = (__is_sctp[S] ? (uintptr_t)((struct sctp_sock *)S)->ep->asocs.next : 0) ?? 0;
inline uintptr_t __no_asoc[struct sock *S] = (__is_sctp[S] ? (uintptr_t)&((struct sctp_sock *)S)->ep->asocs : 0) ?? 0;
inline uintptr_t __asoc[struct sock *S] =
    (__asocs[S] == __no_asoc[S] ? 0 : __asocs[S] - offsetof(struct sctp_association, asocs)) ?? 0;
inline int __num_raddrs[struct sock *S] =
    (__asoc[S] == 0 ? 0 : ((struct sctp_association *)__asoc[S])->peer.transport_count) ?? 0;
inline uintptr_t __raddrs[struct sock *S] =
    (__asoc[S] == 0 ? 0 : (uintptr_t)&((struct sctp_association *)__asoc[S])->peer.transport_addr_list) ?? 0;
inline uintptr_t __laddrs[struct sock *S] =
    (__is_sctp[S] ? (uintptr_t)&((struct sctp_sock *)S)->ep->base.bind_addr.address_list : 0) ?? 0;
inline int __num_laddrs[struct sock *S] = S == NULL ? 0 : S->__sk_common.skc_family != AF_INET || S->__sk_common.skc_rcv_saddr != 0;
inline int __sctp_state[struct sock *S] = __is_sctp[S] ? S->__sk_common.skc_state : 0;

/* An outgoing packet. */
translator sctpsinfo_t < struct sk_buff *P > {
	sctps_addr = arg1;
	sctps_num_raddrs = __num_raddrs[(struct sock *)arg1];
	sctps_raddrs = __raddrs[(struct sock *)arg1];
	sctps_num_laddrs = __num_laddrs[(struct sock *)arg1];
	sctps_laddrs = __laddrs[(struct sock *)arg1];
	sctps_lport = ntohs(*(uint16_t *)arg3);
	sctps_rport = ntohs(*((uint16_t *)arg3 + 1));
	sctps_laddr = __ip_saddr[(struct iphdr *)arg2];
	sctps_raddr = __ip_daddr[(struct iphdr *)arg2];
	sctps_state = __sctp_state[(struct sock *)arg1];
};

/* An incoming one: the socket is not looked up yet. */
translator sctpsinfo_t < struct sctphdr *H > {
	sctps_addr = 0;
	sctps_num_raddrs = 0;
	sctps_raddrs = 0;
	sctps_num_laddrs = 0;
	sctps_laddrs = 0;
	sctps_lport = ntohs(*((uint16_t *)H + 1));
	sctps_rport = ntohs(*(uint16_t *)H);
	sctps_laddr = __ip_daddr[(struct iphdr *)arg2];
	sctps_raddr = __ip_saddr[(struct iphdr *)arg2];
	sctps_state = 0;
};

/* A change of state: the new one is arg3, the socket still has the old one. */
translator sctpsinfo_t < struct sock *S > {
	sctps_addr = (uintptr_t)S;
	sctps_num_raddrs = __num_raddrs[S];
	sctps_raddrs = __raddrs[S];
	sctps_num_laddrs = __num_laddrs[S];
	sctps_laddrs = __laddrs[S];
	sctps_lport = S->__sk_common.skc_num;
	sctps_rport = ntohs(S->__sk_common.skc_dport);
	sctps_laddr = __laddr[S];
	sctps_raddr = __raddr[S];
	sctps_state = (int)arg3;
};

translator sctplsinfo_t < int S > {
	sctps_state = S;
};
