#!/usr/sbin/dtrace -s
// run: -e
// needs: x86-64
/* User registers at each system call of the target: number, program counter, stack. */

syscall:::entry
/pid == $pid || execname == "a.out"/
{
	printf("%s: rax %x rip %x rsp %x rdi %x", probefunc, uregs[R_RAX], uregs[R_RIP], uregs[R_SP],
	    uregs[R_RDI]);
	@pc[uaddr(uregs[R_PC])] = count();
	@fn[ufunc(uregs[R_PC])] = count();
	@md[umod(uregs[R_PC])] = count();
}
