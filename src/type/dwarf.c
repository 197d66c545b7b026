/*
 * dwarf: from names and addresses to the DIEs that describe them.
 *
 * Few programs have an index of their types (.debug_names, .gdb_index, .debug_pubtypes), and none
 * is complete, so names are found by reading the units of the file in order, and of each only its
 * top-level DIEs and those in namespaces; the contents of types and functions are skipped. Reading
 * stops at the unit that has the name; the names found so far are kept, and the next look-up
 * continues from there. Only if no unit has it are nested types read as well (languages other than
 * C have them). doc/processes.md has figures.
 *
 * Functions are found by address: the ranges of the units tell which one contains it, and the
 * functions of that unit are listed once.
 *
 * The file is mapped (by libdw), so a large one costs only the pages that are used. A file of
 * another user is read instead, within the budget: its owner could truncate it while it is mapped,
 * and the signal would kill us. Nor are other debug files that such a file names opened.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "type/dwarf.h"

#define NAMESPACE_DEPTH 64

static struct dwarf_reader *reader(struct dt_user_reader *r)
{
	return (struct dwarf_reader *)r;
}

static void damaged(struct dwarf_reader *d)
{
	const char *why = dwarf_errmsg(-1);

	if (d->damage == NULL)
		d->damage = dt_xasprintf("the DWARF of %s is damaged: %s", d->r.object->name,
					 why != NULL ? why : "it is malformed");
}

/* ---- the table of names ---- */

static void grow_table(struct dwarf_reader *d)
{
	uint32_t size = d->heads != NULL ? (d->mask + 1) * 2 : 1024;

	if (d->heads != NULL && d->names.n <= d->mask)
		return;
	free(d->heads);
	d->heads = dt_xcalloc(size, sizeof(*d->heads));
	d->mask = size - 1;
	for (uint32_t i = d->names.n; i-- > 0;) { /* the first added comes first in its chain */
		struct dwarf_name *n = &d->names.v[i];

		n->next = d->heads[n->hash & d->mask];
		d->heads[n->hash & d->mask] = i + 1;
	}
}

/* Blanks in the name of a template vary: "vector<int, std::allocator<int> >". */
static const char *skip_blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 0;

	if (strchr(name, '<') == NULL)
		return (uint32_t)dt_hash_bytes(name, strlen(name));
	for (name = skip_blanks(name); *name != '\0'; name = skip_blanks(name + 1))
		hash = hash * 31 + (unsigned char)*name;
	return hash;
}

/* Is it the same name? With `some`: or does it have more arguments, all of which have defaults? vector<int> also means the above. */
static bool same_name(const char *have, const char *want, bool some)
{
	have = skip_blanks(have);
	want = skip_blanks(want);
	while (*want != '\0' && *have == *want) {
		have = skip_blanks(have + 1);
		want = skip_blanks(want + 1);
	}
	return *want == '\0' ? *have == '\0'
			     : some && *want == '>' && want[1] == '\0' && *have == ',';
}

/* The scope of something declared in one place and defined in another, not determined yet. */
static const char elsewhere[] = "?";

static void add_name(struct dwarf_reader *d, const char *name, const char *scope, uint32_t where,
		     const Dwarf_Die *die)
{
	uint32_t hash = hash_name(name), *link;
	struct dwarf_name *n;

	grow_table(d);
	for (link = &d->heads[hash & d->mask]; *link != 0; link = &n->next) {
		n = &d->names.v[*link - 1];
		if (n->hash == hash && n->where == where && scope != elsewhere &&
		    strcmp(n->name, name) == 0 && strcmp(n->scope, scope) == 0)
			return;
	}
	*link = d->names.n + 1; /* before the vector moves */
	n = dt_vec_add(&d->names, NULL);
	*n = (struct dwarf_name){
	    .name = name, .scope = scope, .die = *die, .hash = hash, .where = where};
}

/* "a::b" for a DIE in struct b of namespace a. libdw has to search the unit for the parents of a
 * DIE. */
static const char *scope_of(struct dwarf_reader *d, Dwarf_Die *die)
{
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(die, &scopes);
	const char *scope;
	dt_buf b = {0};

	while (n-- > 1) { /* the unit comes last, the DIE itself first */
		int tag = dwarf_tag(&scopes[n]);
		const char *name = NULL;

		if (tag == DW_TAG_namespace || tag == DW_TAG_module ||
		    tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		    tag == DW_TAG_union_type)
			name = dwarf_diename(&scopes[n]);
		if (name != NULL)
			dt_buf_printf(&b, "%s%s", b.n != 0 ? "::" : "", name);
	}
	free(scopes);
	scope = b.n != 0 ? dt_arena_strdup(d->r.object->ts->arena, b.s) : "";
	dt_buf_free(&b);
	return scope;
}

