/*
 * tcp.d: TCP as DTrace describes it.
 *
 *    tcp:::accept-established { @[args[3]->tcps_raddr, args[3]->tcps_lport] = count(); }
 */
#pragma D depends_on library ip.d

/* states: the kernel's numbers, under the names of Solaris and of BSD */
inline int TCP_STATE_ESTABLISHED = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_FIN_WAIT_1 = 4;
inline int TCP_STATE_FIN_WAIT_2 = 5;
inline int TCP_STATE_TIME_WAIT = 6;
inline int TCP_STATE_CLOSED = 7;
inline int TCP_STATE_CLOSE_WAIT = 8;
inline int TCP_STATE_LAST_ACK = 9;
inline int TCP_STATE_LISTEN = 10;
inline int TCP_STATE_CLOSING = 11;
inline int TCP_STATE_IDLE = 7;
inline int TCP_STATE_BOUND = 7;

inline int TCPS_ESTABLISHED = 1;
inline int TCPS_SYN_SENT = 2;
inline int TCPS_SYN_RECEIVED = 3;
inline int TCPS_FIN_WAIT_1 = 4;
inline int TCPS_FIN_WAIT_2 = 5;
inline int TCPS_TIME_WAIT = 6;
inline int TCPS_CLOSED = 7;
inline int TCPS_CLOSE_WAIT = 8;
inline int TCPS_LAST_ACK = 9;
inline int TCPS_LISTEN = 10;
inline int TCPS_CLOSING = 11;

inline string tcp_state_string[int S] = S == 1 ? "state-established" : S == 2 ? "state-syn-sent" :
    S == 3 || S == 12 ? "state-syn-received" : S == 4 ? "state-fin-wait-1" : S == 5 ? "state-fin-wait-2" :
    S == 6 ? "state-time-wait" : S == 7 ? "state-closed" : S == 8 ? "state-close-wait" : S == 9 ? "state-last-ack" :
    S == 10 ? "state-listen" : S == 11 ? "state-closing" : "<unknown>";

/* flags of a segment */
inline uint8_t TH_FIN = 0x01;
inline uint8_t TH_SYN = 0x02;
inline uint8_t TH_RST = 0x04;
inline uint8_t TH_PUSH = 0x08;
inline uint8_t TH_ACK = 0x10;
inline uint8_t TH_URG = 0x20;
inline uint8_t TH_ECE = 0x40;
inline uint8_t TH_CWR = 0x80;

typedef struct tcpinfo {	/* a segment, in host order */
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;	/* of the data, in bytes */
	uint8_t tcp_flags;	/* TH_* */
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
	uintptr_t tcp_hdr;	/* struct tcphdr */
} tcpinfo_t;

typedef struct tcpsinfo {	/* a connection; for received segments, whose socket is not known yet, only the addresses and ports */
	uintptr_t tcps_addr;	/* struct sock */
	int tcps_local;		/* both ends are on this host */
	int tcps_active;	/* this end initiated the connection */
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;	/* TCP_STATE_* */
	uint32_t tcps_iss;	/* initial sequence number */
	uint32_t tcps_irs;	/* ... of the other end */
	uint32_t tcps_suna;	/* sent, not acknowledged */
	uint32_t tcps_smax;	/* highest sent */
	uint32_t tcps_snxt;	/* next to send */
	uint32_t tcps_rack;	/* acknowledged by us */
	uint32_t tcps_rnxt;	/* next expected */
	uint32_t tcps_swnd;	/* windows */
	int32_t tcps_snd_ws;	/* their scales */
	uint32_t tcps_swl1;	/* segment of the last change of the window */
	uint32_t tcps_swl2;	/* Linux does not keep it: 0 */
	uint32_t tcps_rup;	/* urgent data of the other end */
	uint32_t tcps_radv;	/* up to where it may send */
	uint32_t tcps_rwnd;
	int32_t tcps_rcv_ws;
	uint32_t tcps_cwnd;	/* congestion window, in bytes */
	uint32_t tcps_srecover;	/* end of the recovery from loss */
	uint32_t tcps_cwnd_ssthresh;	/* in bytes; 0x7fffffff: none yet */
	uint32_t tcps_sack_fack; /* acknowledged in order */
	uint32_t tcps_sack_snxt;
	uint32_t tcps_rto;	/* retransmit timeout, in ms */
	uint32_t tcps_mss;
	int tcps_retransmit;	/* it is retransmitting */
	uint32_t tcps_srtt;	/* smoothed round trip, in microseconds */
	int tcps_debug;		/* SO_DEBUG */
	uint64_t tcps_cookie;	/* SO_COOKIE; 0: not asked for yet */
	int32_t tcps_dupacks;
	uint32_t tcps_rtttime;	/* the last round trip that was measured, in microseconds */
	uint32_t tcps_rtseq;	/* measured again when this is acknowledged */
	uint32_t tcps_ts_recent; /* time stamp of the other end */
} tcpsinfo_t;

