#!/usr/sbin/dtrace -s
/*
 * tcpdrop - TCP segments that the kernel drops, and where
 *
 * USAGE
 *	dtrace -s tcpdrop [port]
 *
 * ARGUMENTS
 *	port	only segments from or to this port; 0: all (default: 0)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	FROM	address and port
 *	TO	address and port
 *	FLAGS	of the segment: S SYN, A ACK, F FIN, R RST, P PSH
 *	WHERE	place in the kernel
 *	REASON	as the kernel names it
 *
 * NOTES
 *	IP version 4 only.
 *
 * SEE ALSO
 *	tcpretrans
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz

inline int PORT = $1;

this struct iphdr *ip;
this struct tcphdr *th;

BEGIN
{
	began = timestamp;
	printf("%10s %-15s %5s %-15s %5s %-5s %-34s %s\n", "TIME(ms)", "FROM", "PORT", "TO", "PORT", "FLAGS", "WHERE",
	    "REASON");
}

sdt:skb::kfree_skb
/args[0]->protocol == htons(0x800)/
{
	this->ip = (struct iphdr *)(args[0]->head + args[0]->network_header);
	this->th = (struct tcphdr *)((char *)this->ip + this->ip->ihl * 4);
}

sdt:skb::kfree_skb
/args[0]->protocol == htons(0x800) && this->ip->protocol == IPPROTO_TCP &&
    (PORT == 0 || ntohs(this->th->source) == PORT || ntohs(this->th->dest) == PORT)/
{
	printf("%10d %-15s %5d %-15s %5d %s%s%s%s%s %-34a ", (timestamp - began) / 1000000, inet_ntoa(&this->ip->saddr),
	    ntohs(this->th->source), inet_ntoa(&this->ip->daddr), ntohs(this->th->dest), this->th->syn ? "S" : "-",
	    this->th->ack ? "A" : "-", this->th->fin ? "F" : "-", this->th->rst ? "R" : "-", this->th->psh ? "P" : "-",
	    (uintptr_t)arg1);
	print(args[2]);
}
