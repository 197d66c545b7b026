/*
 * images: see images.h.
 */
#include <stdlib.h>

#include "base/budget.h"
#include "proc/images.h"

#define BUCKETS 8192

struct mapset { /* shared after a fork; copied before it is changed */
	uint32_t refs;
	uint64_t top; /* the end of the highest */
	DT_VEC(dt_umap) maps;
};

struct dt_image {
	uint64_t since;
	struct mapset *set;
	struct dt_image *older;
};

struct dt_images {
	dt_process *buckets[BUCKETS];
	dt_process *dead, **dead_end; /* in order of their end; some ids may be in use again */
	uint32_t ndead;
};

dt_images *dt_images_new(void)
{
	dt_images *im = dt_xcalloc(1, sizeof(*im));

	im->dead_end = &im->dead;
	return im;
}

/* ---- mappings ---- */

static void release_set(struct mapset *s)
{
	if (--s->refs > 0)
		return;
	dt_vec_free(&s->maps);
	free(s);
}

static struct mapset *new_set(void)
{
	struct mapset *s = dt_xcalloc(1, sizeof(*s));

	s->refs = 1;
	return s;
}

/* The set of the newest image, not shared. */
static struct mapset *own_set(dt_process *p)
{
	struct mapset *was = p->images->set, *s;

	if (was->refs == 1)
		return was;
	s = new_set();
	s->top = was->top;
	for (uint32_t i = 0; i < was->maps.n; i++)
		*dt_vec_add(&s->maps, NULL) = was->maps.v[i];
	release_set(was);
	p->images->set = s;
	return s;
}

static bool same_map(const dt_umap *a, const dt_umap *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file;
}

static bool overlap(const dt_umap *a, const dt_umap *b)
{
	return a->start < b->end && b->start < a->end;
}

static void remove_map(struct mapset *s, uint32_t at)
{
	s->maps.n--;
	memmove(&s->maps.v[at], &s->maps.v[at + 1], (s->maps.n - at) * sizeof(*s->maps.v));
}

static void drop_oldest(struct mapset *s, uint32_t *many, bool only_anon)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->maps.n; i++) {
		if (*many && (!only_anon || s->maps.v[i].file->anon))
			(*many)--;
		else
			s->maps.v[n++] = s->maps.v[i];
	}
	s->maps.n = n;
}

/* The oldest anonymous ones, or the oldest: many at once, since each time all are moved. */
static void shed(struct mapset *s)
{
	uint32_t many = DT_MAX_MAPS / 8;

	drop_oldest(s, &many, true);
	drop_oldest(s, &many, false);
}

/* The new one hides those it covers; they are kept for older records, except an equal one: a
 * library that is opened and closed repeatedly gets the same addresses. */
void dt_images_map(dt_process *p, const dt_umap *m)
{
	struct mapset *s = p->images->set;
	uint32_t at = s->maps.n, i = s->maps.n;
	bool hidden = false;

	if (m->start >= s->top)
		i = 0; /* above all others, as those from /proc are: a process may have thousands */
	while (i-- > 0 && at == s->maps.n) {
		if (same_map(&s->maps.v[i], m))
			at = i;
		else if (overlap(&s->maps.v[i], m))
			hidden = true;
	}
	if (at < s->maps.n && !hidden)
		return;
	s = own_set(p);
	if (at < s->maps.n)
		remove_map(s, at);
	else if (s->maps.n >= DT_MAX_MAPS)
		shed(s);
	s->top = m->end > s->top ? m->end : s->top;
	*dt_vec_add(&s->maps, NULL) = *m;
}

long *dt_images_kept(const dt_images *im, uint32_t *n)
{
	DT_VEC(long) pids = {0};

	for (size_t b = 0; b < BUCKETS; b++)
		for (const dt_process *p = im->buckets[b]; p; p = p->hash_next)
			if (p->kept && !p->exited)
				*dt_vec_add(&pids, NULL) = p->pid;
	*n = pids.n;
	return pids.v;
}

/* How many files were used */
static uint32_t use_files(const struct dt_image *i, dt_files *fs, uint32_t most)
{
	uint32_t n = 0;

	for (; i; i = i->older)
		for (uint32_t m = 0; m < i->set->maps.n && n < most; m++, n++)
			dt_files_use(fs, i->set->maps.v[m].file);
	return n;
}

void dt_images_use_kept(dt_images *im, dt_files *fs)
{
	uint32_t left = DT_MAX_KEPT_FILES;

	for (size_t b = 0; b < BUCKETS; b++)
		for (dt_process *p = im->buckets[b]; p; p = p->hash_next)
			if (p->kept)
				left -= use_files(p->images, fs, left < DT_MAX_KEPT_FILES_OF ? left : DT_MAX_KEPT_FILES_OF);
}

static bool drop_files(struct mapset *s, uint64_t until)
{
	uint32_t n = 0, before = s->maps.n;

	for (uint32_t i = 0; i < s->maps.n; i++)
		if (s->maps.v[i].file->used > until)
			s->maps.v[n++] = s->maps.v[i];
	s->maps.n = n;
	return n < before;
}

/* A living process can be read again when it is needed. Of a set that several share only the first
 * is marked. */
