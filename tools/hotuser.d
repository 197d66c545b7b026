#!/usr/sbin/dtrace -s
/*
 * hotuser - user functions that use the most CPU time
 *
 * USAGE
 *	dtrace -s hotuser [-p pid | -c command] [name [rows]]
 *
 * ARGUMENTS
 *	name	only programs of this name (default: all)
 *	rows	number of rows to show (default: 20)
 *
 * OUTPUT
 *	SAMPLES	number of samples, of 999 a second per CPU
 *	COMM	name of the program
 *	FUNCTION	object and function
 *
 * SEE ALSO
 *	profile, hotkernel
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsortrev
import tool;

inline string NAME = $$1;
inline int ROWS = $2 ? $2 : 20;
inline int WANTED = tool::wanted && (NAME == "" || execname == NAME);

BEGIN
{
	printf("Sampling at 999 Hz... Ctrl-C ends.\n");
}

profile-999
/arg1 && WANTED/
{
	@[execname, ufunc(arg1)] = count();
}

END
{
	trunc(@, ROWS);
	printf("%9s %-16s %s\n", "SAMPLES", "COMM", "FUNCTION");
	printa("%@9d %-16s %A\n", @);
}
