#!/usr/sbin/dtrace -s
// run: -e -Z
/* Bytes sent by TCP to each remote address and port, from the kernel's socket. */

#pragma D option quiet

fbt::tcp_sendmsg:entry
{
	this->sk = (struct sock *)arg0;
	this->family = this->sk->__sk_common.skc_family;
	this->dport = ntohs(this->sk->__sk_common.skc_dport);
	this->daddr = &this->sk->__sk_common.skc_daddr;
}

fbt::tcp_sendmsg:entry
/this->family == AF_INET/
{
	@bytes[inet_ntoa(this->daddr), this->dport] = sum(arg2);
	@state[this->sk->__sk_common.skc_state == TCP_ESTABLISHED ? "established" : "other"] = count();
}

tick-10s
{
	printa("%-15s %5d %@12d\n", @bytes);
	clear(@bytes);
}
