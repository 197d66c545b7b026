/*
 * map: a hash table from strings to pointers that remembers the order of insertion.
 *
 * Entries sit in an array in that order; the table proper is an array of indices into it, open
 * addressing with linear probing. Deleting leaves a hole in both (an entry without a key, an index
 * that still points to it), and holes are squeezed out when the table is next rebuilt. So an
 * iterator stays valid while entries are deleted; it does not while entries are added.
 */
#include <stdlib.h>

#include "base/base.h"

struct entry {
	char *key; /* NULL: deleted */
	void *value;
	uint64_t hash;
};

struct dt_map {
	struct entry *entries;
	uint32_t n, cap; /* entries in use, holes included */
	uint32_t live;	 /* entries without holes */
	uint32_t *slots; /* index + 1; 0: empty */
	uint32_t nslots; /* a power of two, at least twice n */
};

/*
 * Eight bytes at a time: multiply to 128 bits and fold. Names are what gets hashed here (all
 * 120,000 of a kernel's BTF at the first look-up of a type), so short inputs matter most.
 */
static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t dt_hash_bytes(const void *p, size_t n)
{
	const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xd6e8feb86659fd93u;
	const unsigned char *s = p;
	uint64_t h = k0 ^ n, w;

	for (; n >= 8; n -= 8, s += 8) {
		memcpy(&w, s, 8);
		h = fold(h ^ w, k1);
	}
	if (n > 0) {
		w = 0;
		memcpy(&w, s, n);
		h = fold(h ^ w, k1);
	}
	return fold(h, k0);
}

dt_map *dt_map_new(void)
{
	return dt_xcalloc(1, sizeof(dt_map));
}

void dt_map_free(dt_map *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		free(m->entries[i].key);
	free(m->entries);
	free(m->slots);
	free(m);
}

static struct entry *find(const dt_map *m, const char *key, uint64_t hash)
{
	if (m->nslots == 0)
		return NULL;
	for (uint32_t i = (uint32_t)hash & (m->nslots - 1); m->slots[i] != 0;
	     i = (i + 1) & (m->nslots - 1)) {
		struct entry *e = &m->entries[m->slots[i] - 1];

		if (e->key != NULL && e->hash == hash && strcmp(e->key, key) == 0)
			return e;
	}
	return NULL;
}

static void rebuild(dt_map *m)
{
	uint32_t kept = 0, nslots = 16;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->entries[i].key != NULL)
			m->entries[kept++] = m->entries[i];
	m->n = kept;
	while (nslots < kept * 4)
		nslots *= 2;
	free(m->slots);
	m->slots = dt_xcalloc(nslots, sizeof(*m->slots));
	m->nslots = nslots;
	for (uint32_t i = 0; i < kept; i++) {
		uint32_t s = (uint32_t)m->entries[i].hash & (nslots - 1);

		while (m->slots[s] != 0)
			s = (s + 1) & (nslots - 1);
		m->slots[s] = i + 1;
	}
}

void *dt_map_get(const dt_map *m, const char *key)
{
	struct entry *e = find(m, key, dt_hash_bytes(key, strlen(key)));

	return e != NULL ? e->value : NULL;
}

void dt_map_set(dt_map *m, const char *key, void *value)
{
	uint64_t hash = dt_hash_bytes(key, strlen(key));
	struct entry *e = find(m, key, hash);
	uint32_t s;

	if (e != NULL) {
		e->value = value;
		return;
	}
	if ((m->n + 1) * 2 > m->nslots)
		rebuild(m);
	m->entries = dt_vec_grow(m->entries, m->n, &m->cap, sizeof(*m->entries), NULL);
	m->entries[m->n] = (struct entry){dt_xstrdup(key), value, hash};
	s = (uint32_t)hash & (m->nslots - 1);
	while (m->slots[s] != 0)
		s = (s + 1) & (m->nslots - 1);
	m->slots[s] = ++m->n;
	m->live++;
}

void dt_map_del(dt_map *m, const char *key)
{
	struct entry *e = find(m, key, dt_hash_bytes(key, strlen(key)));

	if (e == NULL)
		return;
	free(e->key);
	e->key = NULL;
	e->value = NULL;
	m->live--;
}

size_t dt_map_count(const dt_map *m)
{
	return m->live;
}

bool dt_map_next(const dt_map *m, uint32_t *it, const char **key, void **value)
{
	while (*it < m->n) {
		const struct entry *e = &m->entries[(*it)++];

		if (e->key == NULL)
			continue;
		if (key != NULL)
			*key = e->key;
		if (value != NULL)
			*value = e->value;
		return true;
	}
	return false;
}
