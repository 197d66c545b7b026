#!/usr/sbin/dtrace -s
// run: -e
/* Who started this? Up to four generations, without a loop. */

#pragma D option quiet

syscall::execve:entry
{
	this->a = curthread->real_parent;
	this->b = this->a != NULL ? this->a->real_parent : NULL;
	this->c = this->b != NULL && this->b->pid > 1 ? this->b->real_parent : NULL;
	printf("%d %s", pid, execname);
	printf(" <- %d %s", this->a->tgid, this->a->comm);
	printf("%s%s", this->b != NULL ? " <- " : "", this->b != NULL ? stringof(this->b->comm) : "");
	printf("%s%s\n", this->c != NULL ? " <- " : "", this->c != NULL ? stringof(this->c->comm) : "");
}