typedef struct tcplsinfo {	/* the previous state */
	int32_t tcps_state;
} tcplsinfo_t;

translator tcpinfo_t < struct tcphdr *T > {
	tcp_sport = ntohs(T->source);
	tcp_dport = ntohs(T->dest);
	tcp_seq = ntohl(T->seq);
	tcp_ack = ntohl(T->ack_seq);
	tcp_offset = T->doff * 4;
	tcp_flags = *((uint8_t *)T + 13);
	tcp_window = ntohs(T->window);
	tcp_checksum = ntohs(T->check);
	tcp_urgent = ntohs(T->urg_ptr);
	tcp_hdr = (uintptr_t)T;
};

/* A socket in NEW_SYN_RECV or TIME_WAIT is only the first part of a full one. */
inline int __is_full[struct sock *S] = S != NULL && S->__sk_common.skc_state != 6 && S->__sk_common.skc_state != 12;

/* A closed socket has already released its port; the port it sent with is still known. */
inline uint16_t __lport[struct sock *S] = S->__sk_common.skc_num == 0 && __is_full[S] ? ntohs(((struct inet_sock *)S)->inet_sport) :
    S->__sk_common.skc_num;

/* A connection without a segment, as sender and as receiver. */
translator tcpinfo_t < struct sock *S > {
	tcp_sport = __lport[S];
	tcp_dport = ntohs(S->__sk_common.skc_dport);
	tcp_seq = ((struct tcp_sock *)S)->snd_nxt;
	tcp_ack = ((struct tcp_sock *)S)->rcv_nxt;
	tcp_offset = 0;
	tcp_flags = 0;
	tcp_window = 0;
	tcp_checksum = 0;
	tcp_urgent = 0;
	tcp_hdr = 0;
};
translator tcpinfo_t < struct inet_sock *S > {
	tcp_sport = ntohs(S->sk.__sk_common.skc_dport);
	tcp_dport = __lport[(struct sock *)S];
	tcp_seq = ((struct tcp_sock *)S)->rcv_nxt;
	tcp_ack = ((struct tcp_sock *)S)->snd_una;
	tcp_offset = 0;
	tcp_flags = 0;
	tcp_window = 0;
	tcp_checksum = 0;
	tcp_urgent = 0;
	tcp_hdr = 0;
};

/*
 * Did this end initiate the connection? Yes for a socket in SYN_SENT, one that was itself bound to
 * a port (SOCK_BINDPORT_LOCK: sockets from accept() are not), and one whose port the kernel chose
 * for connecting (-1).
 */
inline int __active[struct tcp_sock *T] = ((struct sock *)T)->__sk_common.skc_state == 2 || (((struct sock *)T)->sk_userlocks & 8) ||
    (T->inet_conn.icsk_bind_hash != NULL && T->inet_conn.icsk_bind_hash->fastreuse < 0);
