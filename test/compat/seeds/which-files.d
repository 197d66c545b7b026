// run: -e
/* Which files a program opens. */
syscall::openat:entry
/pid == $target/
{
	self->path = arg1;
}

syscall::openat:return
/self->path/
{
	@[copyinstr(self->path)] = count();
	self->path = 0;
}
