// run: -e
// needs: root bpf btf kprobes
/* From where mutexes of the kernel are taken. */
#pragma D option quiet

lockstat:vmlinux::adaptive-acquire
{
	@[stack()] = count();
}
