#!/usr/sbin/dtrace -s
// run: -e
/*
 * failedopens.d: everything that a thread did inside of an open() that failed, and nothing of those that worked.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=16
#pragma D option specsize=256k
#pragma D option cleanrate=50hz

inline string NAME = $$1;

syscall::openat:entry
/NAME == "" || execname == NAME/
{
	self->spec = speculation();
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("%s opens a file with flags %s\n", execname, arg2 & O_WRONLY || arg2 & O_RDWR ? "to write" : "to read");
}

syscall::openat:return
/self->spec && errno == 0/
{
	discard(self->spec);
	@["discarded"] = count();
	self->spec = 0;
}

syscall::openat:return
/self->spec/
{
	speculate(self->spec);
	printf("  failed: %d\n", errno);
}

syscall::openat:return
/self->spec/
{
	@["committed"] = count();
}

syscall::openat:return
/self->spec/
{
	commit(self->spec);
	self->spec = 0;
}

END
{
	printa("%s %@d\n", @);
}
