/*
 * ctf: the .ctf section of an ELF file (`gcc -gctf`), version 3 of the format.
 *
 * The section holds one dictionary, or an archive of them: a shared one and, for types that differ
 * between source files, one more for each of these whose types refer to the shared ones. A
 * dictionary may be compressed. It is checked once when it is opened: every section is inside it,
 * every type record with its data is inside the section of types. References to types and strings
 * are checked where they are followed.
 *
 * Functions and variables also have types, but only those in the dynamic symbol table: a program
 * linked with -rdynamic, a shared library.
 */
#include <elf.h>
#include <stdlib.h>
#include <zlib.h>

#include "type/ctf.h"

#define MAX_RATIO 1032 /* zlib cannot exceed this ratio */
#define MAX_BODY  ((uint64_t)1 << 30)
#define MAX_DICTS 65536

static struct ctf_reader *reader(struct dt_user_reader *r)
{
	return (struct ctf_reader *)r;
}

/* ---- reading checked data ---- */

const char *dt_ctf_string(const struct ctf_dict *d, uint32_t ref)
{
	uint32_t offset = CTF_NAME_OFFSET(ref);

	if (CTF_NAME_STID(ref) == CTF_STRTAB_1)
		return offset < d->outer_len ? d->outer + offset : "";
	return offset < d->strings_len ? d->strings + offset : "";
}

const ctf_stype_t *dt_ctf_at(struct ctf_dict *d, uint32_t id, struct ctf_dict **in)
{
	if (d->parent != NULL && id < CTF_CHILD)
		d = d->parent;
	*in = d;
	id &= ~CTF_CHILD;
	return id == 0 || id > d->n ? NULL : (const void *)(d->body + d->offsets[id - 1]);
}

static bool is_long(const ctf_stype_t *t)
{
	return t->ctt_size == CTF_LSIZE_SENT;
}

const void *dt_ctf_behind(const ctf_stype_t *t)
{
	return (const char *)t + (is_long(t) ? sizeof(ctf_type_t) : sizeof(ctf_stype_t));
}

uint64_t dt_ctf_size(const ctf_stype_t *t)
{
	return is_long(t) ? CTF_TYPE_LSIZE((const ctf_type_t *)t) : t->ctt_size;
}

/* ---- checking a dictionary ---- */

/* Bytes of data after a record; -1: no such kind. */
static int64_t data_size(const ctf_stype_t *t)
{
	int64_t n = CTF_V2_INFO_VLEN(t->ctt_info);

	switch (CTF_V2_INFO_KIND(t->ctt_info)) {
	case CTF_K_INTEGER:
	case CTF_K_FLOAT: return sizeof(uint32_t);
	case CTF_K_SLICE: return sizeof(ctf_slice_t);
	case CTF_K_ARRAY: return sizeof(ctf_array_t);
	case CTF_K_FUNCTION: return (n + (n & 1)) * (int64_t)sizeof(uint32_t);
	case CTF_K_ENUM: return n * (int64_t)sizeof(ctf_enum_t);
	case CTF_K_STRUCT:
	case CTF_K_UNION:
		return n * (int64_t)(dt_ctf_size(t) < CTF_LSTRUCT_THRESH ? sizeof(ctf_member_t)
									 : sizeof(ctf_lmember_t));
	case CTF_K_UNKNOWN:
	case CTF_K_POINTER:
	case CTF_K_FORWARD:
	case CTF_K_TYPEDEF:
	case CTF_K_VOLATILE:
	case CTF_K_CONST:
	case CTF_K_RESTRICT: return 0;
	default: return -1;
	}
}

/* Where each type begins. Called twice: to count, and to record. False: the records are invalid. */
static bool walk_types(struct ctf_dict *d, uint32_t from, uint32_t to, bool note)
{
	uint32_t n = 0;

	for (uint64_t at = from; at < to; n++) {
		const ctf_stype_t *t = (const void *)(d->body + at);
		int64_t data;

		if (to - at < sizeof(ctf_stype_t) || (is_long(t) && to - at < sizeof(ctf_type_t)))
			return false;
		data = data_size(t);
		if (note)
			d->offsets[n] = (uint32_t)at;
		at += (uint64_t)((const char *)dt_ctf_behind(t) - (const char *)t);
		if (data < 0 || (uint64_t)data > to - at)
			return false;
		at += (uint64_t)data;
	}
	d->n = n;
	return true;
}

static void index_names(struct ctf_dict *d)
{
	dt_btf_index_init(&d->names, d->n, d->n);
	for (uint32_t i = d->n; i-- > 0;) {
		const ctf_stype_t *t = (const void *)(d->body + d->offsets[i]);

		if (t->ctt_name != 0)
			dt_btf_index_add(&d->names, i, dt_ctf_string(d, t->ctt_name));
	}
}

