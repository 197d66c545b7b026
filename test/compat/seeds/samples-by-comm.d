// run: -e
// needs: root bpf btf
/* Threads on a CPU by the name that the kernel's structure has. */
profile-997hz
{
	@[stringof(curthread->comm)] = count();
}
