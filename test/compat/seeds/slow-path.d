// run: -e
// needs: root bpf btf kprobes
/*
 * Which callers reach one instruction of a function: kinst. (The example elsewhere looks at two calls inside of a lock function; which offsets
 * there are differs by kernel, so this one takes the first instruction of a function of Linux.)
 */
#pragma D option quiet

kinst::vfs_read:0
{
	@[stack(), probename] = count();
}
