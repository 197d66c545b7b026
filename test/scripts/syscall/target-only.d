#!/usr/sbin/dtrace -s
// run: -e -Z -c true
/* What does this command, or anything it starts, ask of the kernel? With -c or -p. */

syscall:::entry
/pid == $target/
{
	@direct[probefunc] = count();
}

syscall:::entry
/progenyof($target) && pid != $target/
{
	@children[execname, probefunc] = count();
}

syscall::exit_group:entry
/pid == $target/
{
	printf("target %d ends with %d\n", $target, arg0);
}
