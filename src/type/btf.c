/*
 * btf: one BTF image: read it, check it, index it by name.
 *
 * Why not libbpf: measured on 6.18 (126,564 types, 5.5 MB), btf__parse() and its first look-up take
 * 8.1-8.6 ms and 13.1 MB of peak memory, most of it a copy of the file. Here the same takes 3.3-4.2
 * ms and 2.9 MB (bench/btf_lookup): newer kernels allow vmlinux in sysfs to be mapped, the pages
 * are the kernel's own and not counted as ours, and one pass finds the types. The names are hashed
 * only if more than a few are looked up: the first ones are found by search, in 0.3 ms each. Offsets
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
	if (b->base != NULL && b->base->partial)
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

/* Walk the type section: the offset of every record. This is most of the time that opening takes. */
static const char *find_types(struct dt_btf *b, uint32_t len)
{
	uint32_t cap = len / sizeof(struct btf_type); /* at most; untouched pages cost nothing */
	uint32_t at = 0, n = 0, ntags = 0;
	uint32_t *offsets = dt_xmalloc(((size_t)cap + 1) * sizeof(*offsets));
	uint32_t *tags = dt_xmalloc(((size_t)cap + 1) * sizeof(*tags));

	b->offsets = offsets;
	b->tags = tags;
	while (at < len) {
		const struct btf_type *t = (const void *)(b->types + at);
		uint32_t size;

		if (len - at < sizeof(*t))
			return "BTF types are cut off";
		size = sizes[dt_btf_kind(t)].fixed + dt_btf_vlen(t) * sizes[dt_btf_kind(t)].each;
		if (size == 0) {
			b->partial = true;
			break;
		}
		if (size > len - at)
			return "BTF types are cut off";
		tags[ntags] = n;
		ntags += groups[0] >> dt_btf_kind(t) & 1;
		offsets[n++] = at;
		at += size;
	}
	b->n = n;
	b->ntags = ntags;
	if (b->first_id + (uint64_t)n > UINT32_MAX)
		return "BTF has too many types";
	return NULL;
}

/* ---- access ---- */

const struct btf_type *dt_btf_at(const struct dt_btf *b, uint32_t id)
{
	if (id < b->first_id && b->base != NULL)
		b = b->base;
	if (id < b->first_id || id - b->first_id >= b->n)
		return NULL;
	return (const void *)(b->types + b->offsets[id - b->first_id]);
}

