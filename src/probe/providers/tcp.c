/*
 * tcp: segments, and the life of connections.
 *
 * Segments are packets (net.h). A connection is followed by the states of its socket:
 * connect-request is the change to SYN_SENT, and so on. Those probes have no packet: their ipinfo_t
 * and tcpinfo_t are made from the socket, with the other end as the source for received events. To
 * distinguish the two in lib/tcp.d, the native type is struct sock * for outgoing and struct
 * inet_sock * for incoming events; the address is the same. A refused accept has no socket, but an
 * answer: a reset with sequence number 0.
 */
#include "probe/providers/net.h"

#define TCP_INFO {3, "struct tcphdr *", "tcpinfo_t *"}
#define TCPS_INFO   {1, "struct sock *", "tcpsinfo_t *"}
#define TCPS_PACKET {3, "struct tcphdr *", "tcpsinfo_t *"}

#define SEGMENT(socket)                                                                            \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, socket, TCP_INFO                                       \
	}

/* native arguments of a change of state: packet (none), socket, old state, new state; lib/tcp.d takes the state from the last */
#define LIFE(condition)                                                                            \
	AT(TRACEPOINT, "inet_sock_set_state", .when = "args[0]->sk_protocol == 6" condition,       \
	   .arg = {"0", "arg0", "args[1]", "args[2]"})
#define TCPS_CHANGED {1, "struct tcp_sock *", "tcpsinfo_t *"}

#define OF_SOCKET(native)                                                                          \
	{                                                                                          \
		PKT_INFO, CS_INFO, {1, native, "ipinfo_t *"}, TCPS_CHANGED, {1, native, "tcpinfo_t *"} \
	}
#define SENT	 OF_SOCKET("struct sock *")
#define RECEIVED OF_SOCKET("struct inet_sock *")

/* the kernel's states: ESTABLISHED 1, SYN_SENT 2, SYN_RECV 3, CLOSE 7 */
static const dt_stable_probe rows[] = {
    {"send", .args = SEGMENT(TCPS_INFO), .sites = SITES(OUT(.when = IS_PROTO(OUT_IP, "6"), .arg = PACKET(OUT_IP)))},
    /* the socket is not known yet: its own end is the destination */
    {"receive", .args = SEGMENT(TCPS_PACKET), .sites = SITES(IN(.when = IS_PROTO(IN_IP, "6"), .arg = PACKET(IN_IP)))},
    {"connect-request", .args = SENT, .sites = SITES(LIFE(" && args[2] == 2"))},
    {"connect-established", .args = RECEIVED, .sites = SITES(LIFE(" && args[1] == 2 && args[2] == 1"))},
    {"connect-refused",
     .args = RECEIVED,
     .sites = SITES(LIFE(" && args[1] == 2 && args[2] == 7 && args[0]->sk_err == 111 /* ECONNREFUSED */"))},
    {"accept-established", .args = RECEIVED, .sites = SITES(LIFE(" && args[1] == 3 && args[2] == 1"))},
    {"accept-refused",
     .args = SEGMENT(TCPS_INFO),
     .sites = SITES(OUT(.when = IS_PROTO(OUT_IP, "6") " && ((struct tcphdr *)(" PAYLOAD(OUT_IP) "))->rst && "
				"((struct tcphdr *)(" PAYLOAD(OUT_IP) "))->ack && ((struct tcphdr *)(" PAYLOAD(OUT_IP) "))->seq == 0",
			.arg = PACKET(OUT_IP)))},
    {"state-change",
     .args = {{0, "void *"},
	      CS_INFO,
	      {0, "void *"},
	      TCPS_CHANGED,
	      {0, "void *"},
	      {2, "int", "tcplsinfo_t *"}},
     .sites = SITES(LIFE(" && args[1] != args[2]"))}, /* close() after shutdown() sets the same state again */
};

DT_STABLE_PROVIDER(tcp, "tcp", rows, DT_STABLE_EVOLVING);