/* The acknowledged bytes; the first segment counts for initiators. */
inline uint32_t __iss[struct tcp_sock *T] = T->snd_una - (uint32_t)T->bytes_acked - (__active[T] ? 0 : 1);
/* icsk_rto is in ticks, and derived from this. One second before the first measurement, at most two
 * minutes. */
inline uint64_t __rto_once[struct tcp_sock *T] = T->srtt_us == 0 ? 1000 : ((T->srtt_us >> 3) + T->rttvar_us) / 1000;
inline uint32_t __rto[struct tcp_sock *T] = __rto_once[T] << T->inet_conn.icsk_backoff > 120000 ? 120000 :
    __rto_once[T] << T->inet_conn.icsk_backoff;

/* version 6: the four words */
inline int __same_word[struct sock *S, int i] =
    S->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i] == S->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i];
inline int __is_local[struct sock *S] = S->__sk_common.skc_family == AF_INET ?
    S->__sk_common.skc_daddr == S->__sk_common.skc_rcv_saddr || (S->__sk_common.skc_daddr & 0xff) == 127 :
    __same_word[S, 0] && __same_word[S, 1] && __same_word[S, 2] && __same_word[S, 3];

translator tcpsinfo_t < struct sock *S > {
	tcps_addr = (uintptr_t)S;
	tcps_local = S == NULL ? 0 : __is_local[S];
	tcps_active = __is_full[S] ? __active[((struct tcp_sock *)S)] : 0;
	tcps_lport = S == NULL ? 0 : __lport[S];
	tcps_rport = S == NULL ? 0 : ntohs(S->__sk_common.skc_dport);
	tcps_laddr = S == NULL ? "" : __laddr[S];
	tcps_raddr = S == NULL ? "" : __raddr[S];
	tcps_state = S == NULL ? 0 : S->__sk_common.skc_state;
	tcps_iss = __is_full[S] ? __iss[((struct tcp_sock *)S)] : 0;
	tcps_irs = __is_full[S] ? (((struct tcp_sock *)S)->rcv_nxt == 0 ? 0 : ((struct tcp_sock *)S)->rcv_nxt - (uint32_t)((struct tcp_sock *)S)->bytes_received - 1) : 0;
	tcps_suna = __is_full[S] ? ((struct tcp_sock *)S)->snd_una : 0;
	tcps_smax = __is_full[S] ? ((struct tcp_sock *)S)->snd_nxt : 0;
	tcps_snxt = __is_full[S] ? ((struct tcp_sock *)S)->snd_nxt : 0;
	tcps_rack = __is_full[S] ? ((struct tcp_sock *)S)->rcv_wup : 0;
	tcps_rnxt = __is_full[S] ? ((struct tcp_sock *)S)->rcv_nxt : 0;
	tcps_swnd = __is_full[S] ? ((struct tcp_sock *)S)->snd_wnd : 0;
	tcps_snd_ws = __is_full[S] ? ((struct tcp_sock *)S)->rx_opt.snd_wscale : 0;
	tcps_swl1 = __is_full[S] ? ((struct tcp_sock *)S)->snd_wl1 : 0;
	tcps_swl2 = 0;
	tcps_rup = __is_full[S] ? (((struct tcp_sock *)S)->urg_data ? ((struct tcp_sock *)S)->urg_seq : 0) : 0;
	tcps_radv = __is_full[S] ? ((struct tcp_sock *)S)->rcv_wup + ((struct tcp_sock *)S)->rcv_wnd : 0;
	tcps_rwnd = __is_full[S] ? ((struct tcp_sock *)S)->rcv_wnd : 0;
	tcps_rcv_ws = __is_full[S] ? ((struct tcp_sock *)S)->rx_opt.rcv_wscale : 0;
	tcps_cwnd = __is_full[S] ? ((struct tcp_sock *)S)->snd_cwnd * ((struct tcp_sock *)S)->mss_cache : 0;
	tcps_srecover = __is_full[S] ? ((struct tcp_sock *)S)->high_seq : 0;
	tcps_cwnd_ssthresh = __is_full[S] ? (((struct tcp_sock *)S)->snd_ssthresh >= 0x7fffffff ? 0x7fffffff : ((struct tcp_sock *)S)->snd_ssthresh * ((struct tcp_sock *)S)->mss_cache) : 0;
	tcps_sack_fack = __is_full[S] ? ((struct tcp_sock *)S)->snd_una : 0;
	tcps_sack_snxt = __is_full[S] ? ((struct tcp_sock *)S)->snd_nxt : 0;
	tcps_rto = __is_full[S] ? __rto[((struct tcp_sock *)S)] : 0;
	tcps_mss = __is_full[S] ? ((struct tcp_sock *)S)->mss_cache : 0;
	tcps_retransmit = __is_full[S] ? (((struct tcp_sock *)S)->inet_conn.icsk_retransmits != 0) : 0;
	tcps_srtt = __is_full[S] ? (((struct tcp_sock *)S)->srtt_us >> 3) : 0;
	tcps_debug = __is_full[S] ? (S->__sk_common.skc_flags >> SOCK_DBG & 1) : 0;
	tcps_cookie = __is_full[S] ? ((struct sock *)((struct tcp_sock *)S))->__sk_common.skc_cookie.counter : 0;
	tcps_dupacks = __is_full[S] ? ((struct tcp_sock *)S)->sacked_out : 0;
	tcps_rtttime = __is_full[S] ? ((struct tcp_sock *)S)->rack.rtt_us : 0;
	tcps_rtseq = __is_full[S] ? ((struct tcp_sock *)S)->rtt_seq : 0;
	tcps_ts_recent = __is_full[S] ? ((struct tcp_sock *)S)->rx_opt.ts_recent : 0;
};

