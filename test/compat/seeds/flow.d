// run: -e -F
// needs: root bpf btf kprobes
/* What happens in the kernel during openat(), indented. */
syscall::openat:entry
/pid == $target/
{
	self->t = 1;
}

syscall::openat:return
/self->t/
{
	self->t = 0;
}

fbt::vfs_*:
/self->t/
{
}
