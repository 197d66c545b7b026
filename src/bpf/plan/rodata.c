/*
 * rodata: read-only data of programs.
 */
#include "bpf/plan/rodata.h"

void dt_rodata_init(struct dt_rodata *r)
{
	*r = (struct dt_rodata){.pool = dt_map_new()};
	dt_rodata_string(r, "");
}

void dt_rodata_free(struct dt_rodata *r)
{
	dt_buf_free(&r->data);
	dt_map_free(r->pool);
}

uint32_t dt_rodata_add(struct dt_rodata *r, const void *data, size_t size)
{
	uint32_t at = (uint32_t)r->data.n;

	dt_buf_add(&r->data, data, size);
	while (r->data.n % 8)
		dt_buf_add(&r->data, "", 1);
	return at;
}

uint32_t dt_rodata_find(const struct dt_rodata *r, const char *s)
{
	void *at = dt_map_get(r->pool, s);

	return at ? (uint32_t)((uintptr_t)at - 1) : UINT32_MAX;
}

uint32_t dt_rodata_string(struct dt_rodata *r, const char *s)
{
	uint32_t at = dt_rodata_find(r, s);

	if (at == UINT32_MAX) {
		at = dt_rodata_add(r, s, strlen(s) + 1);
		dt_map_set(r->pool, s, (void *)(uintptr_t)(at + 1));
	}
	return at;
}
