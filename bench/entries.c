/* entries: which share of the functions of a file has an entry probe that the kernel emulates.
 * Run by bench/entries.
 *
 * "first": its first instruction is such a one; "cheap": that one, or one further on that every call comes through before
 * arguments change. The others are single-stepped. "returns": functions that return only by instructions that are emulated. */
#include <fcntl.h>
#include <stdio.h>

#include "probe/providers/pid.h"

static void measure(const char *path)
{
	struct dt_elf_place place = {.path = path};
	struct pid_code code = {0};
	pid_objects all = {0};
	dt_arena *a = dt_arena_new();
	dt_error err = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pid_object *o = fd < 0 ? NULL : dt_pid_object(&all, fd, &place, path, a, &err);
	uint32_t n = 0, cheap = 0, first = 0, returns = 0, carried = 0, with = 0, refused = 0;

	dt_insn_kernel(&code.kernel);
	for (uint32_t i = 0; o && i < o->nfuncs; i++) {
		struct pid_function f;
		pid_returns r = {0};
		bool all_cheap = true, all_carried = true;
		dt_insn at = {0};

		if (o->funcs[i].alias || !dt_pid_function(o, i, &f) || !dt_pid_entry(&code, &f, &at))
			continue;
		n++;
		refused += (at.flags & DT_INSN_REFUSED) != 0;
		cheap += (at.flags & DT_INSN_CHEAP) != 0;
		first += at.offset == 0 && at.flags & DT_INSN_CHEAP;
		dt_pid_returns(&code, &f, &r);
		for (uint32_t k = 0; k < r.n; k++) {
			all_cheap = all_cheap && r.v[k].cheap;
			all_carried = all_carried && (r.v[k].cheap || r.v[k].pops);
		}
		returns += r.n && all_cheap;
		carried += r.n && all_carried;
		with += r.n != 0;
		dt_vec_free(&r);
	}
	if (n)
		printf("| `%s` | %u | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", path, n, 100.0 * first / n, 100.0 * cheap / n,
		       100.0 * refused / n, 100.0 * returns / (with ? with : 1), 100.0 * carried / (with ? with : 1));
	else
		printf("| `%s` | no functions%s%s | | | | | |\n", path, err.text[0] ? ": " : "", err.text);
	dt_body_free(&code.body);
	dt_pid_objects_free(&all);
	dt_arena_free(a);
}

int main(int argc, char **argv)
{
	printf("| file | functions | first instruction | entry | refused | returns | returns, Linux 6.19 |\n|---|---|---|---|---|---|---|\n");
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	return 0;
}
