// stack, ustack, jstack: an empty line, then the frames; the interpreter has none.
// run: -q
BEGIN
{
	stack(); ustack(); jstack(); stack(3); ustack(3, 100); jstack(2, 0);
	printf("end\n");
	exit(0);
}
