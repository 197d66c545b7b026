#!/usr/sbin/dtrace -s
/*
 * tcpaccept - TCP connections that are accepted
 *
 * USAGE
 *	dtrace -s tcpaccept [-p pid | -c command] [port [name]]
 *
 * ARGUMENTS
 *	port	only this local port; 0: all (default: 0)
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process that calls accept()
 *	COMM	its name
 *	PORT	local port
 *	FROM	remote address and port
 *
 * NOTES
 *	A connection is established before a process accepts it; tcplife and tcpstates show that.
 *
 * SEE ALSO
 *	tcpconnect, tcplife
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline int PORT = $1;
inline string NAME = $$2;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("%7s %-16s %5s %s\n", "PID", "COMM", "PORT", "FROM");
}

syscall::accept*:return
/errno == 0 && WANTED/
{
	this->sk = ((struct socket *)getf(arg1)->private_data)->sk;
}

syscall::accept*:return
/errno == 0 && WANTED && this->sk->sk_protocol == IPPROTO_TCP && (PORT == 0 || this->sk->__sk_common.skc_num == PORT)/
{
	printf("%7d %-16s %5d %s %d\n", pid, execname, this->sk->__sk_common.skc_num, xlate <tcpsinfo_t *> (this->sk)->tcps_raddr,
	    xlate <tcpsinfo_t *> (this->sk)->tcps_rport);
}
