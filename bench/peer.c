/* peer: load peer.bpf.o, attach the program named on the command line, wait to be terminated. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *o = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *p;

	if (!o || bpf_object__load(o) != 0)
		return 1;
	p = bpf_object__find_program_by_name(o, argv[2]);
	if (!p || !bpf_program__attach(p))
		return 1;
	pause();
	return 0;
}
