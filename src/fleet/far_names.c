/*
 * far_names: names of addresses that other machines have resolved.
 *
 * The same function has another address on each machine. So every name gets an address of our own, outside of what the
 * CPU can have, and takes the place of the machine's address in its data: equal names become equal keys, and the
 * consumer finds the name again by that address. Addresses are 16 apart, with the name at 8: the consumer looks for
 * one less where a frame is a return address (consume/value.c).
 */
#include <stdlib.h>

#include "fleet/one_target.h"

#define NAME_COST 150 /* besides its characters, which are there twice */

struct name {
	char *mod, *sym;
	uint64_t off;
};

struct dt_farnames {
	DT_VEC(struct name) v;
	dt_map *known; /* text -> 1 + index */
};

dt_farnames *dt_farnames_new(void)
{
	dt_farnames *ns = dt_xcalloc(1, sizeof(*ns));

	ns->known = dt_map_new();
	return ns;
}

void dt_farnames_free(dt_farnames *ns)
{
	if (!ns)
		return;
	for (uint32_t i = 0; i < ns->v.n; i++) {
		free(ns->v.v[i].mod);
		free(ns->v.v[i].sym);
	}
	dt_vec_free(&ns->v);
	dt_map_free(ns->known);
	free(ns);
}

static char *safe(const char *s)
{
	char *copy = s ? dt_xstrdup(s) : NULL;

	if (copy)
		dt_make_safe(copy, strlen(copy), false);
	return copy;
}

uint64_t dt_farnames_add(dt_farnames *ns, dt_account *payer, const struct dt_wire_name *n, uint64_t addr)
{
	char number[32];
	struct dt_wire_name name = *n;
	uintptr_t at;
	char *key;

	if (!name.sym) { /* it is shown as its address there */
		snprintf(number, sizeof(number), "0x%llx", (unsigned long long)addr);
		name.sym = number;
		name.off = 0;
	}
	key = dt_xasprintf("%s`%s+%llx", name.mod ? name.mod : "", name.sym, (unsigned long long)name.off);
	at = (uintptr_t)dt_map_get(ns->known, key);
	if (!at && !dt_account_take(payer, 2 * strlen(key) + NAME_COST)) {
		free(key);
		return 0;
	}
	if (!at) {
		*dt_vec_add(&ns->v, NULL) = (struct name){safe(name.mod), safe(name.sym), name.off};
		at = ns->v.n;
		dt_map_set(ns->known, key, (void *)at);
	}
	free(key);
	return DT_NAMES_BASE + at * 16 + 8;
}

bool dt_farnames_find(const dt_farnames *ns, uint64_t addr, const char **mod, const char **sym, uint64_t *off)
{
	uint64_t at = (addr - DT_NAMES_BASE) / 16;
	const struct name *n;

	if (addr < DT_NAMES_BASE || at == 0 || at > ns->v.n)
		return false;
	n = &ns->v.v[at - 1];
	*mod = n->mod;
	*sym = n->sym;
	*off = n->off - (addr % 16 == 7 && n->off > 0);
	return true;
}
