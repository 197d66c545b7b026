#!/usr/sbin/dtrace -s
/*
 * tcpstates - TCP connections: every change of state, with the time in each
 *
 * USAGE
 *	dtrace -s tcpstates [port]
 *
 * ARGUMENTS
 *	port	only connections with this port at either end; 0: all (default: 0)
 *
 * OUTPUT
 *	SOCKET	address of the socket, the same throughout a connection
 *	LOCAL	local address and port
 *	REMOTE	remote address and port
 *	OLD	old state
 *	NEW	new state
 *	MS	time in the old state; 0: it began before tracing
 *
 * SEE ALSO
 *	tcplife, tcpconnect
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline int PORT = $1;

uint64_t since[uint64_t];

BEGIN
{
	printf("%-16s %-21s %5s %-21s %5s %-12s %-12s %8s\n", "SOCKET", "LOCAL", "PORT", "REMOTE", "PORT", "OLD", "NEW", "MS");
}

tcp:::state-change
/PORT == 0 || args[3]->tcps_lport == PORT || args[3]->tcps_rport == PORT/
{
	printf("%-16x %-21s %5d %-21s %5d %-12s %-12s %8d\n", args[1]->cs_cid, args[3]->tcps_laddr, args[3]->tcps_lport,
	    args[3]->tcps_raddr, args[3]->tcps_rport, substr(tcp_state_string[args[5]->tcps_state], 6),
	    substr(tcp_state_string[args[3]->tcps_state], 6),
	    since[args[1]->cs_cid] ? (timestamp - since[args[1]->cs_cid]) / 1000000 : 0);
	since[args[1]->cs_cid] = args[3]->tcps_state == TCP_STATE_CLOSED ? 0 : timestamp;
}
