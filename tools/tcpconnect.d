#!/usr/sbin/dtrace -s
/*
 * tcpconnect - TCP connections that processes open, and how long that takes
 *
 * USAGE
 *	dtrace -s tcpconnect [-p pid | -c command] [port [name]]
 *
 * ARGUMENTS
 *	port	only to this port; 0: all (default: 0)
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process that connects
 *	COMM	its name
 *	FROM	local address and port
 *	TO	remote address and port
 *	LAT(us)	until the other side answered
 *	RESULT	connected or refused
 *
 * NOTES
 *	An attempt that gets no answer is shown when it ends, if at all; tcpretrans shows it at once.
 *
 * SEE ALSO
 *	tcpaccept, tcplife, soconnect
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline int PORT = $1;
inline string NAME = $$2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

uint64_t start[uint64_t];
string name[uint64_t];
pid_t who[uint64_t];

BEGIN
{
	printf("%7s %-16s %-27s %-27s %9s %s\n", "PID", "COMM", "FROM", "TO", "LAT(us)", "RESULT");
}

tcp:::connect-request
/WANTED && (PORT == 0 || args[3]->tcps_rport == PORT)/
{
	start[args[1]->cs_cid] = timestamp;
	name[args[1]->cs_cid] = execname;
	who[args[1]->cs_cid] = pid;
}

tcp:::connect-established, tcp:::connect-refused
/start[args[1]->cs_cid]/
{
	printf("%7d %-16s %-21s %-5d %-21s %-5d %9d %s\n", who[args[1]->cs_cid], name[args[1]->cs_cid], args[3]->tcps_laddr,
	    args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport, (timestamp - start[args[1]->cs_cid]) / 1000,
	    probename == "connect-refused" ? "refused" : "connected");
	start[args[1]->cs_cid] = 0;
	name[args[1]->cs_cid] = 0;
	who[args[1]->cs_cid] = 0;
}
