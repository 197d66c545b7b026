/*
 * btf: one BTF image: read it, check it, index it by name.
 *
 * Why not libbpf: measured on 6.18 (126,564 types, 5.5 MB), btf__parse() and its first look-up take
 * 8.1-8.6 ms and 13.1 MB of peak memory, most of it a copy of the file. Newer kernels allow vmlinux
 * in sysfs to be mapped: the pages are the kernel's own and not counted as ours. Its types are found
 * by one walk, which goes only as far as needed: the structures that scripts ask for are among the
 * first eighth, and the second half is functions. Names are hashed part by part as well. The first few
 * names of functions and typedefs are found by search, in 0.1 ms each, before theirs are hashed. Offsets
 * of members, which the kernel engine needs, are read without creating types (dt_btf_offset()).
 * Reading instead of mapping costs 3.8 ms more (the kernel returns a page per read) and is used for
 * modules, older kernels and plain files.
 *
 * What is checked here, once: the header, that sections and all type records lie inside the file,
 * that strings end. What is checked at each use: type ids and string offsets, by dt_btf_at() and
 * dt_btf_string(), so hostile contents can only lead to wrong types, not outside the image. A file
 * that is not in sysfs is never mapped, because its owner could truncate it meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <wchar.h>

#include "type/btf.h"

#define FILE_MAX_SIZE ((size_t)512 << 20)

/* ---- the file ---- */