static const char *scope_of_name(struct dwarf_reader *d, struct dwarf_name *n)
{
	Dwarf_Attribute a;
	Dwarf_Die declared;

	if (n->scope == elsewhere)
		n->scope = dwarf_attr(&n->die, DW_AT_specification, &a) != NULL &&
				   dwarf_formref_die(&a, &declared) != NULL
			       ? scope_of(d, &declared)
			       : "";
	return n->scope;
}

/* Is the qualification before a name its full scope, or the last parts of it? */
static bool scope_fits(struct dwarf_reader *d, struct dwarf_name *name, const char *wanted,
		       size_t len)
{
	const char *scope;
	size_t n;

	if (len == 0)
		return true;
	scope = scope_of_name(d, name);
	n = strlen(scope);
	while (len > 0 && n > 0) { /* from the end; without blanks */
		if (wanted[len - 1] == ' ')
			len--;
		else if (scope[n - 1] == ' ')
			n--;
		else if (wanted[--len] != scope[--n])
			return false;
	}
	return len == 0 && (n == 0 || scope[n - 1] == ':');
}

/* What follows the last "::" that is not between < and >. */
static const char *last_part(const char *name)
{
	const char *last = name;
	int depth = 0;

	for (const char *p = name; *p != '\0'; p++) {
		depth += (*p == '<') - (*p == '>');
		if (depth == 0 && p[0] == ':' && p[1] == ':')
			last = p + 2;
	}
	return last;
}

/* exact: the qualification is the full scope. */
static struct dwarf_name *known_name(struct dwarf_reader *d, uint32_t where, const char *name,
				     bool exact)
{
	const char *last = last_part(name);
	size_t scope_len = last == name ? 0 : (size_t)(last - name) - 2;
	uint32_t hash = hash_name(last);

	if (d->heads == NULL)
		return NULL;
	for (uint32_t i = d->heads[hash & d->mask]; i != 0; i = d->names.v[i - 1].next) {
		struct dwarf_name *n = &d->names.v[i - 1];

		if (n->hash == hash && (n->where & where) != 0 && same_name(n->name, last, false) &&
		    scope_fits(d, n, name, scope_len) &&
		    (!exact || strlen(scope_of_name(d, n)) == scope_len))
			return n;
	}
	return NULL;
}

/* ---- reading units ---- */

static bool is_c(int lang)
{
	return lang == DW_LANG_C || lang == DW_LANG_C89 || lang == DW_LANG_C99 ||
	       lang == DW_LANG_C11;
}

/* Which look-ups find this DIE; 0: none. Languages other than C do not need the word struct.
 */
static uint32_t where_of(Dwarf_Die *die, bool tags_are_types)
{
	uint32_t bit;

	switch (dwarf_tag(die)) {
	case DW_TAG_typedef:
	case DW_TAG_base_type:
	case DW_TAG_template_alias: return 1u << DT_NS_ORDINARY;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type: bit = DT_NS_STRUCT; break;
	case DW_TAG_union_type: bit = DT_NS_UNION; break;
	case DW_TAG_enumeration_type: bit = DT_NS_ENUM; break;
	case DW_TAG_variable:
		return dwarf_hasattr(die, DW_AT_declaration) ? 0 : 1u << DWARF_VARIABLE;
	default: return 0;
	}
	if (dwarf_hasattr(die, DW_AT_declaration))
		return 0;
	return 1u << bit | (tags_are_types ? 1u << DT_NS_ORDINARY : 0);
}

/* Is the name of this DIE a prefix of the names inside it? */
static bool is_scope(struct dwarf_reader *d, int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module: return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: return d->nested;
	default: return false;
	}
}

static void read_names(struct dwarf_reader *d, Dwarf_Die *parent, const char *scope, bool tags,
		       int depth)
{
	dt_arena *arena = d->r.object->ts->arena;
	struct dwarf_walk w;

	if (depth > NAMESPACE_DEPTH)
		return;
	for (dwarf_first(parent, &w); w.more; dwarf_next(&w)) {
		int tag = dwarf_tag(&w.die);
		uint32_t where = where_of(&w.die, tags);
		const char *name = NULL, *inner = scope;

		if (where != 0 || is_scope(d, tag))
			name = dwarf_diename(&w.die);
		if (where != 0 && name != NULL)
			add_name(d, name,
				 tags && dwarf_hasattr(&w.die, DW_AT_specification) ? elsewhere
										    : scope,
				 where, &w.die);
		if (!is_scope(d, tag))
			continue;
		if (name != NULL)
			inner = dt_arena_printf(arena, "%s%s%s", scope, *scope != '\0' ? "::" : "",
						name);
		read_names(d, &w.die, inner, tags, depth + 1);
	}
}

