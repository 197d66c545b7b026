#!/usr/sbin/dtrace -s
/*
 * tcplife - TCP connections that end: process, lifetime, bytes
 *
 * USAGE
 *	dtrace -s tcplife [-p pid | -c command] [port]
 *
 * ARGUMENTS
 *	port	only connections with this port at either end; 0: all (default: 0)
 *
 * OUTPUT
 *	PID	process that connected; 0 for a connection that was accepted, or began before tracing
 *	COMM	its name
 *	LOCAL	local address and port
 *	REMOTE	remote address and port
 *	TX	bytes sent, without retransmissions
 *	RX	bytes received
 *	LIFE(ms)	from its first segment to its end; 0: it began before tracing
 *
 * NOTES
 *	With -p or -c: connections that the process and its descendants made by connect().
 *	A connection within the machine shows as two lines, one for each end.
 *
 * SEE ALSO
 *	tcpconnect, tcpaccept, tcptop, tcpstates
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline int PORT = $1;

uint64_t start[uint64_t];
string name[uint64_t];
pid_t who[uint64_t];

BEGIN
{
	printf("%7s %-16s %-21s %5s %-21s %5s %10s %10s %9s\n", "PID", "COMM", "LOCAL", "PORT", "REMOTE", "PORT", "TX", "RX",
	    "LIFE(ms)");
}

tcp:::connect-request
/tool::wanted/
{
	start[args[1]->cs_cid] = timestamp;
	name[args[1]->cs_cid] = execname;
	who[args[1]->cs_cid] = pid;
}

tcp:::accept-established
/$target == 0/
{
	start[args[1]->cs_cid] = timestamp;
}

tcp:::state-change
/args[3]->tcps_state == TCP_STATE_CLOSED && ($target == 0 || start[args[1]->cs_cid]) &&
    args[5]->tcps_state != TCP_STATE_LISTEN && args[5]->tcps_state != TCP_STATE_SYN_SENT &&
    (PORT == 0 || args[3]->tcps_lport == PORT || args[3]->tcps_rport == PORT)/
{
	this->s = (struct tcp_sock *)args[3]->tcps_addr;
	/* what was received counts a FIN as a byte */
	printf("%7d %-16s %-21s %5d %-21s %5d %10d %10d %9d\n", who[args[1]->cs_cid], name[args[1]->cs_cid],
	    args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    this->s->bytes_sent - this->s->bytes_retrans,
	    this->s->bytes_received - (((struct sock *)this->s)->sk_shutdown & 1 && this->s->bytes_received ? 1 : 0),
	    start[args[1]->cs_cid] ? (timestamp - start[args[1]->cs_cid]) / 1000000 : 0);
}

tcp:::state-change
/args[3]->tcps_state == TCP_STATE_CLOSED/
{
	start[args[1]->cs_cid] = 0;
	name[args[1]->cs_cid] = 0;
	who[args[1]->cs_cid] = 0;
}
