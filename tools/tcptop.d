#!/usr/sbin/dtrace -s
/*
 * tcptop - TCP bytes sent and received, by process and address
 *
 * USAGE
 *	dtrace -s tcptop [-p pid | -c command] [interval [count]]
 *
 * ARGUMENTS
 *	interval	seconds between two tables (default: 1)
 *	count	how many tables (default: until Ctrl-C)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	REMOTE	address and port of the other end
 *	LPORT	local port
 *	TX	bytes written to the socket
 *	RX	bytes read from it
 *
 * NOTES
 *	Needs Linux 6.3 or newer.
 *
 * SEE ALSO
 *	tcplife, udptop
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;
import every;
import sockbytes;

BEGIN
{
	printf("%7s %-16s %-24s %5s %5s %12s %12s\n", "PID", "COMM", "REMOTE", "RPORT", "LPORT", "TX", "RX");
}

sdt:sock::sock_send_length
/(int)args[1] > 0 && tool::wanted && sockbytes::is_ip(args[0], IPPROTO_TCP)/
{
	sockbytes::sent(args[0], (int)args[1]);
}

sdt:sock::sock_recv_length
/(int)args[1] > 0 && tool::wanted && sockbytes::is_ip(args[0], IPPROTO_TCP)/
{
	sockbytes::received(args[0], (int)args[1]);
}

tick-1s
/every::due($1)/
{
	printf("%Y\n", walltimestamp);
	sockbytes::table();
	sockbytes::forget();
}

tick-1s
/every::over($2)/
{
	exit(0);
}

END
{
	sockbytes::table();
}
