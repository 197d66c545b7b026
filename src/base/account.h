/*
 * account: what is kept in memory on behalf of one of several that are not trusted.
 *
 * Whoever keeps something takes its bytes from the account, and gives them back when it is freed. Each account has a limit. All of
 * them together also have one: above it an account gets no more than an equal share. So one that is greedy is refused, and
 * none of the others notices.
 */
#ifndef DT_BASE_ACCOUNT_H
#define DT_BASE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct dt_accounts {
	uint64_t used, limit;
	uint32_t n;
};

typedef struct dt_account {
	struct dt_accounts *all;
	uint16_t number; /* from 1 */
	uint64_t used, limit;
	uint64_t waiting; /* of what is used: records that wait for their turn */
	uint64_t refused_rows, refused_records; /* that could not be kept */
} dt_account;

static inline bool dt_account_take(dt_account *a, uint64_t n)
{
	if (n > a->limit || a->used > a->limit - n)
		return false;
	if (a->all->used + n > a->all->limit && a->used + n > a->all->limit / a->all->n)
		return false;
	a->used += n;
	a->all->used += n;
	return true;
}

static inline void dt_account_give(dt_account *a, uint64_t n)
{
	a->used -= n;
	a->all->used -= n;
}

#endif
