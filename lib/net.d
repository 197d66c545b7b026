/*
 * net.d: address families, protocols and states of the network.
 *
 *    printf("%s", inet_ntop(AF_INET6, addr));
 */

typedef struct in6_addr in6_addr_t;

/* address families */
inline int AF_UNSPEC = 0;
inline int AF_UNIX = 1;
inline int AF_LOCAL = AF_UNIX;
inline int AF_INET = 2;
inline int AF_INET6 = 10;

/* for link_ntop() */
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;
inline int AF_NETLINK = 16;
inline int AF_PACKET = 17;
inline int AF_ALG = 38;
inline int AF_VSOCK = 40;
inline int AF_XDP = 44;

/* protocols of IP */
inline int IPPROTO_IP = 0;
inline int IPPROTO_ICMP = 1;
inline int IPPROTO_IGMP = 2;
inline int IPPROTO_IPIP = 4;
inline int IPPROTO_TCP = 6;
inline int IPPROTO_UDP = 17;
inline int IPPROTO_DCCP = 33;
inline int IPPROTO_IPV6 = 41;
inline int IPPROTO_GRE = 47;
inline int IPPROTO_ESP = 50;
inline int IPPROTO_AH = 51;
inline int IPPROTO_ICMPV6 = 58;
inline int IPPROTO_SCTP = 132;
inline int IPPROTO_UDPLITE = 136;
inline int IPPROTO_RAW = 255;

/* kinds of socket */
inline int SOCK_STREAM = 1;
inline int SOCK_DGRAM = 2;
inline int SOCK_RAW = 3;
inline int SOCK_RDM = 4;
inline int SOCK_SEQPACKET = 5;

/* states of a TCP connection, as the kernel numbers them */
inline int TCP_ESTABLISHED = 1;
inline int TCP_SYN_SENT = 2;
inline int TCP_SYN_RECV = 3;
inline int TCP_FIN_WAIT1 = 4;
inline int TCP_FIN_WAIT2 = 5;
inline int TCP_TIME_WAIT = 6;
inline int TCP_CLOSE = 7;
inline int TCP_CLOSE_WAIT = 8;
inline int TCP_LAST_ACK = 9;
inline int TCP_LISTEN = 10;
inline int TCP_CLOSING = 11;
inline int TCP_NEW_SYN_RECV = 12;

/* link types of packets, for pcap() */
inline int PCAP_NULL = 0;
inline int PCAP_ETHER = 1;
inline int PCAP_PPP = 9;
inline int PCAP_IP = 12;
inline int PCAP_WIFI = 105;
inline int PCAP_IPOIB = 242;