static struct ctf_symbols symbols_at(const struct ctf_dict *d, uint32_t from, uint32_t to,
				     uint32_t names, uint32_t names_end)
{
	return (struct ctf_symbols){.ids = (const void *)(d->body + from),
				    .n = (to - from) / 4,
				    .names = names_end - names == to - from && names != names_end
						 ? (const void *)(d->body + names)
						 : NULL};
}

/* The string table for strings outside the dictionary. */
static void find_outer(struct ctf_dict *d)
{
	struct dt_elf_section s;

	if (dt_elf_section(d->reader->elf, d->dynamic ? ".dynstr" : ".strtab", &s) &&
	    s.data != NULL && s.data_size != 0 && ((const char *)s.data)[s.data_size - 1] == '\0') {
		d->outer = s.data;
		d->outer_len = s.data_size;
	}
}

/* The sections of a body of `size` bytes; NULL, or what is wrong. */
static const char *check_body(struct ctf_dict *d, const ctf_header_t *h, uint64_t size)
{
	const uint32_t at[] = {h->cth_lbloff,	  h->cth_objtoff, h->cth_funcoff, h->cth_objtidxoff,
			       h->cth_funcidxoff, h->cth_varoff,  h->cth_typeoff, h->cth_stroff};

	for (size_t i = 0; i < DT_NELEM(at); i++)
		if ((i > 0 && at[i] < at[i - 1]) || at[i] > size ||
		    (at[i] % 4 != 0 && at[i] != h->cth_stroff))
			return "its sections overlap";
	if (h->cth_strlen > size - h->cth_stroff)
		return "its strings are cut off";
	d->strings = (const char *)d->body + h->cth_stroff;
	d->strings_len = h->cth_strlen;
	if (d->strings_len != 0 && d->strings[d->strings_len - 1] != '\0')
		return "its strings are cut off";
	if (!walk_types(d, h->cth_typeoff, h->cth_stroff, false))
		return "its types are malformed";
	d->offsets = dt_xcalloc(d->n, sizeof(*d->offsets));
	walk_types(d, h->cth_typeoff, h->cth_stroff, true);
	d->nodes = dt_xcalloc(d->n, sizeof(*d->nodes));
	d->objects =
	    symbols_at(d, h->cth_objtoff, h->cth_funcoff, h->cth_objtidxoff, h->cth_funcidxoff);
	d->functions =
	    symbols_at(d, h->cth_funcoff, h->cth_objtidxoff, h->cth_funcidxoff, h->cth_varoff);
	find_outer(d);
	index_names(d);
	return NULL;
}

static const char *open_dict(struct ctf_dict *d, const uint8_t *data, uint64_t size)
{
	uint64_t body;
	ctf_header_t h;
	uLongf got;

	if (size < sizeof(h))
		return "it is cut off";
	memcpy(&h, data, sizeof(h));
	if (h.cth_magic != CTF_MAGIC)
		return "it is not CTF";
	if (h.cth_version != CTF_VERSION_3)
		return "it is not version 3";
	data += sizeof(h);
	size -= sizeof(h);
	body = (uint64_t)h.cth_stroff + h.cth_strlen;
	if (!(h.cth_flags & CTF_F_COMPRESS) ? body > size
					    : body > size * MAX_RATIO + 64 || body > MAX_BODY)
		return "it is cut off";
	d->dynamic = h.cth_flags & CTF_F_DYNSTR;
	d->body = dt_xcalloc(1, body + 8);
	got = body;
	if (!(h.cth_flags & CTF_F_COMPRESS))
		memcpy(d->body, data, body);
	else if (uncompress(d->body, &got, data, size) != Z_OK || got != body)
		return "it cannot be decompressed";
	return check_body(d, &h, body);
}

/* ---- archives ---- */

