/* arch: the tables of every CPU say what they must, and agree with each other and with the CPU's D library. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/abi.h"
#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/operand.h"
#include "arch/syscalls.h"
#include "base/base.h"
#include "unit.h"

static bool is_reg(const dt_arch *a, uint32_t reg)
{
	return reg < a->nregs;
}

/* ---- registers ---- */

static void check_names(const dt_arch *a)
{
	for (uint32_t i = 0; i < a->nregs; i++) {
		CHECK(a->regs[i].name && *a->regs[i].name);
		for (uint32_t k = i + 1; k < a->nregs; k++)
			CHECK(strcmp(a->regs[i].name, a->regs[k].name) != 0);
		for (int n = 0; a->regs[i].operand[n]; n++) { /* the first of that name is this register */
			bool high = true;

			CHECK(dt_arch_operand(a, a->regs[i].operand[n], strlen(a->regs[i].operand[n]), &high) == (int)i);
			CHECK(!high);
		}
		if (a->regs[i].high) {
			bool high = false;

			CHECK(dt_arch_operand(a, a->regs[i].high, strlen(a->regs[i].high), &high) == (int)i && high);
		}
	}
}

/* Each number leads to a register and back; no two registers have the same. */
static void check_numbers(const dt_arch *a)
{
	uint32_t saved = 0;

	for (uint32_t i = 0; i < a->nregs; i++) {
		CHECK(a->regs[i].dwarf < 0 || dt_arch_dwarf(a, (uint64_t)a->regs[i].dwarf) == (int)i);
		CHECK(a->regs[i].saved < 0 || dt_arch_saved(a, (uint32_t)a->regs[i].saved) == (int)i);
		CHECK(a->regs[i].saved < a->unwind.nsaved);
		saved += a->regs[i].saved >= 0;
	}
	CHECK(saved <= a->unwind.nsaved);
	CHECK(dt_arch_dwarf(a, a->unwind.sp) == a->sp);
	CHECK(dt_arch_dwarf(a, a->unwind.fp) == a->fp);
	CHECK(dt_arch_dwarf(a, a->unwind.base) != DT_NO_REG);
	CHECK(dt_arch_dwarf(a, a->unwind.ra) != DT_NO_REG);
	CHECK(a->regs[a->pc].saved >= 0 && a->regs[a->sp].saved >= 0 && a->regs[a->fp].saved >= 0);
	CHECK(dt_arch_dwarf(a, 1000) == DT_NO_REG && dt_arch_saved(a, 1000) == DT_NO_REG);
}

/* Registers with a role are words of struct pt_regs, and arguments are in different ones. */
static void check_roles(const dt_arch *a)
{
	CHECK(is_reg(a, a->pc) && is_reg(a, a->sp) && is_reg(a, a->fp));
	CHECK(is_reg(a, a->call.result) && is_reg(a, a->entry.number) && is_reg(a, a->entry.mode));
	CHECK(a->call.nargs <= DT_NELEM(a->call.arg) && a->call.ngo_args <= DT_NELEM(a->call.go_arg));
	CHECK((a->entry.mode_native & ~a->entry.mode_mask) == 0);
	for (uint32_t i = 0; i < a->call.nargs; i++)
		CHECK(is_reg(a, a->call.arg[i]));
	for (uint32_t i = 0; i < a->call.ngo_args; i++)
		CHECK(is_reg(a, a->call.go_arg[i]));
	for (uint32_t i = 0; i < DT_NELEM(a->entry.arg); i++)
		CHECK(is_reg(a, a->entry.arg[i]) && is_reg(a, a->entry.compat_arg[i]));
	for (uint32_t i = 0; i < a->call.nargs; i++)
		for (uint32_t k = i + 1; k < a->call.nargs; k++)
			CHECK(a->call.arg[i] != a->call.arg[k]);
	for (uint32_t i = 0; i < DT_NELEM(a->entry.arg); i++)
		for (uint32_t k = i + 1; k < DT_NELEM(a->entry.arg); k++)
			CHECK(a->entry.arg[i] != a->entry.arg[k] && a->entry.compat_arg[i] != a->entry.compat_arg[k]);
}

/* lib/<cpu>/regs.d has a line "inline int R_NAME = index;" for each register, and DTrace's names by role. It may have
 * others that struct pt_regs has not. */
