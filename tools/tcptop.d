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

inline int INTERVAL = $1 ? $1 : 1;
inline int COUNT = $2;
inline int WANTED = $target == 0 || progenyof($target);
inline int IS_OURS[struct sock *s] = s->sk_protocol == IPPROTO_TCP &&
    (s->__sk_common.skc_family == AF_INET || s->__sk_common.skc_family == AF_INET6);

int seconds, tables;

BEGIN
{
	printf("%7s %-16s %-24s %5s %5s %12s %12s\n", "PID", "COMM", "REMOTE", "RPORT", "LPORT", "TX", "RX");
}

sdt:sock::sock_send_length
/(int)args[1] > 0 && WANTED && IS_OURS[args[0]]/
{
	@t[pid, execname, xlate <conninfo_t *> (args[0])->ci_remote, ntohs(args[0]->__sk_common.skc_dport), args[0]->__sk_common.skc_num] = sum((int)args[1]);
}

sdt:sock::sock_recv_length
/(int)args[1] > 0 && WANTED && IS_OURS[args[0]]/
{
	@r[pid, execname, xlate <conninfo_t *> (args[0])->ci_remote, ntohs(args[0]->__sk_common.skc_dport), args[0]->__sk_common.skc_num] = sum((int)args[1]);
}

tick-1s
/++seconds % INTERVAL == 0/
{
	printf("%Y\n", walltimestamp);
	printa("%7d %-16s %-24s %5d %5d %@12d %@12d\n", @t, @r);
	trunc(@t);
	trunc(@r);
	tables++;
}

tick-1s
/COUNT && tables == COUNT/
{
	exit(0);
}

END
{
	printa("%7d %-16s %-24s %5d %5d %@12d %@12d\n", @t, @r);
}
