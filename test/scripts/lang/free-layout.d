#!/usr/sbin/dtrace -s
// run: -e
/*
 * Layout is free: several clauses on a line, empty statements, comments in odd places, no space at all, a
 * predicate with a division, descriptions over lines.
 */
#pragma D option quiet
BEGIN{x=1;y=2;;}BEGIN/x/{printf("%d",x)}
dtrace:::BEGIN,dtrace:::END/x / y == 0 || x/2 > 1/{ ; ; }
syscall::read:entry /* reads */ , /* and */
	syscall::write:entry	/* writes */
	/ /* only ours */ pid == $pid /
	/* the body */ {
	/* nothing */
}
syscall::read*:entry,syscall::write*:entry/arg0>2&&arg0<10/{@[probefunc]=count()}
profile:::tick-1s { exit(0) }
