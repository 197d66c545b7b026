#!/usr/sbin/dtrace -s
// run: -e bash
/* Programs by name: equal, unequal, in order. */

syscall::execve:return
/execname == $$1 || (execname >= "k" && execname < "l") || execname != "" ^^ uid == 0/
{
	@[execname > "m" ? "n-z" : "a-m"] = count();
}

syscall::execve:return
/strstr(execname, $$1) != NULL && !(ppid == 1)/
{
	@same[execname] = count();
}
