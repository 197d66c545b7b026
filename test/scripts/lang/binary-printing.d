#!/usr/sbin/dtrace -s
// run: -e
/* Memory as a hex dump, as text, as numbers; whole structures with print(). */

syscall::sendto:entry
{
	tracemem(copyin(arg1, 64), 64);
	tracemem(copyin(arg1, 256), 256, arg2 > 256 ? 256 : arg2);
	printf("%02x%02x %s", *(uint8_t *)copyin(arg1, 1), ((uint8_t *)copyin(arg1, 2))[1],
	    lltostr(arg2, 16));
	print(*curthread->nsproxy);
	print(curthread->prio);
	print(execname);
}