/* Read the names of one more unit; false when there is none left. */
static bool read_more_names(struct dwarf_reader *d)
{
	Dwarf_Die unit, split;
	uint8_t type;
	int rc;

	while (d->names_dw != NULL) {
		memset(&split, 0, sizeof(split));
		rc = dwarf_get_units(d->names_dw, d->names_cu, &d->names_cu, NULL, &type, &unit,
				     &split);
		if (rc == 0) {
			Dwarf_Die *die =
			    type == DW_UT_skeleton && split.addr != NULL ? &split : &unit;
			bool tags = !is_c(dwarf_srclang(die));

			d->has_classes |= tags;
			if (tags || !d->nested)
				read_names(d, die, "", tags, 0);
			return true;
		}
		if (rc < 0)
			damaged(d);
		/* The units that dwz has moved to a shared file; then nested classes. */
		d->names_cu = NULL;
		if (d->names_dw == d->dw && dwarf_getalt(d->dw) != NULL) {
			d->names_dw = dwarf_getalt(d->dw);
		} else {
			d->names_dw = d->nested || !d->has_classes ? NULL : d->dw;
			d->nested = true;
		}
	}
	return false;
}

/* A template by some of its arguments; all names have been read. */
static struct dwarf_name *shortened_name(struct dwarf_reader *d, uint32_t where, const char *name)
{
	const char *last = last_part(name);
	size_t scope_len = last == name ? 0 : (size_t)(last - name) - 2;

	for (uint32_t i = 0; strchr(last, '<') != NULL && i < d->names.n; i++) {
		struct dwarf_name *n = &d->names.v[i];

		if ((n->where & where) != 0 && same_name(n->name, last, true) &&
		    scope_fits(d, n, name, scope_len))
			return n;
	}
	return NULL;
}

static bool find_name(struct dwarf_reader *d, uint32_t where, const char *name, bool exact,
		      Dwarf_Die *die)
{
	struct dwarf_name *n;

	while ((n = known_name(d, where, name, exact)) == NULL)
		if (!read_more_names(d))
			break;
	if (n == NULL && !exact)
		n = shortened_name(d, where, name);
	if (n != NULL)
		*die = n->die;
	return n != NULL;
}

static dt_type *find_type(struct dwarf_reader *d, enum dt_namespace ns, const char *name,
			  bool exact)
{
	Dwarf_Die die;
	dt_type *t;

	if (!find_name(d, 1u << ns, name, exact, &die))
		return NULL;
	t = dt_dwarf_node(d, &die);
	return t != d->r.object->ts->broken ? t : NULL;
}

static dt_type *lookup(struct dt_user_reader *r, enum dt_namespace ns, const char *name)
{
	return find_type(reader(r), ns, name, false);
}

/* In C a name is enough. Elsewhere every class may have its own `Impl`: the scope must be the same.
 */
static dt_type *definition(struct dt_user_reader *r, dt_type *f)
{
	enum dt_namespace ns = f->tag_is_union ? DT_NS_UNION : DT_NS_STRUCT;
	Dwarf_Die die = *(const Dwarf_Die *)f->user_ref, unit;
	const char *scope;

	if (dwarf_diecu(&die, &unit, NULL, NULL) == NULL)
		return NULL;
	if (is_c(dwarf_srclang(&unit)))
		return find_type(reader(r), ns, f->name, false);
	scope = scope_of(reader(r), &die);
	return find_type(reader(r), ns,
			 dt_arena_printf(r->object->ts->arena, "%s%s%s", scope,
					 *scope != '\0' ? "::" : "", f->name),
			 true);
}

static dt_type *variable(struct dt_user_reader *r, const char *name)
{
	Dwarf_Die die;

	return find_name(reader(r), 1u << DWARF_VARIABLE, name, false, &die)
		   ? dt_dwarf_type_of(reader(r), &die)
		   : NULL;
}

