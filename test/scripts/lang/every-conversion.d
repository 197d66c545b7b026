#!/usr/sbin/dtrace -s
// run: -e
/* Every printf conversion with a value that fits it. */

syscall::close:entry
{
	printf("%d %i %u %o %x %X", arg0, arg0, arg0, arg0, arg0, arg0);
	printf("%5d|%-5d|%05d|%+d|% d|%'d|%#x|%#o", pid, pid, pid, pid, pid, pid, pid, pid);
	printf("%hd %hu %ld %lu %lld %llu %llx", (short)1, (unsigned short)1, (long)1, (unsigned long)1,
	    (long long)1, (unsigned long long)1, walltimestamp);
	printf("%c %C %s %S %10s|%-10s|%.3s|%10.3s", 'a', '\n', execname, execname, execname, execname,
	    execname, execname);
	printf("%p %a %p", curthread, caller, 16);
	printf("%*d %-*d %.*d", 5, pid, 5, pid, 3, pid);
	printf("%Y %20Y %T", walltimestamp, walltimestamp, walltimestamp);
	printf("%% %?p %P %I", curthread, (uint16_t)80, "127.0.0.1");
	printf("%s", probeprov);
}
