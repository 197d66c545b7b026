#!/usr/sbin/dtrace -s
/*
 * bitesize - sizes of requests to disks, by program
 *
 * USAGE
 *	dtrace -s bitesize [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	A distribution in bytes for each program, reads and writes separately.
 *
 * NOTES
 *	The program is the one that issues the request; for data written back later, that is a kernel thread.
 *
 * SEE ALSO
 *	biosnoop, seeksize
 */
#pragma D option quiet
#pragma D option defaultargs
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Measuring requests to disks... Ctrl-C ends.\n");
}

io:::start
/WANTED && args[0]->b_bcount/
{
	@[execname, args[0]->b_flags & B_READ ? "read" : "write"] = quantize(args[0]->b_bcount);
}

END
{
	printa("%s, %s, bytes%@d\n", @);
}
