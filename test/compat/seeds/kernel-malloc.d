// run: -e
// needs: root bpf btf
/* Sizes that the kernel allocates for a program. FreeBSD's malloc() is kmalloc() here, and its events are those of dtmalloc. */
dtmalloc:::malloc
/execname == "dd"/
{
	trace(execname);
	trace(arg3);
}