static const char *next_name(struct dt_user_reader *r, enum dt_namespace ns, uint32_t *it)
{
	struct dwarf_reader *d = reader(r);

	while (*it < d->names.n) {
		const struct dwarf_name *n = &d->names.v[(*it)++];

		if (n->where & 1u << ns)
			return n->name;
	}
	return NULL;
}

/* ---- functions ---- */

static int by_low(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int by_address(const void *a, const void *b)
{
	const struct dwarf_function *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void list_units(struct dwarf_reader *d)
{
	Dwarf_Die unit, split;
	Dwarf_CU *cu = NULL;
	uint8_t type;
	int rc;

	d->units_listed = true;
	while (memset(&split, 0, sizeof(split)),
	       (rc = dwarf_get_units(d->dw, cu, &cu, NULL, &type, &unit, &split)) == 0) {
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&unit, at, &base, &low, &high)) > 0)
			if (low < high)
				*dt_vec_add(&d->ranges, NULL) =
				    (struct dwarf_range){low, high, d->units.n};
		*dt_vec_add(&d->units, NULL) = (struct dwarf_unit){
		    .die = type == DW_UT_skeleton && split.addr != NULL ? split : unit};
	}
	if (rc < 0)
		damaged(d);
	if (d->ranges.n != 0)
		qsort(d->ranges.v, d->ranges.n, sizeof(*d->ranges.v), by_low);
}

static bool entry_of(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Addr base, low, high;

	if (dwarf_entrypc(die, &low) != 0 && dwarf_ranges(die, 0, &base, &low, &high) <= 0)
		return false;
	*address = low;
	return true;
}

static void list_functions(struct dwarf_unit *u, Dwarf_Die *parent, bool in_types, int depth)
{
	struct dwarf_walk w;

	if (depth > NAMESPACE_DEPTH)
		return;
	for (dwarf_first(parent, &w); w.more; dwarf_next(&w)) {
		uint64_t address;

		switch (dwarf_tag(&w.die)) {
		case DW_TAG_subprogram:
			if (entry_of(&w.die, &address))
				*dt_vec_add(&u->functions, NULL) =
				    (struct dwarf_function){address, w.die};
			break;
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			if (!in_types)
				break;
			/* fall through */
		case DW_TAG_namespace:
		case DW_TAG_module: list_functions(u, &w.die, in_types, depth + 1); break;
		default: break;
		}
	}
}

static struct dwarf_function *function_in(struct dwarf_unit *u, uint64_t address)
{
	struct dwarf_function key = {.address = address};

	if (!u->indexed) {
		u->indexed = true;
		list_functions(u, &u->die, dwarf_srclang(&u->die) == DW_LANG_Rust, 0);
		if (u->functions.n != 0)
			qsort(u->functions.v, u->functions.n, sizeof(*u->functions.v), by_address);
	}
	if (u->functions.n == 0)
		return NULL;
	return bsearch(&key, u->functions.v, u->functions.n, sizeof(key), by_address);
}

/* Ranges of units do not overlap, except in damaged files; sections that the linker dropped start
 * at 0. */
static struct dwarf_function *find_function(struct dwarf_reader *d, uint64_t address)
{
	uint32_t low = 0, high;

