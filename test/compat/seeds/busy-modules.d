// run: -e
// needs: root bpf btf kprobes
/* Which module of the kernel is most active? Every function of some; all of fbt:::entry works as well, and takes a while to enable. */
fbt::vfs_*:entry
{
	@[probemod] = count();
}
