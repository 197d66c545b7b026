/* uprobe_peer: load peer.bpf.o, attach its program "user" to a place in a file by a uprobe.multi link, for one process,
 * say so, wait to be terminated. Arguments: object, file, offset, pid. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UPROBE_MULTI 48

int main(int argc, char **argv)
{
	struct bpf_object *o = argc > 4 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *p, *user = NULL;
	uint64_t offset, cookie = 1;
	struct {
		uint32_t prog, target, type, flags;
		uint64_t path, offsets, refs, cookies;
		uint32_t n, multi_flags, pid, pad;
	} a = {0};

	if (!o)
		return 1;
	bpf_object__for_each_program(p, o)
	{
		bool it = bpf_program__type(p) == BPF_PROG_TYPE_KPROBE;

		bpf_program__set_autoload(p, it);
		if (it)
			user = p;
	}
	if (!user)
		return 1;
	bpf_program__set_expected_attach_type(user, UPROBE_MULTI);
	if (bpf_object__load(o) != 0)
		return 1;
	offset = strtoull(argv[3], NULL, 0);
	a.prog = (uint32_t)bpf_program__fd(user);
	a.type = UPROBE_MULTI;
	a.path = (uint64_t)(uintptr_t)argv[2];
	a.offsets = (uint64_t)(uintptr_t)&offset;
	a.cookies = (uint64_t)(uintptr_t)&cookie;
	a.n = 1;
	a.pid = (uint32_t)atoi(argv[4]);
	if (syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a)) < 0)
		return 1;
	puts("on");
	fflush(stdout);
	pause();
	return 0;
}
