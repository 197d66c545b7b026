#!/usr/sbin/dtrace -s
// run: -e -Z -x defaultargs
/* Which functions of the program are called, and from where? */

pid$target:a.out::entry
{
	@calls[probemod, probefunc] = count();
	@from[usym(ucaller), probefunc] = count();
	@lib[umod(ucaller)] = count();
}

pid$target:a.out:main:return
{
	printf("main returned %d", arg1);
	trace(uregs[R_R0]);
}

pid$target::strlen:entry,
pid$target::strcpy:entry
{
	@text[copyinstr(arg0)] = count();
}