/* Everything in an archive is little-endian, and so are we. */
static const char *open_archive(struct ctf_reader *c, const uint8_t *data, uint64_t size)
{
	const struct ctf_archive_modent *entries;
	struct ctf_archive a;
	const char *problem = NULL;

	if (size < sizeof(a))
		return "it is cut off";
	memcpy(&a, data, sizeof(a));
	if (a.ctfa_ndicts == 0 || a.ctfa_ndicts > MAX_DICTS || a.ctfa_ctfs > size ||
	    a.ctfa_names > size || a.ctfa_ndicts * sizeof(*entries) > size - sizeof(a))
		return "its table of contents is malformed";
	c->dicts = dt_xcalloc(a.ctfa_ndicts, sizeof(*c->dicts));
	for (uint64_t i = 0; i < a.ctfa_ndicts && problem == NULL; i++) {
		struct ctf_archive_modent e;
		struct ctf_dict *d = &c->dicts[c->ndicts++];
		uint64_t n;

		memcpy(&e, data + sizeof(a) + i * sizeof(e), sizeof(e));
		if (e.ctf_offset > size - a.ctfa_ctfs ||
		    size - a.ctfa_ctfs - e.ctf_offset < sizeof(n))
			return "its table of contents is malformed";
		memcpy(&n, data + a.ctfa_ctfs + e.ctf_offset, sizeof(n));
		if (n > size - a.ctfa_ctfs - e.ctf_offset - sizeof(n))
			return "it is cut off";
		d->reader = c;
		d->parent = i > 0 ? &c->dicts[0] : NULL; /* sorted by name: ".ctf", then paths */
		problem = open_dict(d, data + a.ctfa_ctfs + e.ctf_offset + sizeof(n), n);
	}
	return problem;
}

/* ---- look-ups ---- */

static dt_type *find_in(struct ctf_dict *d, const char *name, uint64_t kinds)
{
	if (d->n == 0)
		return NULL;
	for (uint32_t i = dt_btf_index_first(&d->names, name); i != 0; i = d->names.next[i - 1]) {
		const ctf_stype_t *t = (const void *)(d->body + d->offsets[i - 1]);
		dt_type *node;

		if ((kinds >> CTF_V2_INFO_KIND(t->ctt_info) & 1) == 0 ||
		    strcmp(dt_ctf_string(d, t->ctt_name), name) != 0)
			continue;
		node = dt_ctf_node(d, d->parent != NULL ? i | CTF_CHILD : i);
		if (node != d->reader->r.object->ts->broken)
			return node;
	}
	return NULL;
}

#define BIT(k) ((uint64_t)1 << (k))
static const uint64_t kinds_of[] = {
    [DT_NS_ORDINARY] = BIT(CTF_K_TYPEDEF) | BIT(CTF_K_INTEGER) | BIT(CTF_K_FLOAT),
    [DT_NS_STRUCT] = BIT(CTF_K_STRUCT),
    [DT_NS_UNION] = BIT(CTF_K_UNION),
    [DT_NS_ENUM] = BIT(CTF_K_ENUM),
};

static dt_type *lookup(struct dt_user_reader *r, enum dt_namespace ns, const char *name)
{
	struct ctf_reader *c = reader(r);
	dt_type *t = NULL;

	for (uint32_t i = 0; t == NULL && i < c->ndicts; i++)
		t = find_in(&c->dicts[i], name, kinds_of[ns]);
	return t;
}

/* Where source files differ about a tag, the linker leaves a forward declaration in the shared
 * dictionary: which of the definitions it meant is lost. */
static dt_type *definition(struct dt_user_reader *r, dt_type *f)
{
	struct ctf_reader *c = reader(r);
	dt_type *found = NULL, *t;

	for (uint32_t i = 0; i < c->ndicts; i++) {
		t = find_in(&c->dicts[i], f->name,
			    kinds_of[f->tag_is_union ? DT_NS_UNION : DT_NS_STRUCT]);
		if (t != NULL && found != NULL)
			return NULL;
		found = t != NULL ? t : found;
	}
	return found;
}

/* *it: dictionary in the upper half, type in the lower one. */
static const char *next_name(struct dt_user_reader *r, enum dt_namespace ns, uint32_t *it)
{
	struct ctf_reader *c = reader(r);
	uint32_t seen = 0;

	for (uint32_t k = 0; k < c->ndicts; seen += c->dicts[k++].n) {
		struct ctf_dict *d = &c->dicts[k];

		while (*it >= seen && *it - seen < d->n) {
			const ctf_stype_t *t = (const void *)(d->body + d->offsets[(*it)++ - seen]);

			if (t->ctt_name != 0 && kinds_of[ns] >> CTF_V2_INFO_KIND(t->ctt_info) & 1)
				return dt_ctf_string(d, t->ctt_name);
		}
	}
	return NULL;
}

/* ---- symbols ---- */

static bool is_typed_symbol(const Elf64_Sym *s, const char *name, uint32_t type)
{
	if (ELF64_ST_TYPE(s->st_info) != type || s->st_shndx == SHN_UNDEF || *name == '\0' ||
	    strcmp(name, "_START_") == 0 || strcmp(name, "_END_") == 0)
		return false;
	return type != STT_OBJECT || s->st_shndx != SHN_ABS || s->st_value != 0;
}

