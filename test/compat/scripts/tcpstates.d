#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * tcpstates.d: how long connections stay in each state.
 */
#pragma D option quiet
#pragma D option defaultargs

inline int PORT = $1;

uint64_t entered[uint64_t];
int32_t was[uint64_t];

tcp:::state-change
/PORT == 0 || args[3]->tcps_lport == PORT || args[3]->tcps_rport == PORT/
{
	@changes[tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]] = count();
}

tcp:::state-change
/entered[args[1]->cs_cid] && (PORT == 0 || args[3]->tcps_lport == PORT || args[3]->tcps_rport == PORT)/
{
	@time[tcp_state_string[was[args[1]->cs_cid]]] = sum(timestamp - entered[args[1]->cs_cid]);
}

tcp:::state-change
{
	entered[args[1]->cs_cid] = args[3]->tcps_state == TCP_STATE_CLOSED ? 0 : timestamp;
	was[args[1]->cs_cid] = args[3]->tcps_state == TCP_STATE_CLOSED ? 0 : args[3]->tcps_state;
}

END
{
	printa("%-20s -> %-20s %@d\n", @changes);
	normalize(@time, 1000000);
	printa("%-20s %@d ms\n", @time);
}
