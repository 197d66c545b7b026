// run: -e
// needs: root bpf btf
/* Programs that are started, with the user and group that start them. */
#pragma D option quiet

proc:::exec
{
	printf("user = %u, gid = %u: %s\n", uid, gid, stringof(args[0]));
}
