#!/usr/sbin/dtrace -s
/*
 * tcpretrans - TCP retransmissions
 *
 * USAGE
 *	dtrace -s tcpretrans [port]
 *
 * ARGUMENTS
 *	port	only connections with this port at either end; 0: all (default: 0)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	LOCAL	local address and port
 *	REMOTE	remote address and port
 *	STATE	state of the connection
 *	RTO(ms)	current retransmission timeout
 *
 * NOTES
 *	Retransmissions are sent by a timer, so the process is not known.
 *
 * SEE ALSO
 *	tcpdrop, tcpstates
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline int PORT = $1;

BEGIN
{
	began = timestamp;
	printf("%10s %-21s %5s %-21s %5s %-12s %8s\n", "TIME(ms)", "LOCAL", "PORT", "REMOTE", "PORT", "STATE", "RTO(ms)");
}

sdt:tcp::tcp_retransmit_skb
{
	this->s = (struct sock *)args[0];
}

sdt:tcp::tcp_retransmit_skb
/PORT == 0 || xlate <tcpsinfo_t *> (this->s)->tcps_lport == PORT || xlate <tcpsinfo_t *> (this->s)->tcps_rport == PORT/
{
	printf("%10d %-21s %5d %-21s %5d %-12s %8d\n", (timestamp - began) / 1000000, xlate <tcpsinfo_t *> (this->s)->tcps_laddr,
	    xlate <tcpsinfo_t *> (this->s)->tcps_lport, xlate <tcpsinfo_t *> (this->s)->tcps_raddr,
	    xlate <tcpsinfo_t *> (this->s)->tcps_rport, substr(tcp_state_string[xlate <tcpsinfo_t *> (this->s)->tcps_state], 6),
	    xlate <tcpsinfo_t *> (this->s)->tcps_rto);
}
