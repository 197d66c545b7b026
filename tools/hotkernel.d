#!/usr/sbin/dtrace -s
/*
 * hotkernel - kernel functions that use the most CPU time
 *
 * USAGE
 *	dtrace -s hotkernel [-p pid | -c command] [name [rows]]
 *
 * ARGUMENTS
 *	name	only on behalf of programs of this name (default: all)
 *	rows	number of rows to show (default: 20)
 *
 * OUTPUT
 *	SAMPLES	number of samples, of 999 a second per CPU
 *	FUNCTION	module and function
 *
 * NOTES
 *	The idle CPU is left out.
 *
 * SEE ALSO
 *	profile, hotuser
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
/arg0 && pid && WANTED/
{
	@[func(arg0)] = count();
}

END
{
	trunc(@, ROWS);
	printf("%9s %s\n", "SAMPLES", "FUNCTION");
	printa("%@9d %a\n", @);
}
