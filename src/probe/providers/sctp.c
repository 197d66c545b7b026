/*
 * sctp: packets of SCTP, and the states of its sockets. FreeBSD also has probes inside an
 * association (cwnd, rwnd, flightsize); Linux's module has no events for them.
 */
#include "probe/providers/net.h"

/* The socket, seen from the sender and from the receiver. */
#define SCTP_PACKET(...)                                                                           \
	{                                                                                          \
		PKT_INFO, CS_INFO, IP_INFO, __VA_ARGS__, {3, "struct sctphdr *", "sctpinfo_t *"}   \
	}

static const dt_stable_probe rows[] = {
    {"send",
     .args = SCTP_PACKET({0, SKB, "sctpsinfo_t *"}),
     .sites = SITES(OUT(.when = IS_PROTO(OUT_IP, "132"), .arg = PACKET(OUT_IP)))},
    {"receive",
     .args = SCTP_PACKET({3, "struct sctphdr *", "sctpsinfo_t *"}),
     .sites = SITES(IN(.when = IS_PROTO(IN_IP, "132"), .arg = PACKET(IN_IP)))},
    {"state-change",
     .args = {{0, "void *"},
	      CS_INFO,
	      {0, "void *"},
	      {1, "struct sock *", "sctpsinfo_t *"},
	      {0, "void *"},
	      {2, "int", "sctplsinfo_t *"}},
     .sites = SITES(AT(TRACEPOINT, "inet_sock_set_state", .when = "args[0]->sk_protocol == 132",
		       .arg = {"0", "arg0", "args[1]", "args[2]"}))},
};

DT_STABLE_PROVIDER(sctp, "sctp", rows, DT_STABLE_EVOLVING);
