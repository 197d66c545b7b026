/* udp.d: datagrams as DTrace describes them. */
#pragma D depends_on library ip.d

typedef struct udpinfo {
	uint16_t udp_sport;
	uint16_t udp_dport;
	uint16_t udp_length;	/* with the header, 8 bytes */
	uint16_t udp_checksum;
	uintptr_t udp_hdr;	/* struct udphdr */
} udpinfo_t;

typedef struct udpsinfo {
	uintptr_t udps_addr;	/* struct sock; 0: not known */
	uint16_t udps_lport;
	uint16_t udps_rport;
	string udps_laddr;
	string udps_raddr;
} udpsinfo_t;

translator udpinfo_t < struct udphdr *U > {
	udp_sport = ntohs(U->source);
	udp_dport = ntohs(U->dest);
	udp_length = ntohs(U->len);
	udp_checksum = ntohs(U->check);
	udp_hdr = (uintptr_t)U;
};

translator udpsinfo_t < struct sock *S > {
	udps_addr = (uintptr_t)S;
	udps_lport = S == NULL ? 0 : S->__sk_common.skc_num;
	udps_rport = S == NULL ? 0 : ntohs(S->__sk_common.skc_dport);
	udps_laddr = S == NULL ? "" : __laddr[S];
	udps_raddr = S == NULL ? "" : __raddr[S];
};

/* An outgoing one, of a socket that may not be connected. */
translator udpsinfo_t < struct sk_buff *P > {
	udps_addr = arg1;
	udps_lport = ntohs(((struct udphdr *)arg3)->source);
	udps_rport = ntohs(((struct udphdr *)arg3)->dest);
	udps_laddr = __ip_saddr[(struct iphdr *)arg2];
	udps_raddr = __ip_daddr[(struct iphdr *)arg2];
};

/* An incoming datagram: the socket is not looked up yet, but its ports and addresses are in the
 * packet. */
translator udpsinfo_t < struct udphdr *U > {
	udps_addr = 0;
	udps_lport = ntohs(U->dest);
	udps_rport = ntohs(U->source);
	udps_laddr = __ip_daddr[(struct iphdr *)arg2];
	udps_raddr = __ip_saddr[(struct iphdr *)arg2];
};
