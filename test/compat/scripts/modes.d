#!/usr/sbin/dtrace -s
// run: -e
/*
 * modes.d: changes of permissions, with the mode as ls shows it; a warning for set-user-id.
 */
#pragma D option quiet
#pragma D option defaultargs

inline string NAME = $$1;
inline string rwx[int m] = strjoin(m & 4 ? "r" : "-", strjoin(m & 2 ? "w" : "-", m & 1 ? "x" : "-"));
inline string text[int m] = strjoin(rwx[(m & S_IRWXU) >> 6], strjoin(rwx[(m & S_IRWXG) >> 3], rwx[m & S_IRWXO]));

syscall::chmod:entry
/NAME == "" || execname == NAME/
{
	self->path = arg0;
	self->mode = (int)arg1;
	self->called = 1;
}

syscall::fchmodat:entry
/NAME == "" || execname == NAME/
{
	self->path = arg1;
	self->mode = (int)arg2;
	self->called = 1;
}

syscall::chmod:return,
syscall::fchmodat:return
/self->called/
{
	printf("%-16s %s %04o %s%s\n", basename(copyinstr(self->path)), text[self->mode], self->mode,
	    errno == 0 ? "changed" : "refused", self->mode & (S_ISUID | S_ISGID) ? " (set-id!)" : "");
	self->called = 0;
	self->path = 0;
	self->mode = 0;
}