void dt_images_drop_files(dt_images *im, uint64_t until)
{
	for (size_t b = 0; b < BUCKETS; b++)
		for (dt_process *p = im->buckets[b]; p; p = p->hash_next)
			for (struct dt_image *i = p->images; i; i = i->older)
				if (drop_files(i->set, until))
					p->losses = FORGOTTEN;
}

/* ---- processes ---- */

static void free_process(dt_process *p)
{
	struct dt_image *older;

	for (struct dt_image *i = p->images; i; i = older) {
		older = i->older;
		release_set(i->set);
		free(i);
	}
	free(p);
}

void dt_images_free(dt_images *im)
{
	dt_process *next;

	if (!im)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (dt_process *p = im->buckets[i]; p; p = next) {
			next = p->hash_next;
			free_process(p);
		}
	}
	free(im);
}

static dt_process **bucket(dt_images *im, long pid)
{
	return &im->buckets[(unsigned long)pid % BUCKETS];
}

dt_process *dt_images_get(dt_images *im, long pid)
{
	for (dt_process *p = *bucket(im, pid); p; p = p->hash_next)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* A new newest image with these mappings (takes over the reference). */
static void push_image(dt_process *p, uint64_t since, struct mapset *set)
{
	struct dt_image *i = dt_xcalloc(1, sizeof(*i)), **last = &p->images;

	i->since = since;
	i->set = set;
	i->older = p->images;
	p->images = i;
	if (++p->nimages <= DT_MAX_IMAGES)
		return;
	while ((*last)->older)
		last = &(*last)->older;
	release_set((*last)->set);
	free(*last);
	*last = NULL;
	p->nimages--;
}

static dt_process *new_process(dt_images *im, long pid)
{
	dt_process *p = dt_xcalloc(1, sizeof(*p)), **b = bucket(im, pid);

	p->pid = pid;
	p->hash_next = *b;
	*b = p;
	return p;
}

dt_process *dt_images_make(dt_images *im, long pid, uint64_t since)
{
	dt_process *p = dt_images_get(im, pid);

	if (!p) {
		p = new_process(im, pid);
		push_image(p, since, new_set());
	}
	return p;
}

/* The number may have belonged to a process that has died: its images are then older ones of this.
 */
void dt_images_fork(dt_images *im, dt_process *parent, long pid, uint64_t time)
{
	dt_process *p = dt_images_get(im, pid);

	if (!p)
		p = new_process(im, pid);
	parent->images->set->refs++;
	push_image(p, time, parent->images->set);
	p->root = parent->root;
	p->has_owner = parent->has_owner;
	p->uid = parent->uid;
	p->root_uid = parent->root_uid;
	p->read_at = parent->read_at;
	p->losses = parent->losses;
	p->exited = false;
}

void dt_images_exec(dt_images *im, dt_process *p, uint64_t time)
{
	(void)im;
	push_image(p, time, new_set());
	p->exited = false;
}

static void forget(dt_images *im, dt_process *p)
{
	dt_process **at = bucket(im, p->pid);

	while (*at != p)
		at = &(*at)->hash_next;
	*at = p->hash_next;
	free_process(p);
}

/* Remove it from the list; forget it unless its pid is in use again. */
static void bury_oldest(dt_images *im)
{
	dt_process *p = im->dead;

	im->dead = p->dead_next;
	if (!im->dead)
		im->dead_end = &im->dead;
	im->ndead--;
	p->dead_next = NULL;
	if (p->exited && !p->kept)
		forget(im, p);
}

void dt_images_exit(dt_images *im, dt_process *p)
{
	bool listed = p->dead_next || im->dead_end == &p->dead_next;

	p->exited = true;
	if (listed) /* the pid ended, was reused, and ended again: its first position in the list is used */
		return;
	*im->dead_end = p;
	im->dead_end = &p->dead_next;
	im->ndead++;
	while (im->ndead > DT_MAX_EXITED)
		bury_oldest(im);
}

/* ---- lookups ---- */

static const struct dt_image *image_at(const dt_process *p, uint64_t time)
{
	const struct dt_image *i = p->images;

	while (time && i->since > time && i->older)
		i = i->older;
	return i;
}

bool dt_images_is_newest(const dt_process *p, uint64_t time)
{
	return image_at(p, time) == p->images;
}

static bool find_in(const struct dt_image *image, uint64_t time, uint64_t addr, dt_umap *m)
{
	const dt_umap *later = NULL;

	for (uint32_t i = image->set->maps.n; i-- > 0;) {
		const dt_umap *u = &image->set->maps.v[i];

		if (addr < u->start || addr >= u->end)
			continue;
		if (time == 0 || u->since <= time) {
			*m = *u;
			return true;
		}
		later = u;
	}
	if (later)
		*m = *later;
	return later != NULL;
}

bool dt_images_find(const dt_process *p, uint64_t time, uint64_t addr, dt_umap *m)
{
	const struct dt_image *best = image_at(p, time);

	if (find_in(best, time, addr, m))
		return true;
	for (const struct dt_image *i = p->images; i; i = i->older)
		if (i != best && find_in(i, 0, addr, m))
			return true;
	return false;
}

bool dt_images_next(const dt_process *p, uint64_t time, uint32_t *it, dt_umap *m)
{
	const struct mapset *s = image_at(p, time)->set;

	if (*it >= s->maps.n)
		return false;
	*m = s->maps.v[s->maps.n - 1 - (*it)++];
	return true;
}
