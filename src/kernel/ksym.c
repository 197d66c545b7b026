/*
 * ksym: see ksym.h. The file is kept as read; a symbol is an address and two offsets into it.
 */
#include <bpf/bpf.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kernel/ksym.h"

#define NAME_WORDS 32 /* of 8 bytes, of a name: the stack of a BPF program has 64 */

struct symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets into text; module 0: vmlinux */
};

struct dt_ksyms {
	char *text; /* the file, with NULs at the ends of words */
	struct symbol *syms;
	uint32_t n, cap;
	time_t read_at; /* 0: never */
	bool hidden;	/* all addresses are 0: no privilege to see them */
};

dt_ksyms *dt_ksyms_new(void)
{
	return dt_xcalloc(1, sizeof(dt_ksyms));
}

void dt_ksyms_free(dt_ksyms *ks)
{
	if (!ks)
		return;
	free(ks->text);
	free(ks->syms);
	free(ks);
}

/* By address; among names of one address the one that the kernel lists first. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void add(dt_ksyms *ks, uint64_t addr, uint32_t name, uint32_t module)
{
	if (ks->n == ks->cap) {
		ks->cap = ks->cap ? ks->cap * 2 : 131072;
		ks->syms = dt_xrealloc(ks->syms, ks->cap * sizeof(*ks->syms));
	}
	ks->syms[ks->n++] = (struct symbol){addr, name, module};
}

/* "ffffffff81000000 T name", and for modules a tab and "[module]". */
static void parse_line(dt_ksyms *ks, char *line)
{
	char *rest, *name, *end, *module = NULL;
	uint64_t addr = strtoull(line, &rest, 16);

	if (rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return;
	if (addr == 0 || tolower((unsigned char)rest[1]) == 'a')
		return; /* absolute: per-CPU offsets and the like */
	name = rest + 3;
	end = name + strcspn(name, "\t ");
	if (*end) {
		*end++ = 0;
		module = strchr(end, '[');
	}
	if (module) {
		module++;
		module[strcspn(module, "]")] = 0;
		if (strncmp(module, "__builtin__", 11) == 0)
			module = NULL;
	}
	add(ks, addr, (uint32_t)(name - ks->text), module ? (uint32_t)(module - ks->text) : 0);
}

static void load(dt_ksyms *ks)
{
	time_t now = time(NULL);
	size_t len;
	char *next;

	if (ks->read_at == now)
		return;
	ks->read_at = now;
	free(ks->text);
	ks->n = 0;
	ks->text = dt_slurp(AT_FDCWD, "/proc/kallsyms", &len);
	if (!ks->text)
		return;
	for (char *line = ks->text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		parse_line(ks, line);
	}
	ks->hidden = ks->n == 0;
	qsort(ks->syms, ks->n, sizeof(*ks->syms), by_address);
}

/* The last symbol at or below addr; a limit on the distance detects the end of the kernel's text
 * and the holes between it and the modules. */
static const struct symbol *find(const dt_ksyms *ks, uint64_t addr)
{
	uint32_t lo = 0, hi = ks->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (ks->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr - ks->syms[lo - 1].addr > 16 << 20)
		return NULL;
	lo--;
	while (lo > 0 && ks->syms[lo - 1].addr == ks->syms[lo].addr)
		lo--;
	return &ks->syms[lo];
}

bool dt_ksym_by_addr(dt_ksyms *ks, uint64_t addr, const char **module, const char **name,
		     uint64_t *offset)
{
	const struct symbol *s = ks->n ? find(ks, addr) : NULL;

	if (!s && !ks->hidden) {
		load(ks);
		s = find(ks, addr);
	}
	if (!s)
		return false;
	*module = s->module ? ks->text + s->module : "vmlinux";
	*name = ks->text + s->name;
	*offset = addr - s->addr;
	return true;
}

static bool module_fits(const char *want, const char *have)
{
	if (!want || !*want)
		return true;
	if (strcmp(want, "kernel") == 0 || strcmp(want, "genunix") == 0)
		want = "vmlinux";
	return strcmp(want, have) == 0;
}

#define INSN(code_, dst, src, off_, imm_) ((struct bpf_insn){.code = (code_), .dst_reg = (dst), .src_reg = (src), .off = (int16_t)(off_), .imm = (int32_t)(imm_)})

/*
 * One name without reading the file: bpf_kallsyms_lookup_name(), for a program that is run once. The name is put on its
 * stack, what it finds is put into its context. False: not found, or there is no such helper, or we may not use it.
 */
static bool ask_kernel(const char *name, uint64_t *addr)
{
	uint32_t length = (uint32_t)strlen(name) + 1, words = (length + 7) / 8, n = 0;
	int at = -8 - (int)words * 8;
	struct bpf_insn code[2 * NAME_WORDS + 12];
	LIBBPF_OPTS(bpf_prog_load_opts, o, .prog_flags = BPF_F_SLEEPABLE);
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = addr, .ctx_size_in = sizeof(*addr));
	int fd, rc;

	if (words > NAME_WORDS)
		return false;
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	for (uint32_t i = 0; i < words * 2; i++) {
		uint32_t part = 0;

		memcpy(&part, name + i * 4, i * 4 >= length ? 0 : length - i * 4 < 4 ? length - i * 4 : 4);
		code[n++] = INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, at + (int)i * 4, part);
	}
	code[n++] = INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0);
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	code[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, at);
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, length);
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0);
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0);
	code[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -8);
	code[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_kallsyms_lookup_name);
	code[n++] = INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, -8, 0);
	code[n++] = INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_1, 0, 0);
	code[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	*addr = 0;
	fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "dtrace", "Dual BSD/GPL", code, n, &o);
	rc = fd >= 0 ? bpf_prog_test_run_opts(fd, &run) : -1;
	if (fd >= 0)
		close(fd);
	return rc == 0 && run.retval == 0 && *addr >> 63; /* others are offsets, of variables of each CPU */
}

bool dt_ksym_by_name(dt_ksyms *ks, const char *module, const char *name, uint64_t *addr)
{
	if (ks->n == 0 && !ks->hidden && (!module || !*module) && ask_kernel(name, addr))
		return true;
	if (ks->n == 0 && !ks->hidden)
		load(ks);
	for (uint32_t i = 0; i < ks->n; i++) {
		const struct symbol *s = &ks->syms[i];
		if (strcmp(ks->text + s->name, name) == 0 &&
		    module_fits(module, s->module ? ks->text + s->module : "vmlinux")) {
			*addr = s->addr;
			return true;
		}
	}
	return false;
}

bool dt_ksym_next(dt_ksyms *ks, uint32_t *it, uint64_t *addr, const char **module,
		  const char **name)
{
	const struct symbol *s;

	if (ks->n == 0 && !ks->hidden)
		load(ks);
	if (*it >= ks->n)
		return false;
	s = &ks->syms[(*it)++];
	*addr = s->addr;
	*module = s->module ? ks->text + s->module : "vmlinux";
	*name = ks->text + s->name;
	return true;
}

uint64_t dt_ksym_end(dt_ksyms *ks, uint64_t addr)
{
	uint32_t lo = 0, hi;

	if (ks->n == 0 && !ks->hidden)
		load(ks);
	for (hi = ks->n; lo < hi;) {
		uint32_t mid = (lo + hi) / 2;

		if (ks->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ks->n ? ks->syms[lo].addr : 0;
}
