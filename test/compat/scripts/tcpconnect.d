#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * tcpconnect.d: connections that this host makes and accepts, and how long making them takes.
 *
 *	tcpconnect.d [PORT]
 */
#pragma D option quiet
#pragma D option defaultargs

inline uint16_t PORT = $1;

uint64_t asked[uint64_t];

tcp:::connect-request
/PORT == 0 || args[4]->tcp_dport == PORT/
{
	asked[args[1]->cs_cid] = timestamp;
	@n["requested", args[2]->ip_daddr, args[4]->tcp_dport] = count();
}

tcp:::connect-established
/asked[args[1]->cs_cid]/
{
	this->us = (timestamp - asked[args[1]->cs_cid]) / 1000;
	@n["connected", args[3]->tcps_raddr, args[3]->tcps_rport] = count();
	@time[args[3]->tcps_raddr] = quantize(this->us);
	@local[args[3]->tcps_local ? "loopback" : "remote", args[3]->tcps_active ? "we asked" : "they asked"] = count();
	asked[args[1]->cs_cid] = 0;
}

tcp:::connect-refused
/asked[args[1]->cs_cid]/
{
	@n["refused", args[2]->ip_saddr, args[4]->tcp_sport] = count();
	asked[args[1]->cs_cid] = 0;
}

tcp:::accept-established
/PORT == 0 || args[3]->tcps_lport == PORT/
{
	@n["accepted", args[3]->tcps_raddr, args[3]->tcps_lport] = count();
}

END
{
	printf("%-10s %-20s %5s %6s\n", "WHAT", "ADDRESS", "PORT", "COUNT");
	printa("%-10s %-20s %5d %@6d\n", @n);
	printa("%s, %s: %@d\n", @local);
	printa("%s (us) %@d\n", @time);
}
