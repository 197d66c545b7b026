/*
 * prog_btf: the minimal type information that the kernel requires.
 *
 * Loops (bpf_loop) are allowed only in programs whose functions are all named in BTF, and task
 * storage only for a map whose value has a type. Only the verifier reads these types, so
 * every function is `static int f(u64, u64)` or `int f(struct slot *, u64 ...)`, and the value is
 * an array of u64.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/code/prog_btf.h"

struct writer {
	dt_buf types, strings;
	uint32_t n; /* types so far */
};

static uint32_t name(struct writer *w, const char *s)
{
	uint32_t at;

	if (w->strings.n == 0)
		dt_buf_add(&w->strings, "", 1);
	at = (uint32_t)w->strings.n;
	dt_buf_add(&w->strings, s, strlen(s) + 1);
	return at;
}

static uint32_t type(struct writer *w, uint32_t name_at, uint32_t kind, uint32_t vlen,
		     uint32_t size)
{
	struct btf_type t = {.name_off = name_at, .info = kind << 24 | vlen, .size = size};

	dt_buf_add(&w->types, &t, sizeof(t));
	return ++w->n;
}

static uint32_t integer(struct writer *w, const char *s, uint32_t bytes)
{
	uint32_t id = type(w, name(w, s), BTF_KIND_INT, 0, bytes), bits = bytes * 8;

	dt_buf_add(&w->types, &bits, sizeof(bits));
	return id;
}

/* Load; the fd, or -1 with errno. */
static int finish(struct writer *w)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = (uint32_t)w->types.n,
			       .str_off = (uint32_t)w->types.n,
			       .str_len = (uint32_t)w->strings.n};
	dt_buf all = {0};
	int fd, error;

	dt_buf_add(&all, &h, sizeof(h));
	dt_buf_add(&all, w->types.s, w->types.n);
	dt_buf_add(&all, w->strings.s, w->strings.n);
	fd = bpf_btf_load(all.s, all.n, NULL);
	error = errno;
	dt_buf_free(&all);
	dt_buf_free(&w->types);
	dt_buf_free(&w->strings);
	errno = error;
	return fd;
}

struct dt_storage_btf dt_code_btf_storage(uint32_t value_size)
{
	struct writer w = {0};
	struct dt_storage_btf b = {.key = integer(&w, "u32", 4)};
	uint32_t u64 = integer(&w, "u64", 8);
	struct btf_array a = {.type = u64, .index_type = b.key, .nelems = value_size / 8};

	b.value = type(&w, 0, BTF_KIND_ARRAY, 0, 0);
	dt_buf_add(&w.types, &a, sizeof(a));
	b.fd = finish(&w);
	return b;
}

static int by_start(const void *a, const void *b)
{
	const struct bpf_func_info *x = a, *y = b;

	return x->insn_off < y->insn_off ? -1 : x->insn_off > y->insn_off;
}

/* The kernel requires names to be C identifiers. */
static void clean_name(char *to, const char *from, size_t size)
{
	size_t i = 0;

	for (; from[i] && i < size - 1; i++)
		to[i] = (from[i] >= 'a' && from[i] <= 'z') || (from[i] >= 'A' && from[i] <= 'Z') ||
				(i && from[i] >= '0' && from[i] <= '9')
			    ? from[i]
			    : '_';
	to[i] = 0;
}

/* int f(u64 a, u64 b ...), or with the slot as first argument */
static uint32_t function_type(struct writer *w, uint32_t nargs, uint32_t u64, uint32_t first)
{
	uint32_t a = name(w, "a"), proto = type(w, 0, BTF_KIND_FUNC_PROTO, nargs, u64);

	for (uint32_t i = 0; i < nargs; i++) {
		struct btf_param p = {a, i ? u64 : first};

		dt_buf_add(&w->types, &p, sizeof(p));
	}
	return proto;
}

#define MAX_ARGS 5

int dt_code_btf(const dt_code *c, uint32_t slot_size, struct bpf_func_info *info)
{
	struct writer w = {0};
	uint32_t u64 = integer(&w, "u64", 8), protos[MAX_ARGS + 1], numbers;
	uint32_t slot = type(&w, name(&w, "slot"), BTF_KIND_STRUCT, 0, slot_size);
	uint32_t pointer = type(&w, 0, BTF_KIND_PTR, 0, slot);

	protos[0] = numbers = function_type(&w, 2, u64, u64);
	for (uint32_t n = 1; n <= MAX_ARGS; n++)
		protos[n] = function_type(&w, n, u64, pointer);
	for (uint32_t i = 0; i < c->funcs.n; i++) {
		uint32_t nargs = c->funcs.v[i].nargs;
		char clean[48];

		clean_name(clean, c->funcs.v[i].name, sizeof(clean));
		info[i].insn_off = c->funcs.v[i].start;
		info[i].type_id = type(&w, name(&w, clean), BTF_KIND_FUNC,
				       nargs ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC,
				       c->funcs.v[i].numbers ? numbers : protos[nargs]);
	}
	qsort(info, c->funcs.n, sizeof(*info), by_start);
	return finish(&w);
}
