#!/usr/sbin/dtrace -s
// run: -e -Z
/* Sockets by family, type and protocol. */

syscall::socket:entry
{
	@[execname,
	    arg0 == AF_INET ? "inet" : arg0 == AF_INET6 ? "inet6" : arg0 == AF_UNIX ? "unix" :
	    arg0 == AF_NETLINK ? "netlink" : lltostr(arg0),
	    (arg1 & 0xf) == SOCK_STREAM ? "stream" : (arg1 & 0xf) == SOCK_DGRAM ? "dgram" : "other",
	    arg2 == IPPROTO_TCP ? "tcp" : arg2 == IPPROTO_UDP ? "udp" : arg2 == 0 ? "default" : "other"] = count();
}
