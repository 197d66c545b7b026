#!/usr/sbin/dtrace -s
/*
 * seeksize - distance between successive requests of a program to a disk
 *
 * USAGE
 *	dtrace -s seeksize [-p pid | -c command] [name]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *
 * OUTPUT
 *	A distribution for each program and disk: blocks of 512 bytes between the end of a request and the beginning of
 *	the next one. 0 is sequential; a negative distance is backwards.
 *
 * SEE ALSO
 *	bitesize, iopattern
 */
#pragma D option quiet
#pragma D option defaultargs
import tool;

inline string NAME = $$1;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

int64_t next[pid_t, dev_t];

BEGIN
{
	printf("Measuring distances on disks... Ctrl-C ends.\n");
}

io:::start
/WANTED && args[0]->b_bcount && next[pid, args[0]->b_edev]/
{
	@[execname, args[1]->dev_statname] = quantize((int64_t)args[0]->b_lblkno - next[pid, args[0]->b_edev]);
}

io:::start
/WANTED && args[0]->b_bcount/
{
	next[pid, args[0]->b_edev] = (int64_t)args[0]->b_lblkno + args[0]->b_bcount / 512;
}

END
{
	printa("%s, %s, blocks%@d\n", @);
}
