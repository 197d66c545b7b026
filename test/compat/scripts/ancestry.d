#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * ancestry.d: for each program that is started, its parents up to the third.
 */
#pragma D option quiet

this struct task_struct *p, *pp, *ppp;

proc:::exec-success
{
	this->p = curthread->real_parent;
	this->pp = this->p->real_parent;
	this->ppp = this->pp->real_parent;
	printf("%s <- %s <- %s <- %s\n", execname, stringof(this->p->comm), stringof(this->pp->comm), stringof(this->ppp->comm));
	@[xlate < psinfo_t * > (this->p)->pr_fname, xlate < psinfo_t * > (this->p)->pr_pid] = count();
}

proc:::create
{
	@threads[args[0]->pr_fname, args[0]->pr_dmodel == PR_MODEL_LP64 ? 64 : 32] = count();
}

END
{
	printa("%s (%d) has started %@d\n", @);
	printa("%s, %d bits: %@d\n", @threads);
}