static void check_library(const dt_arch *a)
{
	static const char *const roles[] = {"R_PC", "R_SP", "R_FP", "R_PS", "R_R0", "R_R1"};
	const char *top = getenv("SRC");
	char *path = dt_xasprintf("%s/lib/%s/regs.d", top ? top : ".", a->folder), line[200];
	bool known[64] = {0}, has[DT_NELEM(roles)] = {0};
	FILE *f = fopen(path, "re");

	CHECK(f != NULL);
	while (f && fgets(line, sizeof(line), f)) {
		char name[32], what[32];
		char *end;

		if (sscanf(line, "inline int %31s = %31[^;];", name, what) != 2)
			continue;
		for (size_t i = 0; i < DT_NELEM(roles); i++)
			has[i] = has[i] || strcmp(name, roles[i]) == 0;
		unsigned long n = strtoul(what, &end, 10);
		if (*end || end == what)
			continue; /* another name of one above it */
		for (char *p = name; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		for (uint32_t i = 0; i < a->nregs && i < DT_NELEM(known); i++)
			if (strcmp(name + 2, a->regs[i].name) == 0) {
				CHECK(n == i);
				known[i] = true;
			}
	}
	for (uint32_t i = 0; i < a->nregs; i++)
		CHECK(known[i]);
	for (size_t i = 0; i < DT_NELEM(roles); i++)
		CHECK(has[i]);
	if (f)
		fclose(f);
	free(path);
}

/* ---- the rest of the struct ---- */

static void check_calls(const dt_syscall *v, uint32_t n, uint32_t from)
{
	for (uint32_t i = 0; i < n; i++) {
		CHECK(v[i].nr >= from && v[i].nr - from < DT_SYSCALL_COMPAT);
		CHECK(i == 0 || v[i - 1].nr < v[i].nr);
		for (uint32_t k = i + 1; k < n; k++)
			CHECK(strcmp(v[i].name, v[k].name) != 0);
	}
}

static void check_texts(const dt_arch *a)
{
	char text[200];

	for (unsigned n = 0; n < 10; n++) {
		a->call.compat_arg(n, 1u << 20, text, sizeof(text));
		CHECK(*text && strlen(text) < 80);
	}
	for (unsigned n = 0; n <= UINT16_MAX; n++) {
		a->call.condition((uint16_t)n, text, sizeof(text));
		CHECK(*text && strlen(text) < 80);
	}
}

static void check_arch(const dt_arch *a)
{
	printf("%s\n", a->folder);
	check_names(a);
	check_numbers(a);
	check_roles(a);
	check_library(a);
	check_calls(a->calls->v, a->calls->n, 0);
	check_calls(a->calls->compat, a->calls->ncompat, DT_SYSCALL_COMPAT);
	check_texts(a);
	CHECK(dt_arch_of(a->machine) == a);
	CHECK(a->site.size > a->site.call && a->site.bytes && a->site.text && a->site.condition);
	CHECK(!a->unwind.plt || a->unwind.plt_literal < a->unwind.plt_size);
	CHECK(a->programs && a->triplet && a->macro && a->noreturn && a->operand && a->abi && a->code);
}

/* ---- operands of x86-64 ---- */

static void operand(const char *text, bool good, struct dt_operand want)
{
	struct dt_operand o;
	const char *p = text;

	CHECK(dt_arch_x86_64.operand(&p, &o) == good);
	if (!good)
		return;
	if (*p || o.kind != want.kind || o.value != want.value || o.base != want.base || o.index != want.index ||
	    o.high != want.high || o.scale != want.scale || !o.symbol != !want.symbol)
		printf("%s: kind %d value %lld base %d index %d scale %ld\n", text, (int)o.kind, (long long)o.value, o.base,
		       o.index, o.scale);
	CHECK(!*p && o.kind == want.kind && o.value == want.value && o.base == want.base && o.index == want.index);
	CHECK(o.high == want.high && o.scale == want.scale && !o.symbol == !want.symbol);
	CHECK(!want.symbol || (o.symbol_length == strlen(want.symbol) &&
			       memcmp(o.symbol, want.symbol, o.symbol_length) == 0));
}
#define OPERAND(text, kind_, ...)                                                                                       \
	operand(text, true,                                                                                             \
		(struct dt_operand){.kind = DT_OPERAND_##kind_, .base = DT_NO_REG, .index = DT_NO_REG, .scale = 1, ##__VA_ARGS__})

#pragma GCC diagnostic ignored "-Woverride-init"
static void operands(void)
{
	enum { BP = 4, BX, CX = 11, AX = 10, DI = 14, IP = 16, SP = 19 };
	static const char *const bad[] = {"$", "x-y(%rip)", "8(%rax", "8()", "8(%xmm0)", "(%rax,%rbx,9)", "-a(%rip)", "a+b"};

	OPERAND("$17", CONSTANT, .value = 17);
	OPERAND("$-0x10", CONSTANT, .value = -16);
	OPERAND("%edi", REGISTER, .base = DI);
	OPERAND("%dil", REGISTER, .base = DI);
	OPERAND("%ah", REGISTER, .base = AX, .high = true);
	OPERAND("%ch", REGISTER, .base = CX, .high = true);
	OPERAND("%xmm0", OTHER);
	OPERAND("16(%rsp)", MEMORY, .value = 16, .base = SP);
	OPERAND("(%rbp)", MEMORY, .base = BP);
	OPERAND("-8(%rax,%rbx,4)", MEMORY, .value = -8, .base = AX, .index = BX, .scale = 4);
	OPERAND("0(,%rbx,8)", MEMORY, .index = BX, .scale = 8);
	OPERAND("n.1(%rip)", MEMORY, .base = IP, .symbol = "n.1");
	OPERAND("40+stats(%rip)", MEMORY, .value = 40, .base = IP, .symbol = "stats");
	OPERAND("stats-4", MEMORY, .value = -4, .symbol = "stats");
	for (size_t i = 0; i < DT_NELEM(bad); i++)
		operand(bad[i], false, (struct dt_operand){0});
}

/* ---- parameters on x86-64 ---- */

static struct dt_abi_place pass(struct dt_abi_used *used, struct dt_abi_value v)
{
	struct dt_abi_place p = {0};

	dt_abi_pass(dt_arch_x86_64.abi, &v, used, &p);
	return p;
}

static void parameters(void)
{
	const struct dt_abi_value word = {.kind = DT_ABI_INTEGER, .size = 8, .align = 8},
				  real = {.kind = DT_ABI_FLOAT, .size = 8, .align = 8},
				  wide = {.kind = DT_ABI_FLOAT, .size = 16, .align = 16},
				  one = {.kind = DT_ABI_OBJECT, .size = 8, .align = 8, .nfields = 1, .field = {{0, 8, false}}},
				  two = {.kind = DT_ABI_OBJECT, .size = 16, .align = 8, .nfields = 2,
					 .field = {{0, 8, false}, {8, 8, true}}},
				  reals = {.kind = DT_ABI_OBJECT, .size = 8, .align = 4, .nfields = 2,
					   .field = {{0, 4, true}, {4, 4, true}}},
				  large = {.kind = DT_ABI_OBJECT, .size = 24, .align = 8},
				  packed = {.kind = DT_ABI_OBJECT, .size = 9, .align = 1, .irregular = true},
				  none = {.kind = DT_ABI_OBJECT, .size = 0, .align = 1};
	struct dt_abi_used u = {0};
	struct dt_abi_place p;

	CHECK(pass(&u, word).how == DT_ABI_REGISTER && u.ints == 1);
	CHECK(pass(&u, real).how == DT_ABI_VECTOR && u.ints == 1 && u.vectors == 1);
	p = pass(&u, one);
	CHECK(p.how == DT_ABI_ONE && p.n == 1 && u.ints == 2);
	CHECK(pass(&u, two).how == DT_ABI_SEVERAL && u.ints == 3 && u.vectors == 2);
	CHECK(pass(&u, reals).how == DT_ABI_VECTOR && u.vectors == 3);
	CHECK(pass(&u, none).how == DT_ABI_NOTHING);
	CHECK(pass(&u, large).how == DT_ABI_MEMORY && u.stack == 24);
	CHECK(pass(&u, packed).how == DT_ABI_MEMORY && u.stack == 40);
	CHECK(pass(&u, wide).how == DT_ABI_MEMORY && u.stack == 64); /* aligned to 16 */
	u = (struct dt_abi_used){.ints = 6, .vectors = 8};
	p = pass(&u, one); /* an object of one word takes one word of the stack */
	CHECK(p.how == DT_ABI_MEMORY && u.stack == 8);
	p = pass(&u, word);
	CHECK(p.how == DT_ABI_SLOT && p.n == 1 && u.stack == 16);
	p = pass(&u, real);
	CHECK(p.how == DT_ABI_SLOT && p.n == 2);
	CHECK(dt_arch_x86_64.abi->returns_in_memory(&large) && !dt_arch_x86_64.abi->returns_in_memory(&two));
}

/* ---- single instructions of x86-64 ---- */

static void instructions(void)
{
	const struct dt_arch_code *c = dt_arch_x86_64.code;
	const uint8_t trap[] = {0xcc}, bug[] = {0x0f, 0x0b}, push[] = {0x55}, nops[] = {0x66, 0x66, 0x90};
	const uint8_t stub[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x10, 0, 0, 0};
	uint64_t slot = 0;

	CHECK(c->kprobe_refuses(trap, 0, 1) && c->kprobe_refuses(bug, 0, 2) && !c->kprobe_refuses(push, 0, 1));
	CHECK(c->is_padding(trap, 1) && c->is_padding(nops, 3) && !c->is_padding(push, 1));
	CHECK(c->plt_slot(stub, sizeof(stub), 0x1000, &slot) && slot == 0x101b);
	CHECK(!c->plt_slot(stub, sizeof(stub) - 1, 0x1000, &slot));
}

int main(void)
{
	bool host = false;

	for (const dt_arch *const *a = dt_arch_all; *a; a++) {
		check_arch(*a);
		host = host || *a == dt_arch_host();
	}
	CHECK(host);
	CHECK(dt_arch_of(0) == NULL);
	operands();
	parameters();
	instructions();
	return unit_done();
}
