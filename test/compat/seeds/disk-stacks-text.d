// run: -e
// needs: root bpf btf
/* The same with immstack(), whose names are found at once; the original does it for virtual machines. */
#pragma D option quiet

io:::start
{
	@[immstack()] = count();
}
