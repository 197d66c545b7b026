#!/usr/sbin/dtrace -s
/*
 * solisten - sockets on which processes begin to listen
 *
 * USAGE
 *	dtrace -s solisten [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	PID	process
 *	COMM	its name
 *	FAMILY	INET, INET6, UNIX or a number
 *	BACKLOG	connections that may wait to be accepted
 *	ERR	0, or why it failed
 *	PORT	local port
 *	ADDRESS	local address
 *
 * SEE ALSO
 *	soconnect, sofamily, tcpaccept
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);
inline string FAMILY[int f] = f == AF_INET ? "INET" : f == AF_INET6 ? "INET6" : f == AF_UNIX ? "UNIX" : "other";

BEGIN
{
	printf("%7s %-16s %-7s %8s %-10s %6s %s\n", "PID", "COMM", "FAMILY", "BACKLOG", "ERR", "PORT", "ADDRESS");
}

syscall::listen:entry
/WANTED/
{
	self->fd = arg0 + 1;
	self->backlog = (int)arg1;
}

syscall::listen:return
/self->fd && errno != EBADF && errno != ENOTSOCK/
{
	this->s = ((struct socket *)getf(self->fd - 1)->private_data)->sk;
	this->f = this->s->__sk_common.skc_family;
	this->ip = this->f == AF_INET || this->f == AF_INET6;
	printf("%7d %-16s %-7s %8d %-10s %6d %s\n", pid, execname, FAMILY[this->f], self->backlog, errno_name[errno],
	    this->ip ? this->s->__sk_common.skc_num : 0, this->ip ? xlate <conninfo_t *> (this->s)->ci_local : "");
}

syscall::listen:return
{
	self->fd = 0;
	self->backlog = 0;
}
