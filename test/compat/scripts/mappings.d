#!/usr/sbin/dtrace -s
// run: -e
/*
 * mappings.d: memory that processes map, by kind.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;

syscall::mmap:entry
/NAME == "" || execname == NAME/
{
	self->len = arg1;
	self->kind = arg3 & MAP_ANON ? "anonymous" : arg3 & MAP_SHARED ? "shared file" : "private file";
	self->prot = (arg2 & PROT_WRITE) ? (arg2 & PROT_EXEC ? "rwx" : "rw") : arg2 & PROT_EXEC ? "rx" : arg2 & PROT_READ ? "r" : "none";
}

syscall::mmap:return
/self->len && arg1 != -1 && errno == 0/
{
	@bytes[self->kind, self->prot] = sum(self->len);
	@calls[self->kind, self->prot] = count();
	@sizes[self->kind] = lquantize(self->len / 1024, 0, 256, 32);
}

syscall::mmap:return
{
	self->len = 0;
	self->kind = 0;
	self->prot = 0;
}

syscall::munmap:entry
/NAME == "" || execname == NAME/
{
	@freed = sum(arg1);
}

END
{
	printf("%-14s %-5s %8s %12s\n", "KIND", "PROT", "CALLS", "BYTES");
	printa("%-14s %-5s %@8d %@12d\n", @calls, @bytes);
	printa("unmapped: %@d\n", @freed);
	printa("%s, KB%@d\n", @sizes);
}
