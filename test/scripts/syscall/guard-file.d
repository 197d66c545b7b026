#!/usr/sbin/dtrace -s
// run: -e -w
/* A process that removes /etc/passwd is stopped before it can. */

#pragma D option quiet

syscall::unlink*:entry
{
	this->p = copyinstr(probefunc == "unlink" ? arg0 : arg1);
	this->hit = (this->p == "/etc/passwd");
}

syscall::unlink*:entry
/this->hit/
{
	printf("stopping %d (%s)\n", pid, execname);
	stop();
	raise(SIGSTOP);
	system("ps -fp %d; logger -p auth.warn 'pid %d wanted %s'", pid, pid, this->p);
	exit(1);
}
