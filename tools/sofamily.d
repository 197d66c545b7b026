#!/usr/sbin/dtrace -s
/*
 * sofamily - connections made and accepted, by program and family of addresses
 *
 * USAGE
 *	dtrace -s sofamily [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	COMM	name of the program
 *	CALL	connect or accept
 *	FAMILY	INET, INET6, UNIX, NETLINK or other
 *	COUNT	calls that succeeded, or are in progress
 *
 * SEE ALSO
 *	soconnect, solisten
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortkey
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);
inline string FAMILY[int f] = f == AF_INET ? "INET" : f == AF_INET6 ? "INET6" : f == AF_UNIX ? "UNIX" : f == 16 ? "NETLINK" : "other";
inline int FAMILY_OF[int fd] = ((struct socket *)getf(fd)->private_data)->sk->__sk_common.skc_family;

BEGIN
{
	printf("Counting connections... Ctrl-C ends.\n");
}

syscall::connect:entry
/WANTED/
{
	self->fd = arg0 + 1;
}

syscall::connect:return
/self->fd && (errno == 0 || errno == EINPROGRESS)/
{
	this->family = FAMILY_OF[self->fd - 1];
	@[execname, "connect", FAMILY[this->family]] = count();
}

syscall::connect:return
{
	self->fd = 0;
}

syscall::accept*:return
/errno == 0 && WANTED/
{
	this->family = FAMILY_OF[arg1];
	@[execname, "accept", FAMILY[this->family]] = count();
}

END
{
	printf("%-16s %-8s %-8s %9s\n", "COMM", "CALL", "FAMILY", "COUNT");
	printa("%-16s %-8s %-8s %@9d\n", @);
}
