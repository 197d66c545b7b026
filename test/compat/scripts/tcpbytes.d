#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * tcpbytes.d: segments and payload by direction and other end.
 */
#pragma D option quiet
#pragma D option defaultargs

inline int PORT = $1;
inline string flag[int f] = f & TH_SYN ? "syn" : f & TH_FIN ? "fin" : f & TH_RST ? "reset" : f & TH_PUSH ? "data" : "ack";

tcp:::send
/PORT == 0 || args[4]->tcp_sport == PORT || args[4]->tcp_dport == PORT/
{
	this->payload = args[2]->ip_plength - args[4]->tcp_offset;
	@segments["sent", args[2]->ip_daddr] = count();
	@bytes["sent", args[2]->ip_daddr] = sum(this->payload);
	@flags["sent", flag[args[4]->tcp_flags]] = count();
	@window[args[3]->tcps_raddr] = max(args[3]->tcps_cwnd);
}

tcp:::receive
/PORT == 0 || args[4]->tcp_sport == PORT || args[4]->tcp_dport == PORT/
{
	this->payload = args[2]->ip_plength - args[4]->tcp_offset;
	@segments["received", args[2]->ip_saddr] = count();
	@bytes["received", args[2]->ip_saddr] = sum(this->payload);
	@flags["received", flag[args[4]->tcp_flags]] = count();
}

END
{
	printf("%-10s %-20s %10s %12s\n", "", "ADDRESS", "SEGMENTS", "BYTES");
	printa("%-10s %-20s %@10d %@12d\n", @segments, @bytes);
	printa("%s %s: %@d\n", @flags);
	printa("largest congestion window to %s: %@d\n", @window);
}
