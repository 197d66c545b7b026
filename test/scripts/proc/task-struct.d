#!/usr/sbin/dtrace -s
// run: -e
/* The current task from its kernel structure: parent, memory, flags, threads. */

#pragma D option quiet

inline int PF_KTHREAD = 0x00200000;

syscall::execve:return
/errno == 0/
{
	this->t = curthread;
	this->leader = this->t->group_leader;
	this->parent = this->t->real_parent;
	printf("%-16s pid %d tgid %d prio %d nice %d\n", stringof(this->t->comm), this->t->pid,
	    this->t->tgid, this->t->prio, this->t->static_prio - 120);
	printf("  child of %s (%d), leader %s\n", this->parent->comm, this->parent->tgid, this->leader->comm);
	printf("  %d pages, stack at %p, kernel stack %p\n", this->t->mm ? this->t->mm->total_vm : 0,
	    this->t->mm->start_stack, this->t->stack);
	printf("  kernel thread: %s\n", this->t->flags & PF_KTHREAD ? "yes" : "no");
	printf("  started %d ns after boot\n", this->t->start_boottime);
}

profile-997hz
{
	@[stringof(curthread->comm)] = count();
}
