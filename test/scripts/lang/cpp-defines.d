#!/usr/sbin/dtrace -Cs
// run: -C -e -DTOP=5 -D VERBOSE
/* A script with a preprocessor: constants, switches, macros with arguments. */

#include <asm/unistd.h>

#ifndef TOP
#define	TOP	10
#endif
#define	NS_PER_MS	1000000
#define	TO_MS(ns)	((ns) / NS_PER_MS)
#define	IS_SHELL(n)	((n) == "sh" || (n) == "bash" || \
			 (n) == "zsh")

#pragma D option quiet

#ifdef VERBOSE
BEGIN
{
	printf("read is system call %d here\n", __NR_read);
}
#endif

syscall::wait4:entry
/IS_SHELL(execname)/
{
	self->t0 = timestamp;
}

syscall::wait4:return
/self->t0/
{
	@[pid] = sum(TO_MS(timestamp - self->t0));
	self->t0 = 0;
}

END
{
	trunc(@, TOP);
	printa("%d: %@d ms\n", @);
}
