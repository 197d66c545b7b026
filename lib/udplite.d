/* udplite.d: datagrams with a partial checksum, as DTrace describes them. */
#pragma D depends_on library ip.d

typedef struct udpliteinfo {
	uint16_t udplite_sport;
	uint16_t udplite_dport;
	uint16_t udplite_coverage;	/* bytes that the checksum covers, with the header; 0: all */
	uint16_t udplite_checksum;
	uintptr_t udplite_hdr;		/* struct udphdr: it has the same layout */
} udpliteinfo_t;

typedef struct udplitesinfo {
	uintptr_t udplites_addr;	/* struct sock; 0: not known */
	uint16_t udplites_lport;
	uint16_t udplites_rport;
	string udplites_laddr;
	string udplites_raddr;
} udplitesinfo_t;

translator udpliteinfo_t < struct udphdr *U > {
	udplite_sport = ntohs(U->source);
	udplite_dport = ntohs(U->dest);
	udplite_coverage = ntohs(U->len);
	udplite_checksum = ntohs(U->check);
	udplite_hdr = (uintptr_t)U;
};

/* An outgoing and an incoming one; the socket of the latter is not looked up yet, but ports and
 * addresses are in the packet. */
translator udplitesinfo_t < struct sk_buff *P > {
	udplites_addr = arg1;
	udplites_lport = ntohs(((struct udphdr *)arg3)->source);
	udplites_rport = ntohs(((struct udphdr *)arg3)->dest);
	udplites_laddr = __ip_saddr[(struct iphdr *)arg2];
	udplites_raddr = __ip_daddr[(struct iphdr *)arg2];
};
translator udplitesinfo_t < struct udphdr *U > {
	udplites_addr = 0;
	udplites_lport = ntohs(U->dest);
	udplites_rport = ntohs(U->source);
	udplites_laddr = __ip_daddr[(struct iphdr *)arg2];
	udplites_raddr = __ip_saddr[(struct iphdr *)arg2];
};
