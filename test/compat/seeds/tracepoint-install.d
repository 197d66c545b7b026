// run: -e
// needs: root bpf btf kprobes
/* Who writes a breakpoint into a program, in the kernel and in the process that asks for it. The original looks at uwrite() of Solaris. */
fbt::uprobe_write_opcode:entry
{
	stack();
	ustack();
	exit(0);
}
