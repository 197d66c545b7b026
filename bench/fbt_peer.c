/* fbt_peer: attach fbt_peer.bpf.o to the functions whose addresses a file lists; say so; wait to be
 * terminated. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static unsigned long addrs[1 << 17];
	LIBBPF_OPTS(bpf_kprobe_multi_opts, o, .addrs = addrs);
	struct bpf_object *obj = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;

	if (!obj || !f || bpf_object__load(obj) != 0)
		return 1;
	while (o.cnt < 1 << 17 && fscanf(f, "%lx", &addrs[o.cnt]) == 1)
		o.cnt++;
	if (!bpf_program__attach_kprobe_multi_opts(bpf_object__find_program_by_name(obj, "entry"),
						   NULL, &o))
		return 1;
	printf("%zu\n", o.cnt);
	fflush(stdout);
	pause();
	return 0;
}