/* A change of state: the new state is arg3, the socket still has the old one. */
translator tcpsinfo_t < struct tcp_sock *T > {
	tcps_addr = (uintptr_t)T;
	tcps_local = T == NULL ? 0 : __is_local[((struct sock *)T)];
	tcps_active = __is_full[((struct sock *)T)] ? __active[T] : 0;
	tcps_lport = T == NULL ? 0 : __lport[(struct sock *)T];
	tcps_rport = T == NULL ? 0 : ntohs(((struct sock *)T)->__sk_common.skc_dport);
	tcps_laddr = T == NULL ? "" : __laddr[((struct sock *)T)];
	tcps_raddr = T == NULL ? "" : __raddr[((struct sock *)T)];
	tcps_state = (int)arg3;
	tcps_iss = __is_full[((struct sock *)T)] ? __iss[T] : 0;
	tcps_irs = __is_full[((struct sock *)T)] ? (T->rcv_nxt == 0 ? 0 : T->rcv_nxt - (uint32_t)T->bytes_received - 1) : 0;
	tcps_suna = __is_full[((struct sock *)T)] ? T->snd_una : 0;
	tcps_smax = __is_full[((struct sock *)T)] ? T->snd_nxt : 0;
	tcps_snxt = __is_full[((struct sock *)T)] ? T->snd_nxt : 0;
	tcps_rack = __is_full[((struct sock *)T)] ? T->rcv_wup : 0;
	tcps_rnxt = __is_full[((struct sock *)T)] ? T->rcv_nxt : 0;
	tcps_swnd = __is_full[((struct sock *)T)] ? T->snd_wnd : 0;
	tcps_snd_ws = __is_full[((struct sock *)T)] ? T->rx_opt.snd_wscale : 0;
	tcps_swl1 = __is_full[((struct sock *)T)] ? T->snd_wl1 : 0;
	tcps_swl2 = 0;
	tcps_rup = __is_full[((struct sock *)T)] ? (T->urg_data ? T->urg_seq : 0) : 0;
	tcps_radv = __is_full[((struct sock *)T)] ? T->rcv_wup + T->rcv_wnd : 0;
	tcps_rwnd = __is_full[((struct sock *)T)] ? T->rcv_wnd : 0;
	tcps_rcv_ws = __is_full[((struct sock *)T)] ? T->rx_opt.rcv_wscale : 0;
	tcps_cwnd = __is_full[((struct sock *)T)] ? T->snd_cwnd * T->mss_cache : 0;
	tcps_srecover = __is_full[((struct sock *)T)] ? T->high_seq : 0;
	tcps_cwnd_ssthresh = __is_full[((struct sock *)T)] ? (T->snd_ssthresh >= 0x7fffffff ? 0x7fffffff : T->snd_ssthresh * T->mss_cache) : 0;
	tcps_sack_fack = __is_full[((struct sock *)T)] ? T->snd_una : 0;
	tcps_sack_snxt = __is_full[((struct sock *)T)] ? T->snd_nxt : 0;
	tcps_rto = __is_full[((struct sock *)T)] ? __rto[T] : 0;
	tcps_mss = __is_full[((struct sock *)T)] ? T->mss_cache : 0;
	tcps_retransmit = __is_full[((struct sock *)T)] ? (T->inet_conn.icsk_retransmits != 0) : 0;
	tcps_srtt = __is_full[((struct sock *)T)] ? (T->srtt_us >> 3) : 0;
	tcps_debug = __is_full[((struct sock *)T)] ? (((struct sock *)T)->__sk_common.skc_flags >> SOCK_DBG & 1) : 0;
	tcps_cookie = __is_full[((struct sock *)T)] ? ((struct sock *)T)->__sk_common.skc_cookie.counter : 0;
	tcps_dupacks = __is_full[((struct sock *)T)] ? T->sacked_out : 0;
	tcps_rtttime = __is_full[((struct sock *)T)] ? T->rack.rtt_us : 0;
	tcps_rtseq = __is_full[((struct sock *)T)] ? T->rtt_seq : 0;
	tcps_ts_recent = __is_full[((struct sock *)T)] ? T->rx_opt.ts_recent : 0;
};