/* The entry of a symbol, if they are in the order of the symbol table. */
static bool nth_symbol(struct ctf_dict *d, const char *name, uint32_t type, uint32_t *nth)
{
	struct dt_elf_section table;
	uint32_t n = 0;

	if (d->outer == NULL ||
	    !dt_elf_section(d->reader->elf, d->dynamic ? ".dynsym" : ".symtab", &table) ||
	    table.data == NULL)
		return false;
	for (uint64_t i = 0; i < table.data_size / sizeof(Elf64_Sym); i++) {
		const char *s;
		Elf64_Sym sym;

		memcpy(&sym, (const char *)table.data + i * sizeof(sym), sizeof(sym));
		s = sym.st_name < d->outer_len ? d->outer + sym.st_name : "";
		if (!is_typed_symbol(&sym, s, type))
			continue;
		if (strcmp(s, name) == 0) {
			*nth = n;
			return true;
		}
		n++;
	}
	return false;
}

static uint32_t symbol_type(struct ctf_dict *d, const struct ctf_symbols *s, const char *name,
			    uint32_t type)
{
	uint32_t i = 0;

	if (s->names == NULL) {
		if (s->n == 0 || !nth_symbol(d, name, type, &i))
			return 0;
	} else {
		while (i < s->n && strcmp(dt_ctf_string(d, s->names[i]), name) != 0)
			i++;
	}
	return i < s->n ? s->ids[i] : 0;
}

static dt_type *variable(struct dt_user_reader *r, const char *name)
{
	struct ctf_reader *c = reader(r);

	for (uint32_t i = 0; i < c->ndicts; i++) {
		struct ctf_dict *d = &c->dicts[i];
		uint32_t id = symbol_type(d, &d->objects, name, STT_OBJECT);

		if (id != 0)
			return dt_ctf_node(d, id);
	}
	return NULL;
}

static bool function(struct dt_user_reader *r, const char *symbol, uint64_t address,
		     struct dt_user_function *f)
{
	struct ctf_reader *c = reader(r);
	dt_type *t = NULL;

	(void)address;
	for (uint32_t i = 0; t == NULL && i < c->ndicts; i++) {
		struct ctf_dict *d = &c->dicts[i];
		uint32_t id = symbol_type(d, &d->functions, symbol, STT_FUNC);

		if (id != 0)
			t = dt_ctf_node(d, id);
	}
	if (t == NULL || t->kind != DT_K_FUNCTION)
		return false;
	f->ret = t->ref;
	f->params = t->params;
	f->nparams = t->nparams;
	return true;
}

/* ---- the reader ---- */

static const char *damage(struct dt_user_reader *r)
{
	(void)r;
	return NULL; /* damaged ones are not opened */
}

static void close_ctf(struct dt_user_reader *r)
{
	struct ctf_reader *c = reader(r);

	for (uint32_t i = 0; i < c->ndicts; i++) {
		struct ctf_dict *d = &c->dicts[i];

		free(d->body);
		free(d->offsets);
		free(d->nodes);
		dt_btf_index_free(&d->names);
	}
	free(c->dicts);
	free(c);
}

static const struct dt_user_reader_ops ops = {
    .lookup = lookup,
    .variable = variable,
    .function = function,
    .complete = dt_ctf_complete,
    .definition = definition,
    .name = next_name,
    .damage = damage,
    .close = close_ctf,
};

struct dt_user_reader *dt_ctf_open(struct dt_user_object *o, char **problem)
{
	struct dt_elf_section s;
	struct ctf_reader *c;
	const char *why;
	dt_elf *e = o->elf;
	uint64_t magic = 0;

	if (!dt_elf_section(e, ".ctf", &s) &&
	    ((e = dt_elf_debug(e)) == NULL || !dt_elf_section(e, ".ctf", &s)))
		return NULL;
	if (s.data == NULL || s.data_size == 0)
		return NULL;
	c = dt_xcalloc(1, sizeof(*c));
	c->r = (struct dt_user_reader){&ops, o};
	c->elf = e;
	if (s.data_size >= sizeof(magic))
		memcpy(&magic, s.data, sizeof(magic));
	if (magic == CTFA_MAGIC) {
		why = open_archive(c, s.data, s.data_size);
	} else {
		c->dicts = dt_xcalloc(1, sizeof(*c->dicts));
		c->dicts[0].reader = c;
		c->ndicts = 1;
		why = open_dict(&c->dicts[0], s.data, s.data_size);
	}
	if (why == NULL)
		return &c->r;
	*problem = dt_xasprintf("the CTF of %s is damaged: %s", o->name, why);
	close_ctf(&c->r);
	return NULL;
}
