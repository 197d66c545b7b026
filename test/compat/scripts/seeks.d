#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * seeks.d: lseek() and access(), by what is asked; how far seeks go.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;
inline string whence[int w] = w == SEEK_SET ? "from the start" : w == SEEK_CUR ? "from here" : w == SEEK_END ? "from the end" : "other";

off64_t last[int];

syscall::lseek:entry
/NAME == "" || execname == NAME/
{
	@seeks[fds[arg0].fi_name, whence[arg2]] = count();
	self->fd = (int)arg0 + 1;
	self->was = fds[arg0].fi_offset;
}

syscall::lseek:return
/self->fd && errno == 0/
{
	this->now = (off64_t)arg1;
	this->far = this->now > self->was ? this->now - self->was : self->was - this->now;
	@far = sum(this->far);
	last[self->fd - 1] = this->now;
}

syscall::lseek:return
{
	self->fd = 0;
	self->was = 0;
}

syscall::access:entry, syscall::faccessat*:entry
/NAME == "" || execname == NAME/
{
	this->mode = probefunc == "access" ? arg1 : arg2;
	@asks[this->mode == F_OK ? "exists?" : this->mode & W_OK ? "writable?" : this->mode & R_OK ? "readable?" : "executable?"] = count();
}

END
{
	printa("%-20s %-16s %@d\n", @seeks);
	printa("bytes passed over: %@d\n", @far);
	printa("%-12s %@d\n", @asks);
}
