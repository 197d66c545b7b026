#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * packets.d: IP by interface and protocol, UDP by port, per interval.
 */
#pragma D option quiet
#pragma D option aggsortrev

ip:::send,
ip:::receive
/args[2]->ip_ver == 4/
{
	@p[args[3]->if_name, probename, args[4]->ipv4_protostr] = count();
	@b[args[3]->if_name, probename, args[4]->ipv4_protostr] = sum(args[4]->ipv4_length);
	@ttl[probename] = min(args[4]->ipv4_ttl);
	@fragments = sum((args[4]->ipv4_flags & IPH_MF) != 0 || args[4]->ipv4_offset != 0);
}

ip:::send,
ip:::receive
/args[2]->ip_ver == 6/
{
	@p[args[3]->if_name, probename, args[5]->ipv6_nextstr] = count();
	@b[args[3]->if_name, probename, args[5]->ipv6_nextstr] = sum(args[5]->ipv6_plen + 40);
	@ttl[probename] = min(args[5]->ipv6_hlim);
}

udp:::send
{
	@udp[args[4]->udp_dport, args[2]->ip_daddr] = sum(args[4]->udp_length);
}

tick-10s, END
{
	printf("%-10s %-8s %-8s %10s %12s\n", "INTERFACE", "", "PROTOCOL", "PACKETS", "BYTES");
	printa("%-10s %-8s %-8s %@10d %@12d\n", @p, @b);
	printa("udp port %d of %s: %@d\n", @udp);
	printa("lowest ttl, %s: %@d\n", @ttl);
	trunc(@p);
	trunc(@b);
	trunc(@udp);
	trunc(@ttl);
}