const char *dt_btf_string(const struct dt_btf *b, uint32_t offset)
{
	if (offset < b->first_string && b->base != NULL)
		b = b->base;
	if (offset < b->first_string || offset - b->first_string >= b->strings_len)
		return "";
	return b->strings + (offset - b->first_string);
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

static void index_names(struct dt_btf *b, uint32_t group)
{
	struct dt_btf_index *x = &b->names[group];

	dt_btf_index_init(x, group ? b->n / 2 : b->ntags, b->n);
	for (uint32_t k = group ? b->n : b->ntags; k-- > 0;) {
		uint32_t i = group ? k : b->tags[k];
		const struct btf_type *t = (const void *)(b->types + b->offsets[i]);

		if ((groups[group] & DT_BTF_KIND(dt_btf_kind(t))) != 0 && t->name_off != 0)
			dt_btf_index_add(x, i, dt_btf_string(b, t->name_off));
	}
}

static bool is_wanted(const struct btf_type *t, uint32_t kinds)
{
	uint32_t kind = dt_btf_kind(t);

	if ((kinds & DT_BTF_KIND(kind)) == 0)
		return false;
	return (kind != BTF_KIND_ENUM && kind != BTF_KIND_ENUM64) || dt_btf_vlen(t) != 0;
}

static uint32_t find_in_index(const struct dt_btf *b, uint32_t group, const char *name,
			      uint32_t kinds)
{
	const struct dt_btf_index *x = &b->names[group];

	for (uint32_t i = dt_btf_index_first(x, name); i != 0; i = x->next[i - 1]) {
		const struct btf_type *t = (const void *)(b->types + b->offsets[i - 1]);

		if (is_wanted(t, kinds) && strcmp(dt_btf_string(b, t->name_off), name) == 0)
			return b->first_id + i - 1;
	}
	return 0;
}

#define PLACES                                                                                     \
	16 /* occurrences of a name in the strings: usually once, and at the end of longer ones */

/* Every place of the name among our strings; PLACES: there may be more. */
static uint32_t find_string(const struct dt_btf *b, const char *name, uint32_t *places)
{
	const char *p = b->strings, *end = b->strings + b->strings_len;
	size_t size = strlen(name) + 1;
	uint32_t n = 0;

	while (n < PLACES && (p = memmem(p, (size_t)(end - p), name, size)))
		places[n++] = b->first_string + (uint32_t)(p++ - b->strings);
	return n;
}

/* The number of the type whose record is at this offset; b->n: there is none. */
static uint32_t type_at(const struct dt_btf *b, uint32_t offset)
{
	uint32_t lo = 0, hi = b->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->offsets[mid] == offset)
			return mid;
		if (b->offsets[mid] < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return b->n;
}

/* The first type of that name. A record begins with its name, so the number is searched for among all
 * words, many at a time. */
static uint32_t find_named(const struct dt_btf *b, uint32_t name_off, uint32_t kinds)
{
	const wchar_t *p = (const void *)b->types, *end = p + b->types_len / sizeof(*p);

	_Static_assert(sizeof(*p) == sizeof(name_off), "words of BTF");
	while ((p = wmemchr(p, (wchar_t)name_off, (size_t)(end - p)))) {
		uint32_t at = (uint32_t)((const char *)p - b->types), i = type_at(b, at);

		if (i < b->n && is_wanted((const void *)p, kinds))
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
static const uint32_t direct_lookups[DT_BTF_GROUPS] = {0, 6, 2};

uint32_t dt_btf_find(struct dt_btf *b, const char *name, uint32_t kinds)
{
	uint32_t group = 0, id;

	while (group < DT_BTF_GROUPS - 1 && (groups[group] & kinds) == 0)
		group++;
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
	b->first_id = base != NULL ? base->first_id + base->n : 1;
	b->first_string = base != NULL ? base->first_string + base->strings_len : 0;
	why = load_file(b, path);
	if (why == NULL)
		why = check_header(b);
	if (why == NULL)
		why = find_types(b, b->types_len);
	if (why != NULL) {
		if (problem != NULL)
			*problem = dt_xasprintf("%s: %s", path, why);
		dt_btf_close(b);
		return NULL;
	}
	b->nodes = dt_xcalloc(b->n, sizeof(dt_type *));
	return b;
}

/* ---- one structure, without a list of all types ---- */

/* Could this be the record of a structure? In front of it is unknown territory. */
static bool is_struct(const struct dt_btf *b, const struct btf_type *t)
{
	size_t left = b->types_len - (size_t)((const char *)t - b->types);
	const struct btf_member *m = (const void *)(t + 1);

	if (left < sizeof(*t) || dt_btf_kind(t) != BTF_KIND_STRUCT || dt_btf_vlen(t) == 0 ||
	    left - sizeof(*t) < dt_btf_vlen(t) * sizeof(*m))
		return false;
	for (uint32_t i = 0; i < dt_btf_vlen(t); i++) {
		uint32_t bits =
		    BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;

		if (bits / 8 > t->size || m[i].name_off >= b->strings_len)
			return false;
	}
	return true;
}

static const struct btf_type *find_struct(const struct dt_btf *b, const char *name)
{
	const wchar_t *p = (const void *)b->types, *end = p + b->types_len / sizeof(*p);
	const char *s = b->strings, *last = s + b->strings_len;
	size_t size = strlen(name) + 1;

	while ((s = memmem(s, (size_t)(last - s), name, size)) && s[-1] != '\0')
		s++; /* the end of a longer name; the first string is empty */
	while (s && (p = wmemchr(p, (wchar_t)(s - b->strings), (size_t)(end - p)))) {
		if (is_struct(b, (const void *)p))
			return (const void *)p;
		p++;
	}
	return NULL;
}

#define GLANCES 2 /* after this many structures the list of types is cheaper */

struct dt_btf *dt_btf_glance(const char *path)
{
	struct dt_btf *b = dt_xcalloc(1, sizeof(*b));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size <= FILE_MAX_SIZE) {
		b->len = (size_t)st.st_size;
		map_file(b, fd);
	}
	if (fd >= 0)
		close(fd);
	if (b->mapped && check_header(b) == NULL)
		return b;
	dt_btf_close(b);
	return NULL;
}

bool dt_btf_glance_offset(struct dt_btf *b, const char *type, const char *member, uint32_t *offset)
{
	bool same = b->seen_name && strcmp(b->seen_name, type) == 0;
	const struct btf_type *t = same ? b->seen : NULL;
	const struct btf_member *m;

	if (!same && b->lookups[0]++ < GLANCES)
		t = find_struct(b, type);
	if (t == NULL)
		return false;
	b->seen = t;
	b->seen_name = dt_btf_string(b, t->name_off);
	m = (const void *)(t + 1);
	for (uint32_t i = 0; i < dt_btf_vlen(t); i++)
		if (strcmp(dt_btf_string(b, m[i].name_off), member) == 0) {
			*offset = (BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset)
							   : m[i].offset) /
				  8;
			return true;
		}
	return false;
}

void dt_btf_close(struct dt_btf *b)
{
	if (b == NULL)
		return;
	if (b->mapped)
		munmap((void *)b->data, b->len);
	else
		free((void *)b->data);
	free(b->offsets);
	free(b->tags);
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
