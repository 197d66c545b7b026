// run: -e
// needs: root bpf btf
/* Ways through the kernel that end in a transfer of a disk. */
#pragma D option quiet

io:::start
{
	@[stack()] = count();
}
