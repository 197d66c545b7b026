#!/usr/sbin/dtrace -s
/*
 * sslsniff - what programs send and receive through OpenSSL: sizes, and optionally the plain text
 *
 * USAGE
 *	dtrace -s sslsniff {-p pid | -c command} [text]
 *
 * ARGUMENTS
 *	text	bytes of plain text to show; 0: none (default: 0)
 *
 * OUTPUT
 *	TIME(ms)	since tracing began
 *	PID	process
 *	COMM	its name
 *	CALL	READ or WRITE
 *	BYTES	plain text
 *	LAT(us)	how long the call took
 *
 * NOTES
 *	Programs that use libssl.so of OpenSSL 1.1 or 3. The text is what the user of the program meant to keep secret: ask for
 *	it only where you may.
 *	The process itself, not its descendants; option follow (-x follow) adds them.
 *
 * SEE ALSO
 *	tcptop, gethostlatency
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option switchrate=10hz
#pragma D option zdefs

inline int TEXT = $1;

BEGIN
{
	began = timestamp;
	printf("%10s %7s %-16s %-9s %9s %9s\n", "TIME(ms)", "PID", "COMM", "CALL", "BYTES", "LAT(us)");
}

pid$target:libssl.so:SSL_read:entry, pid$target:libssl.so:SSL_write:entry,
pid$target:libssl.so:SSL_read_ex:entry, pid$target:libssl.so:SSL_write_ex:entry
{
	self->start = timestamp;
	self->buf = arg1;
	self->done = arg3;
}

pid$target:libssl.so:SSL_read:return, pid$target:libssl.so:SSL_write:return
/self->start/
{
	self->n = (int)arg1;
}

/* these tell the size through their last argument */
pid$target:libssl.so:SSL_read_ex:return, pid$target:libssl.so:SSL_write_ex:return
/self->start && (int)arg1 > 0/
{
	self->n = *(uint64_t *)copyin(self->done, 8);
}

pid$target:libssl.so:SSL_read:return, pid$target:libssl.so:SSL_write:return,
pid$target:libssl.so:SSL_read_ex:return, pid$target:libssl.so:SSL_write_ex:return
/self->start && self->n > 0/
{
	printf("%10d %7d %-16s %-9s %9d %9d\n", (self->start - began) / 1000000, pid, execname,
	    index(probefunc, "read") > 0 ? "READ" : "WRITE", self->n, (timestamp - self->start) / 1000);
}

pid$target:libssl.so:SSL_read:return, pid$target:libssl.so:SSL_write:return,
pid$target:libssl.so:SSL_read_ex:return, pid$target:libssl.so:SSL_write_ex:return
/TEXT && self->start && self->n > 0/
{
	printf("%s\n", copyinstr(self->buf, self->n < TEXT ? self->n : TEXT));
}

pid$target:libssl.so:SSL_read:return, pid$target:libssl.so:SSL_write:return,
pid$target:libssl.so:SSL_read_ex:return, pid$target:libssl.so:SSL_write_ex:return
{
	self->start = 0;
	self->buf = 0;
	self->done = 0;
	self->n = 0;
}
