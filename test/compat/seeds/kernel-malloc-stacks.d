// run: -e
// needs: root bpf btf
/* The same, by the code that allocates. */
dtmalloc:::malloc
/execname == "dd"/
{
	@traces[stack()] = count();
}