static bool map_file(struct dt_btf *b, int fd)
{
	struct statfs fs;
	void *p;

	if (fstatfs(fd, &fs) != 0 || fs.f_type != SYSFS_MAGIC || b->len == 0)
		return false;
	p = mmap(NULL, b->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	b->data = p;
	b->mapped = true;
	return true;
}

static bool read_file(struct dt_btf *b, int fd)
{
	char *data = dt_xmalloc(b->len);
	size_t n = 0;

	b->data = data;
	while (n < b->len) {
		ssize_t k = read(fd, data + n, b->len - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return false;
		if (k == 0)
			break;
		n += (size_t)k;
	}
	b->len = n;
	return true;
}

static const char *load_file(struct dt_btf *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *problem = NULL;
	struct stat st;

	if (fd < 0)
		return dt_strerror(errno);
	if (fstat(fd, &st) != 0) {
		problem = dt_strerror(errno);
	} else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MAX_SIZE) {
		problem = "not a BTF file";
	} else {
		b->len = (size_t)st.st_size;
		if (!map_file(b, fd) && !read_file(b, fd))
			problem = dt_strerror(errno);
	}
	close(fd);
	return problem;
}

/* ---- checks ---- */

static const char *check_header(struct dt_btf *b)
{
	struct btf_header h;
	uint64_t body;

	if (b->len < sizeof(h))
		return "file is too short";
	memcpy(&h, b->data, sizeof(h));
	if (h.magic != BTF_MAGIC)
		return h.magic == __builtin_bswap16(BTF_MAGIC) ? "BTF of the other byte order"
							       : "not a BTF file";
	if (h.version != BTF_VERSION || h.hdr_len < sizeof(h) || h.hdr_len > b->len)
		return "BTF header is not valid";
	body = b->len - h.hdr_len;
	if (h.hdr_len % 4 != 0 || h.type_off % 4 != 0 || (uint64_t)h.type_off + h.type_len > body ||
	    (uint64_t)h.str_off + h.str_len > body)
		return "BTF sections lie outside the file";
	b->types = b->data + h.hdr_len + h.type_off;
	b->types_len = h.type_len;
	b->strings = b->data + h.hdr_len + h.str_off;
	b->strings_len = h.str_len;
	if (h.str_len > 0 && b->strings[h.str_len - 1] != '\0')
		return "BTF strings do not end";
	if (b->base == NULL && (h.str_len == 0 || b->strings[0] != '\0'))
		return "BTF has no empty string";
	if (b->base != NULL && b->base->list->partial)
		return "types of vmlinux could not all be read";
	return NULL;
}

/* Bytes of a type record: of the record itself and what follows it, and for each of its members, enumerators or
 * parameters. 0: a kind newer than this program. */
static const struct size {
	uint8_t fixed, each;
} sizes[32] = {
#define FIXED(kind, more) [BTF_KIND_##kind] = {sizeof(struct btf_type) + (more), 0}
#define EACH(kind, type)  [BTF_KIND_##kind] = {sizeof(struct btf_type), sizeof(type)}
    FIXED(PTR, 0),
    FIXED(FWD, 0),
    FIXED(TYPEDEF, 0),
    FIXED(VOLATILE, 0),
    FIXED(CONST, 0),
    FIXED(RESTRICT, 0),
    FIXED(FUNC, 0),
    FIXED(FLOAT, 0),
    FIXED(TYPE_TAG, 0),
    FIXED(INT, sizeof(uint32_t)),
    FIXED(ARRAY, sizeof(struct btf_array)),
    FIXED(VAR, sizeof(struct btf_var)),
    FIXED(DECL_TAG, sizeof(struct btf_decl_tag)),
    EACH(STRUCT, struct btf_member),
    EACH(UNION, struct btf_member),
    EACH(ENUM, struct btf_enum),
    EACH(ENUM64, struct btf_enum64),
    EACH(FUNC_PROTO, struct btf_param),
    EACH(DATASEC, struct btf_var_secinfo),
#undef FIXED
#undef EACH
};

/*
 * The kinds that are asked for by name, in groups that each have an index: most names are of functions, and most
 * questions are about structures.
 */
static const uint32_t groups[DT_BTF_GROUPS] = {
    DT_BTF_KIND(BTF_KIND_STRUCT) | DT_BTF_KIND(BTF_KIND_UNION) | DT_BTF_KIND(BTF_KIND_ENUM) |
	DT_BTF_KIND(BTF_KIND_ENUM64),
    DT_BTF_KIND(BTF_KIND_FUNC) | DT_BTF_KIND(BTF_KIND_VAR),
    DT_BTF_KIND(BTF_KIND_INT) | DT_BTF_KIND(BTF_KIND_FLOAT) | DT_BTF_KIND(BTF_KIND_TYPEDEF),
};

#define STRIDE 8u /* of so many records, one has its offset noted */

static inline uint32_t record_size(const struct btf_type *t)
{
	return sizes[dt_btf_kind(t)].fixed + dt_btf_vlen(t) * sizes[dt_btf_kind(t)].each;
}

/*
 * Continue the walk through the type section, up to this offset. Much of the time would be the
 * first use of each page of a list of all offsets: so only some are noted.
 */
static const char *walk(const struct dt_btf *b, uint32_t to)
{
	struct dt_btf_list *l = b->list;
	uint32_t at = l->at, n = l->n, ntags = l->ntags, len = b->types_len;
	const char *problem = NULL;

	while (at < to && !l->partial) {
		const struct btf_type *t = (const void *)(b->types + at);
		uint32_t size = len - at < sizeof(*t) ? UINT32_MAX : record_size(t);

		if (size > len - at)
			problem = "BTF types are cut off";
		if (size == 0 || problem != NULL) {
			l->partial = true;
			break;
		}
		l->tags[ntags] = at;
		ntags += groups[0] >> dt_btf_kind(t) & 1;
		if (n % STRIDE == 0)
			l->offsets[n / STRIDE] = at;
		n++;
		at += size;
	}
	l->at = at;
	l->n = n;
	l->ntags = ntags;
	return problem;
}

static void make_list(struct dt_btf *b)
{
	size_t cap = b->types_len / sizeof(struct btf_type) + 1; /* untouched pages cost nothing */

	b->list = dt_xcalloc(1, sizeof(*b->list));
	b->list->offsets = dt_xmalloc((cap / STRIDE + 1) * sizeof(*b->list->offsets));
	b->list->tags = dt_xmalloc(cap * sizeof(*b->list->tags));
	b->nodes = dt_xcalloc(cap, sizeof(dt_type *));
}

/* Part k of PARTS ends here. Each is as large as all before. */
static uint32_t end_of_part(const struct dt_btf *b, uint32_t k)
{
	return b->types_len >> (DT_BTF_PARTS - 1 - k);
}

/* ---- access ---- */

uint32_t dt_btf_count(const struct dt_btf *b)
{
	walk(b, b->types_len);
	return b->list->n;
}

/* Is there a record i? */
static bool reaches(const struct dt_btf *b, uint32_t i)
{
	for (uint32_t k = 0; k < DT_BTF_PARTS && i >= b->list->n; k++)
		walk(b, end_of_part(b, k));
	return i < b->list->n;
}

/* Record i, which has been reached. */
static const struct btf_type *record(const struct dt_btf *b, uint32_t i)
{
	const char *p = b->types + b->list->offsets[i / STRIDE];

	for (uint32_t k = i % STRIDE; k > 0; k--)
		p += record_size((const void *)p);
	return (const void *)p;
}

const struct btf_type *dt_btf_at(const struct dt_btf *b, uint32_t id)
{
	if (id < b->first_id && b->base != NULL)
		b = b->base;
	return id >= b->first_id && reaches(b, id - b->first_id) ? record(b, id - b->first_id)
								 : NULL;
}

const struct btf_type *dt_btf_next(const struct btf_type *t)
{
	return (const void *)((const char *)t + record_size(t));
}

/* The number of the type whose record is at this offset; UINT32_MAX: there is none. */
static uint32_t type_at(const struct dt_btf *b, uint32_t offset)
{
	const struct dt_btf_list *l = b->list;
	uint32_t lo = 0, hi, at, i;

	walk(b, offset + 1);
	hi = (l->n + STRIDE - 1) / STRIDE;
	while (lo < hi) { /* the first that is noted after it */
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->offsets[mid] <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return UINT32_MAX;
	i = (lo - 1) * STRIDE;
	for (at = l->offsets[lo - 1]; at < offset && i < l->n; i++)
		at += record_size((const void *)(b->types + at));
	return at == offset && i < l->n ? i : UINT32_MAX;
}

const char *dt_btf_string(const struct dt_btf *b, uint32_t offset)
{
	if (offset < b->first_string && b->base != NULL)
		b = b->base;
	if (offset < b->first_string || offset - b->first_string >= b->strings_len)
		return "";
	return b->strings + (offset - b->first_string);
}

const char *dt_btf_next_string(const struct dt_btf *b, uint32_t *at, const char *prefix)
{
	size_t n = strlen(prefix);
	const char *p = NULL;

	while (*at < b->strings_len && (p = memmem(b->strings + *at, b->strings_len - *at, prefix, n))) {
		*at = (uint32_t)(p - b->strings) + 1;
		if (p > b->strings && p[-1] == '\0')
			break;
	}
	return *at < b->strings_len ? p : NULL;
}

/* ---- the name index ---- */

void dt_btf_index_init(struct dt_btf_index *x, uint32_t names, uint32_t n)
{
	uint32_t size = 16;

	while (size < names && size < 1u << 31)
		size *= 2;
	x->heads = dt_xcalloc(size, sizeof(*x->heads));
	x->next = dt_xcalloc(n, sizeof(*x->next)); /* untouched pages cost nothing */
	x->mask = size - 1;
}

void dt_btf_index_add(struct dt_btf_index *x, uint32_t i, const char *name)
{
	uint32_t *head = &x->heads[(uint32_t)dt_hash_bytes(name, strlen(name)) & x->mask];

	x->next[i] = *head;
	*head = i + 1;
}

void dt_btf_index_free(struct dt_btf_index *x)
{
	free(x->heads);
	free(x->next);
}

static bool is_wanted(const struct btf_type *t, uint32_t kinds)
{
	uint32_t kind = dt_btf_kind(t);

	if ((kinds & DT_BTF_KIND(kind)) == 0)
		return false;
	return (kind != BTF_KIND_ENUM && kind != BTF_KIND_ENUM64) || dt_btf_vlen(t) != 0;
}

static void index_part(struct dt_btf *b, uint32_t part)
{
	struct dt_btf_part *p = &b->parts[part];
	const struct dt_btf_list *l = b->list;
	uint32_t end = end_of_part(b, part);

	walk(b, end);
	p->first = p->end = part ? b->parts[part - 1].end : 0;
	while (p->end < l->ntags && l->tags[p->end] < end)
		p->end++;
	dt_btf_index_init(&p->names, p->end - p->first, p->end - p->first);
	for (uint32_t i = p->end - p->first; i-- > 0;) {
		const struct btf_type *t = (const void *)(b->types + l->tags[p->first + i]);

		if (t->name_off != 0)
			dt_btf_index_add(&p->names, i, dt_btf_string(b, t->name_off));
	}
}

/* A structure, union or enum. */
static uint32_t find_tag(struct dt_btf *b, const char *name, uint32_t kinds)
{
	for (struct dt_btf_part *p = b->parts; p < b->parts + DT_BTF_PARTS; p++) {
		if (!p->names.heads)
			index_part(b, (uint32_t)(p - b->parts));
		for (uint32_t i = dt_btf_index_first(&p->names, name); i != 0;
		     i = p->names.next[i - 1]) {
			uint32_t at = b->list->tags[p->first + i - 1];
			const struct btf_type *t = (const void *)(b->types + at);

			if (is_wanted(t, kinds) && strcmp(dt_btf_string(b, t->name_off), name) == 0)
				return b->first_id + type_at(b, at);
		}
	}
	return 0;
}

static void index_names(struct dt_btf *b, uint32_t group)
{
	struct dt_btf_index *x = &b->names[group];
	uint32_t n = dt_btf_count(b);

	dt_btf_index_init(x, n / 2, n);
	/* From the last to the first; but a record is found from those before it. */
	for (uint32_t stride = (n + STRIDE - 1) / STRIDE; stride-- > 0;) {
		uint32_t first = stride * STRIDE, many = n - first < STRIDE ? n - first : STRIDE;
		const struct btf_type *t[STRIDE] = {record(b, first)};

		for (uint32_t k = 1; k < many; k++)
			t[k] = dt_btf_next(t[k - 1]);
		for (uint32_t k = many; k-- > 0;)
			if ((groups[group] & DT_BTF_KIND(dt_btf_kind(t[k]))) != 0 && t[k]->name_off != 0)
				dt_btf_index_add(x, first + k, dt_btf_string(b, t[k]->name_off));
	}
}

static uint32_t find_in_index(const struct dt_btf *b, uint32_t group, const char *name,
			      uint32_t kinds)
{
	const struct dt_btf_index *x = &b->names[group];

	for (uint32_t i = dt_btf_index_first(x, name); i != 0; i = x->next[i - 1]) {
		const struct btf_type *t = record(b, i - 1);

		if (is_wanted(t, kinds) && strcmp(dt_btf_string(b, t->name_off), name) == 0)
			return b->first_id + i - 1;
	}
	return 0;
}

#define PLACES                                                                                     \
	16 /* occurrences of a name in the strings: usually once, and at the end of longer ones */

#define AT_ONCE 64 /* characters that are compared together */

/*
 * memmem(), in a third of its time: three characters of the text are looked for in many places together, which the compiler
 * makes vector instructions of.
 */
static const char *find_text(const char *p, const char *end, const char *text, size_t n)
{
	size_t last = n - 1 - (text[n - 1] == '\0'), middle = last / 2;
	char a = text[0], b = text[middle], z = text[last];

	for (; (size_t)(end - p) >= AT_ONCE + n; p += AT_ONCE) {
		const char *q;
		char any = 0;

		for (size_t i = 0; i < AT_ONCE; i++)
			any |= (char)((p[i] == a) & (p[i + middle] == b) & (p[i + last] == z));
		if (any && (q = memmem(p, AT_ONCE + n - 1, text, n)))
			return q;
	}
	return memmem(p, (size_t)(end - p), text, n);
}

/* Every place of the name among our strings; PLACES: there may be more. */
static uint32_t find_string(const struct dt_btf *b, const char *name, uint32_t *places)
{
	const char *p = b->strings, *end = b->strings + b->strings_len;
	size_t size = strlen(name) + 1;
	uint32_t n = 0;

	while (n < PLACES && (p = find_text(p, end, name, size)))
		places[n++] = b->first_string + (uint32_t)(p++ - b->strings);
	return n;
}

/* The first type of that name. A record begins with its name, so the number is searched for among all
 * words, many at a time. */
static uint32_t find_named(const struct dt_btf *b, uint32_t name_off, uint32_t kinds)
{
	const wchar_t *p = (const void *)b->types, *end = p + b->types_len / sizeof(*p);

	_Static_assert(sizeof(*p) == sizeof(name_off), "words of BTF");
	while ((p = wmemchr(p, (wchar_t)name_off, (size_t)(end - p)))) {
		uint32_t at = (uint32_t)((const char *)p - b->types), i;

		if (is_wanted((const void *)p, kinds) && (i = type_at(b, at)) != UINT32_MAX)
			return b->first_id + i;
		p++;
	}
	return 0;
}

/*
 * Without the index: find the text, then compare numbers. This takes a tenth of the time to hash
 * all names, so it is worthwhile for a few look-ups. A module's names can be among its base's
 * strings: those are left to the index.
 */
static bool find_directly(const struct dt_btf *b, const char *name, uint32_t kinds, uint32_t *id)
{
	uint32_t places[PLACES], n = find_string(b, name, places);

	if (b->base || n == PLACES)
		return false;
	*id = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t found = find_named(b, places[k], kinds);

		if (found && (*id == 0 || found < *id))
			*id = found;
	}
	return true;
}

/* After this many look-ups an index is cheaper. */
static const uint32_t direct_lookups[DT_BTF_GROUPS] = {[1] = 6, [2] = 2};

uint32_t dt_btf_find(struct dt_btf *b, const char *name, uint32_t kinds)
{
	uint32_t group = 0, id;

	while (group < DT_BTF_GROUPS - 1 && (groups[group] & kinds) == 0)
		group++;
	if (group == 0)
		return find_tag(b, name, kinds);
	if (!b->names[group].heads && b->lookups[group]++ < direct_lookups[group] && name[0] &&
	    find_directly(b, name, kinds, &id))
		return id;
	if (!b->names[group].heads)
		index_names(b, group);
	return find_in_index(b, group, name, kinds);
}

/* ---- opening ---- */

struct dt_btf *dt_btf_open(dt_types *ts, const char *path, const char *module, struct dt_btf *base,
			   char **problem)
{
	struct dt_btf *b = dt_xcalloc(1, sizeof(*b));
	const char *why;

	b->ts = ts;
	b->module = dt_arena_strdup(ts->arena, module);
	b->base = base;
	b->first_id = base != NULL ? base->first_id + dt_btf_count(base) : 1;
	b->first_string = base != NULL ? base->first_string + base->strings_len : 0;
	why = load_file(b, path);
	if (why == NULL)
		why = check_header(b);
	if (why == NULL)
		make_list(b);
	if (why == NULL && !b->mapped) /* the kernel's own is walked as far as needed */
		why = walk(b, b->types_len);
	if (why != NULL) {
		if (problem != NULL)
			*problem = dt_xasprintf("%s: %s", path, why);
		dt_btf_close(b);
		return NULL;
	}
	return b;
}

void dt_btf_close(struct dt_btf *b)
{
	if (b == NULL)
		return;
	if (b->mapped)
		munmap((void *)b->data, b->len);
	else
		free((void *)b->data);
	if (b->list != NULL) {
		free(b->list->offsets);
		free(b->list->tags);
		free(b->list);
	}
	for (uint32_t i = 0; i < DT_BTF_PARTS; i++)
		dt_btf_index_free(&b->parts[i].names);
	for (uint32_t i = 0; i < DT_BTF_GROUPS; i++)
		dt_btf_index_free(&b->names[i]);
	dt_btf_index_free(&b->enum_names);
	free(b->nodes);
	free(b->enumerators);
	free(b);
}

dt_types *dt_btf_types(const struct dt_btf *b)
{
	return b->ts;
}