	if (!d->units_listed)
		list_units(d);
	for (high = d->ranges.n; low < high;) {
		uint32_t mid = low + (high - low) / 2;

		if (d->ranges.v[mid].low <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (uint32_t tries = 0; low-- > 0 && tries < 4; tries++) {
		const struct dwarf_range *r = &d->ranges.v[low];
		struct dwarf_function *f;

		if (address < r->high && (f = function_in(&d->units.v[r->unit], address)) != NULL)
			return f;
	}
	return NULL;
}

static bool function(struct dt_user_reader *r, const char *symbol, uint64_t address,
		     struct dt_user_function *f)
{
	struct dwarf_function *found = find_function(reader(r), address);

	(void)symbol;
	if (found == NULL)
		return false;
	dt_dwarf_function(reader(r), &found->die, f);
	return true;
}

/* ---- the reader ---- */

static const char *damage(struct dt_user_reader *r)
{
	return reader(r)->damage;
}

static void close_dwarf(struct dt_user_reader *r)
{
	struct dwarf_reader *d = reader(r);

	for (uint32_t i = 0; i < d->units.n; i++)
		dt_vec_free(&d->units.v[i].functions);
	dt_vec_free(&d->units);
	dt_vec_free(&d->ranges);
	dt_vec_free(&d->names);
	free(d->heads);
	dt_map_free(d->nodes);
	dt_map_free(d->same);
	dwarf_end(d->dw);
	if (d->elf)
		elf_end(d->elf);
	free(d->damage);
	free(d);
}

static const struct dt_user_reader_ops ops = {
    .lookup = lookup,
    .variable = variable,
    .function = function,
    .complete = dt_dwarf_complete,
    .definition = definition,
    .name = next_name,
    .damage = damage,
    .close = close_dwarf,
};

bool dt_dwarf_is_foreign(const struct dt_user_object *o, int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || (st.st_uid != 0 && st.st_uid != o->ts->user_owner) ||
	       st.st_mode & S_IWOTH;
}

/* .gnu_debugaltlink: a path, relative to the file itself, and a build id. */
int dt_dwarf_open_alt(const struct dt_user_object *o)
{
	dt_elf *e = dt_elf_dwarf(o->elf);
	struct dt_elf_section s;
	const char *name, *slash;
	char *path;
	int fd;

	if (e == NULL || dt_elf_fd(e) < 0 || dt_dwarf_is_foreign(o, dt_elf_fd(e)) ||
	    !dt_elf_section(e, ".gnu_debugaltlink", &s) || s.data == NULL ||
	    memchr(s.data, 0, s.data_size) == NULL)
		return -1;
	name = s.data;
	slash = strrchr(dt_elf_path(e), '/');
	path = dt_xasprintf("%.*s%s",
			    *name != '/' && slash != NULL ? (int)(slash + 1 - dt_elf_path(e)) : 0,
			    dt_elf_path(e), name);
	fd = dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, NULL);
	free(path);
	return fd;
}

/* libdw reads all sections of debug information at once. NULL: reading them is allowed. */
static const char *why_not_read(Elf *elf, int fd)
{
	uint64_t sum = 0;
	size_t names;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return "it has no section names";
	if (!(scn = elf_getscn(elf, names)) || !gelf_getshdr(scn, &sh) || sh.sh_size > DT_MB(1))
		return "it has too many section names";
	for (scn = NULL; (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh);) {
		const char *name = elf_strptr(elf, names, sh.sh_name);

		if (name && strcmp(name, ".gnu_debugaltlink") == 0)
			return "it belongs to another user and needs another file";
		if (sh.sh_type == SHT_NOBITS || sh.sh_flags & SHF_ALLOC)
			continue;
		sum += sh.sh_size;
		if (sum > DT_MAX_ELF_DEBUG || sh.sh_flags & SHF_COMPRESSED ||
		    (sh.sh_size > DT_MAX_ELF_HOLE &&
		     dt_file_has_hole(fd, sh.sh_offset, sh.sh_size)))
			return "it belongs to another user and is too large, or compressed";
	}
	return NULL;
}

/* For a file of an untrusted owner. */
static Dwarf *open_foreign(int fd, Elf **elf, const char **why)
{
	Dwarf *dw;

	elf_version(EV_CURRENT);
	*elf = elf_begin(fd, ELF_C_READ, NULL);
	*why = *elf ? why_not_read(*elf, fd) : "it is not an ELF file";
	dw = *why ? NULL : dwarf_begin_elf(*elf, DWARF_C_READ, NULL);
	if (!dw && *elf) {
		elf_end(*elf);
		*elf = NULL;
	}
	return dw;
}

struct dt_user_reader *dt_dwarf_open(struct dt_user_object *o, char **problem)
{
	dt_elf *e = dt_elf_dwarf(o->elf);
	const char *why = NULL;
	struct dwarf_reader *d;
	Elf *elf = NULL;
	Dwarf *dw;

	if (e == NULL || dt_elf_fd(e) < 0)
		return NULL;
	dw = dt_dwarf_is_foreign(o, dt_elf_fd(e)) ? open_foreign(dt_elf_fd(e), &elf, &why)
						  : dwarf_begin(dt_elf_fd(e), DWARF_C_READ);
	if (dw == NULL) {
		why = why != NULL ? why : dwarf_errmsg(-1);
		*problem = dt_xasprintf("the DWARF of %s cannot be read: %s", o->name,
					why != NULL ? why : "it is malformed");
		return NULL;
	}
	d = dt_xcalloc(1, sizeof(*d));
	d->r = (struct dt_user_reader){&ops, o};
	d->dw = d->names_dw = dw;
	d->elf = elf;
	d->nodes = dt_map_new();
	d->same = dt_map_new();
	if (o->ts->user_alt >= 0)
		dwarf_setalt(
		    dw, dwarf_begin(o->ts->user_alt, DWARF_C_READ)); /* NULL: as if it had none */
	return &d->r;
}
