#!/usr/sbin/dtrace -s
/*
 * nodegc - garbage collections of a Node.js program
 *
 * USAGE
 *	dtrace -s nodegc {-p pid | -c command}
 *
 * OUTPUT
 *	Collections, and a distribution of their times in microseconds.
 *
 * NOTES
 *	Node.js no longer has static probes; the V8 function that does every collection is traced instead.
 *
 * SEE ALSO
 *	javagc, pygc
 */
#pragma D option quiet

BEGIN
{
	printf("Timing garbage collections of process %d... Ctrl-C ends.\n", $target);
}

pid$target:*node*:v8??internal??Heap??CollectGarbage:entry
{
	self->start = timestamp;
}

pid$target:*node*:v8??internal??Heap??CollectGarbage:return
/self->start/
{
	@ = count();
	@lat = quantize((timestamp - self->start) / 1000);
	self->start = 0;
}

END
{
	printa("%@d collections\n", @);
	printa("us%@d\n", @lat);
}
