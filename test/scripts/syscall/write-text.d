#!/usr/sbin/dtrace -s
// run: -e
/* What do shells and ssh write to their terminals? */

#pragma D option quiet
#pragma D option strsize=512

syscall::write:entry
/(execname == "sh" || execname == "bash" || execname == "sshd") && arg0 < 3/
{
	self->buf = arg1;
	self->fd = arg0;
}

syscall::write:return
/self->buf && arg0 > 0/
{
	this->text = (char *)copyin(self->buf, arg0);
	printf("%s[%d] fd %d: %S\n", execname, pid, self->fd, stringof(this->text));
	tracemem(this->text, 64, arg0 < 64 ? arg0 : 64);
}

syscall::write:return
{
	self->buf = 0;
	self->fd = 0;
}
