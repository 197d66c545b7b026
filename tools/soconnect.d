#!/usr/sbin/dtrace -s
/*
 * soconnect - connect() calls on sockets: where to, how long, with what result
 *
 * USAGE
 *	dtrace -s soconnect [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	FAMILY	INET, INET6, UNIX, NETLINK or a number
 *	LAT(us)	how long the call took
 *	RESULT	0, or the error; EINPROGRESS: poll() reports the end
 *	TO	address and port, or path
 *
 * SEE ALSO
 *	tcpconnect, sofamily, solisten
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);
inline string FAMILY[int f] = f == AF_INET ? "INET" : f == AF_INET6 ? "INET6" : f == AF_UNIX ? "UNIX" : f == 16 ? "NETLINK" : "other";

BEGIN
{
	printf("%7s %-16s %-7s %9s %-12s %s\n", "PID", "COMM", "FAMILY", "LAT(us)", "RESULT", "TO");
}

syscall::connect:entry
/arg2 >= 2 && WANTED/
{
	self->start = timestamp;
	self->addr = arg1;
	self->len = arg2;
}

syscall::connect:return
/self->start/
{
	this->family = *(uint16_t *)copyin(self->addr, 2);
	this->to = this->family == AF_INET && self->len >= 8 ? inet_ntop(AF_INET, copyin(self->addr + 4, 4)) :
	    this->family == AF_INET6 && self->len >= 24 ? inet_ntop(AF_INET6, copyin(self->addr + 8, 16)) :
	    this->family == AF_UNIX && self->len > 2 ? copyinstr(self->addr + 2, self->len - 2) : "";
	this->port = this->family == AF_INET || this->family == AF_INET6 ? ntohs(*(uint16_t *)copyin(self->addr + 2, 2)) : 0;
	printf("%7d %-16s %-7s %9d %-12s %s %d\n", pid, execname, FAMILY[this->family], (timestamp - self->start) / 1000,
	    errno_name[errno], this->to, this->port);
	self->start = 0;
	self->addr = 0;
	self->len = 0;
}
