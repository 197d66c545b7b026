#!/usr/sbin/dtrace -s
// run: -e -Z
/* How long do processes live, how do they end? */

proc:::start
{
	self->start = timestamp;
}

proc:::exit
/self->start/
{
	@life[execname] = quantize(timestamp - self->start);
	@ended[execname, arg0 == CLD_EXITED ? "exited" : arg0 == CLD_KILLED ? "killed" :
	    arg0 == CLD_DUMPED ? "dumped core" : "?"] = count();
	self->start = 0;
}
