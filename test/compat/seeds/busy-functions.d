// run: -e
// needs: root bpf btf kprobes
/* Which functions? */
fbt:vmlinux:vfs_*:entry
{
	@k[probefunc] = count();
}
