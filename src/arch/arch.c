/*
 * arch: the supported CPUs, the one of this host, and lookups in their tables.
 */
#include <string.h>

#include "arch/arch.h"
#include "base/base.h"

const dt_arch *const dt_arch_all[] = {&dt_arch_x86_64, &dt_arch_aarch64, NULL};

const dt_arch *dt_arch_host(void)
{
#if defined(__x86_64__)
	return &dt_arch_x86_64;
#elif defined(__aarch64__)
	return &dt_arch_aarch64;
#else
#error "a CPU without a folder in src/arch: see doc/porting.md"
#endif
}

bool dt_arch_knows_pages(void)
{
	const struct dt_arch_paging *p = &dt_arch_host()->paging;

	return p->top[0] && 1ull << p->page_bits == dt_page_size();
}

const dt_arch *dt_arch_of(uint16_t machine)
{
	for (const dt_arch *const *a = dt_arch_all; *a; a++)
		if ((*a)->machine == machine)
			return *a;
	return NULL;
}

int dt_arch_dwarf(const dt_arch *a, uint64_t number)
{
	for (uint32_t i = 0; i < a->nregs; i++)
		if (a->regs[i].dwarf >= 0 && (uint64_t)a->regs[i].dwarf == number)
			return (int)i;
	return DT_NO_REG;
}

int dt_arch_saved(const dt_arch *a, uint32_t word)
{
	for (uint32_t i = 0; i < a->nregs; i++)
		if (a->regs[i].saved >= 0 && (uint32_t)a->regs[i].saved == word)
			return (int)i;
	return DT_NO_REG;
}

static bool is_word(const char *word, const char *name, size_t n)
{
	return strlen(word) == n && memcmp(word, name, n) == 0;
}

int dt_arch_operand(const dt_arch *a, const char *name, size_t n, bool *high)
{
	for (uint32_t i = 0; i < a->nregs; i++) {
		const dt_arch_reg *r = &a->regs[i];

		*high = r->high && is_word(r->high, name, n);
		if (*high)
			return (int)i;
		for (int k = 0; r->operand[k]; k++)
			if (is_word(r->operand[k], name, n))
				return (int)i;
	}
	return DT_NO_REG;
}
