#!/usr/sbin/dtrace -s
/*
 * sslsniff - what programs send and receive through OpenSSL: sizes, and optionally the plain text
 *
 * USAGE
 *	dtrace -s sslsniff [-p pid | -c command] [text]
 *
 * ARGUMENTS
 *	text	bytes of plain text to show; 0: none (default: 0)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	its name
 *	CALL	READ or WRITE
 *	BYTES	plain text
 *	LAT(us)	how long the call took
 *	PEER	address and port of the other end; -: the connection does not read from a socket
 *
 * NOTES
 *	Programs that use libssl.so of OpenSSL 1.1 or 3. The text is what the user of the program meant to keep secret: ask for
 *	it only where you may.
 *	With -p or -c the process itself, not its descendants; otherwise all processes.
 *
 * SEE ALSO
 *	tcptop, gethostlatency
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs

inline int TEXT = $1;

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-6s %9s %9s %s\n", "TIME(ms)", "PID", "COMM", "CALL", "BYTES", "LAT(us)", "PEER");
}

openssl:::read, openssl:::write
/!$target || pid == $target/
{
	printf("%10d %7d %-16s %-6s %9d %9d ", (timestamp - args[3] - began) / 1000000, pid, execname,
	    probename == "read" ? "READ" : "WRITE", args[1], args[3] / 1000);
	if (arg0)
		printf("%s:%d\n", args[0]->ssl_raddr, args[0]->ssl_rport);
	else
		printf("-\n");
}

openssl:::read, openssl:::write
/TEXT && (!$target || pid == $target)/
{
	printf("%s\n", copyinstr(args[2], args[1] < TEXT ? args[1] : TEXT));
}
