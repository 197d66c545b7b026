#!/usr/sbin/dtrace -s
// run: -e
/* Whom do programs connect to? Reads the address from the caller's memory. */

#pragma D option quiet

syscall::connect:entry
{
	this->sa = (struct sockaddr *)copyin(arg1, sizeof (struct sockaddr));
	this->family = this->sa->sa_family;
}

syscall::connect:entry
/this->family == AF_INET/
{
	this->in = (struct sockaddr_in *)copyin(arg1, sizeof (struct sockaddr_in));
	printf("%-16s %6d %s:%d\n", execname, pid, inet_ntoa(&this->in->sin_addr.s_addr),
	    ntohs(this->in->sin_port));
}

syscall::connect:entry
/this->family == AF_INET6/
{
	this->in6 = (struct sockaddr_in6 *)copyin(arg1, sizeof (struct sockaddr_in6));
	printf("%-16s %6d [%s]:%d\n", execname, pid, inet_ntoa6(&this->in6->sin6_addr),
	    ntohs(this->in6->sin6_port));
}

syscall::connect:entry
/this->family != AF_INET && this->family != AF_INET6/
{
	@other[this->family] = count();
}
