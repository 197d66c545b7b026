#!/usr/sbin/dtrace -s
// run: -e
/* One clause with if and else instead of many with predicates. */

#pragma D option quiet

syscall::read:return, syscall::write:return
{
	this->n = (int64_t)arg0;
	if (errno != 0) {
		@errors[probefunc, errno] = count();
		if (errno == EINTR || errno == EAGAIN) {
			@retry[execname] = count();
		} else {
			printf("%s: %s failed with %d\n", execname, probefunc, errno);
		}
	} else if (this->n == 0) {
		@eof[execname] = count();
	} else {
		@bytes[probefunc] = quantize(this->n);
	}
}