/* An incoming segment: its socket is not looked up yet, but ports and addresses are in the packet. */
translator tcpsinfo_t < struct tcphdr *H > {
	tcps_addr = arg1;
	tcps_local = ((struct iphdr *)arg2)->version == 4 ? ((struct iphdr *)arg2)->saddr == ((struct iphdr *)arg2)->daddr ||
	    (((struct iphdr *)arg2)->saddr & 0xff) == 127 : __ip_saddr[(struct iphdr *)arg2] == __ip_daddr[(struct iphdr *)arg2];
	tcps_active = 0;
	tcps_lport = ntohs(H->dest);
	tcps_rport = ntohs(H->source);
	tcps_laddr = __ip_daddr[(struct iphdr *)arg2];
	tcps_raddr = __ip_saddr[(struct iphdr *)arg2];
	tcps_state = 0;
	tcps_iss = 0;
	tcps_irs = 0;
	tcps_suna = 0;
	tcps_smax = 0;
	tcps_snxt = 0;
	tcps_rack = 0;
	tcps_rnxt = 0;
	tcps_swnd = 0;
	tcps_snd_ws = 0;
	tcps_swl1 = 0;
	tcps_swl2 = 0;
	tcps_rup = 0;
	tcps_radv = 0;
	tcps_rwnd = 0;
	tcps_rcv_ws = 0;
	tcps_cwnd = 0;
	tcps_srecover = 0;
	tcps_cwnd_ssthresh = 0;
	tcps_sack_fack = 0;
	tcps_sack_snxt = 0;
	tcps_rto = 0;
	tcps_mss = 0;
	tcps_retransmit = 0;
	tcps_srtt = 0;
	tcps_debug = 0;
	tcps_cookie = 0;
	tcps_dupacks = 0;
	tcps_rtttime = 0;
	tcps_rtseq = 0;
	tcps_ts_recent = 0;
};

translator tcplsinfo_t < int S > {
	tcps_state = S;
};
