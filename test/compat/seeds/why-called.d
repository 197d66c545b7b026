// run: -e
// needs: root bpf btf kprobes
/* Why is this function called so often? (strcmp of the original cannot be traced on Linux: it is inlined, or assembler.) */
fbt:vmlinux:vfs_read:entry
{
	@[stack()] = count();
}
