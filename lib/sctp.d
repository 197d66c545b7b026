/* sctp.d: packets of SCTP as DTrace describes them. */
#pragma D depends_on library ip.d

typedef struct sctpinfo {
	uint16_t sctp_sport;
	uint16_t sctp_dport;
	uint32_t sctp_verify;	/* verification tag */
	uint32_t sctp_checksum;
	uintptr_t sctp_hdr;	/* struct sctphdr */
} sctpinfo_t;

typedef struct sctpsinfo {
	uintptr_t sctps_addr;	/* 0: not known */
	uint16_t sctps_lport;
	uint16_t sctps_rport;
	string sctps_laddr;
	string sctps_raddr;
} sctpsinfo_t;

/* struct sctphdr is part of a module; its layout is that of the packet. */
translator sctpinfo_t < struct sctphdr *H > {
	sctp_sport = ntohs(*(uint16_t *)H);
	sctp_dport = ntohs(*((uint16_t *)H + 1));
	sctp_verify = ntohl(*((uint32_t *)H + 1));
	sctp_checksum = *((uint32_t *)H + 2);
	sctp_hdr = (uintptr_t)H;
};

/* As of who sends. */
translator sctpsinfo_t < struct sctphdr *H > {
	sctps_addr = arg1;
	sctps_lport = ntohs(*(uint16_t *)H);
	sctps_rport = ntohs(*((uint16_t *)H + 1));
	sctps_laddr = ((struct iphdr *)arg2)->version == 4 ? inet_ntop(AF_INET, &((struct iphdr *)arg2)->saddr) :
	    inet_ntop(AF_INET6, &((struct ipv6hdr *)arg2)->saddr);
	sctps_raddr = ((struct iphdr *)arg2)->version == 4 ? inet_ntop(AF_INET, &((struct iphdr *)arg2)->daddr) :
	    inet_ntop(AF_INET6, &((struct ipv6hdr *)arg2)->daddr);
};
