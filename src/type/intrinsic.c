/*
 * intrinsic: the types every D program has without declaring them: C's base types, the usual
 * typedefs, and D's own (string and the types of addresses and stacks).
 *
 * The data model is LP64. char is signed, whatever the kernel was compiled with. D's own types that
 * a program cannot name (<DYN>, stack) are not entered by name, so that `stack` remains a function.
 */
#include "type/store.h"

static const struct {
	const char *name;
	enum dt_kind kind;
	uint8_t size;
	bool is_signed, is_char, is_bool;
} bases[B_COUNT] = {
    [B_VOID] = {"void", DT_K_INTEGER, 0, false, false, false},
    [B_BOOL] = {"_Bool", DT_K_INTEGER, 1, false, false, true},
    [B_CHAR] = {"char", DT_K_INTEGER, 1, true, true, false},
    [B_SCHAR] = {"signed char", DT_K_INTEGER, 1, true, true, false},
    [B_UCHAR] = {"unsigned char", DT_K_INTEGER, 1, false, true, false},
    [B_SHORT] = {"short", DT_K_INTEGER, 2, true, false, false},
    [B_USHORT] = {"unsigned short", DT_K_INTEGER, 2, false, false, false},
    [B_INT] = {"int", DT_K_INTEGER, 4, true, false, false},
    [B_UINT] = {"unsigned int", DT_K_INTEGER, 4, false, false, false},
    [B_LONG] = {"long", DT_K_INTEGER, 8, true, false, false},
    [B_ULONG] = {"unsigned long", DT_K_INTEGER, 8, false, false, false},
    [B_LLONG] = {"long long", DT_K_INTEGER, 8, true, false, false},
    [B_ULLONG] = {"unsigned long long", DT_K_INTEGER, 8, false, false, false},
    [B_FLOAT] = {"float", DT_K_FLOAT, 4, true, false, false},
    [B_DOUBLE] = {"double", DT_K_FLOAT, 8, true, false, false},
    [B_LDOUBLE] = {"long double", DT_K_FLOAT, 16, true, false, false},
};

static const struct {
	const char *name;
	enum dt_base base;
} typedefs[] = {
    {"int8_t", B_SCHAR},	{"int16_t", B_SHORT},	 {"int32_t", B_INT},
    {"int64_t", B_LONG},	{"uint8_t", B_UCHAR},	 {"uint16_t", B_USHORT},
    {"uint32_t", B_UINT},	{"uint64_t", B_ULONG},	 {"intptr_t", B_LONG},
    {"uintptr_t", B_ULONG},	{"size_t", B_ULONG},	 {"ssize_t", B_LONG},
    {"ptrdiff_t", B_LONG},	{"uchar_t", B_UCHAR},	 {"ushort_t", B_USHORT},
    {"uint_t", B_UINT},		{"ulong_t", B_ULONG},	 {"longlong_t", B_LLONG},
    {"u_longlong_t", B_ULLONG}, {"id_t", B_INT},	 {"pid_t", B_INT},
    {"uid_t", B_UINT},		{"gid_t", B_UINT},	 {"dev_t", B_UINT},
    {"ipaddr_t", B_UINT},	{"major_t", B_UINT},	 {"minor_t", B_UINT},
    {"zoneid_t", B_INT},	{"hrtime_t", B_LLONG},	 {"time_t", B_LONG},
    {"in_addr_t", B_UINT},	{"in_port_t", B_USHORT}, {"u_char", B_UCHAR},
    {"u_short", B_USHORT},	{"u_int", B_UINT},	 {"u_long", B_ULONG},
    {"quad_t", B_LONG},		{"u_quad_t", B_ULONG},	 {"lwpid_t", B_INT},
    {"daddr_t", B_LONG},
};

static void make_typedef(dt_types *ts, const char *name, dt_type *ref)
{
	dt_type *t = dt_type_node(ts, DT_K_TYPEDEF, name);

	t->ref = ref;
	t->size = ref->size;
	t->align = ref->align;
	dt_map_set(ts->intrinsic_names, name, t);
}

static dt_type *make_special(dt_types *ts, const char *name, enum dt_special special, uint64_t size,
			     uint32_t align)
{
	dt_type *t = dt_type_node(ts, DT_K_UNKNOWN, name);

	t->special = special;
	t->size = size;
	t->align = align;
	return t;
}

static void fill_roles(dt_types *ts)
{
	struct dt_intrinsics *in = &ts->in;

	in->void_ = ts->base[B_VOID];
	in->char_ = ts->base[B_CHAR];
	in->int_ = ts->base[B_INT];
	in->uint = ts->base[B_UINT];
	in->long_ = ts->base[B_LONG];
	in->ulong = ts->base[B_ULONG];
	in->llong = ts->base[B_LLONG];
	in->ullong = ts->base[B_ULLONG];
	in->void_ptr = dt_type_pointer(ts, in->void_);
	in->char_ptr = dt_type_pointer(ts, in->char_);
	in->func_ptr = dt_type_pointer(ts, dt_type_function(ts, in->void_, NULL, 0, true));
	in->int64 = dt_map_get(ts->intrinsic_names, "int64_t");
	in->uint64 = dt_map_get(ts->intrinsic_names, "uint64_t");
	in->uint32 = dt_map_get(ts->intrinsic_names, "uint32_t");
	in->uint16 = dt_map_get(ts->intrinsic_names, "uint16_t");
	in->uint8 = dt_map_get(ts->intrinsic_names, "uint8_t");
	in->size = dt_map_get(ts->intrinsic_names, "size_t");
	in->ssize = dt_map_get(ts->intrinsic_names, "ssize_t");
	in->uintptr = dt_map_get(ts->intrinsic_names, "uintptr_t");
	in->ptrdiff = dt_map_get(ts->intrinsic_names, "ptrdiff_t");
	in->pid = dt_map_get(ts->intrinsic_names, "pid_t");
	in->id = dt_map_get(ts->intrinsic_names, "id_t");
}

void dt_intrinsics_make(dt_types *ts)
{
	struct dt_intrinsics *in = &ts->in;

	for (int i = 0; i < B_COUNT; i++) {
		dt_type *t = dt_type_node(ts, bases[i].kind, bases[i].name);

		t->size = bases[i].size;
		t->align = bases[i].size ? bases[i].size : 1;
		t->is_signed = bases[i].is_signed;
		t->is_char = bases[i].is_char;
		t->is_bool = bases[i].is_bool;
		ts->base[i] = t;
	}
	for (size_t i = 0; i < DT_NELEM(typedefs); i++)
		make_typedef(ts, typedefs[i].name, ts->base[typedefs[i].base]);
	make_typedef(ts, "caddr_t", dt_type_pointer(ts, ts->base[B_CHAR]));

	ts->broken = make_special(ts, "unknown", DT_S_NONE, 0, 1);
	in->string = make_special(ts, "string", DT_S_STRING, 256, 1);
	in->dyn = make_special(ts, "<DYN>", DT_S_DYN, 0, 1);
	in->stack = make_special(ts, "stack", DT_S_STACK, 0, 8);
	in->symaddr = make_special(ts, "_symaddr", DT_S_SYMADDR, 8, 8);
	in->usymaddr = make_special(ts, "_usymaddr", DT_S_USYMADDR, 16, 8);
	dt_map_set(ts->intrinsic_names, "string", in->string);
	dt_map_set(ts->intrinsic_names, "_symaddr", in->symaddr);
	dt_map_set(ts->intrinsic_names, "_usymaddr", in->usymaddr);
	fill_roles(ts);
}

/* ---- spellings ---- */

/* The words a base type is spelled with; each adds to its counter in any order. */
enum word { W_SIGNED, W_UNSIGNED, W_SHORT, W_LONG, W_INT, W_CHAR, W_OTHER, W_COUNT };
static const struct {
	const char *text;
	enum word word;
	enum dt_base base; /* W_OTHER */
} words[] = {
    {"signed", W_SIGNED, 0},	   {"unsigned", W_UNSIGNED, 0}, {"short", W_SHORT, 0},
    {"long", W_LONG, 0},	   {"int", W_INT, 0},		{"char", W_CHAR, 0},
    {"void", W_OTHER, B_VOID},	   {"_Bool", W_OTHER, B_BOOL},	{"float", W_OTHER, B_FLOAT},
    {"double", W_OTHER, B_DOUBLE},
};

/* What the counted words spell; B_COUNT if nothing. */
static enum dt_base spelled(const int n[W_COUNT], enum dt_base other)
{
	bool sign = n[W_SIGNED] != 0, unsign = n[W_UNSIGNED] != 0;

	if (n[W_SIGNED] + n[W_UNSIGNED] > 1 || n[W_INT] > 1 || n[W_CHAR] > 1 || n[W_SHORT] > 1 ||
	    n[W_OTHER] > 1 || n[W_LONG] > 2 || (n[W_SHORT] && n[W_LONG]))
		return B_COUNT;
	if (n[W_OTHER]) {
		if (sign || unsign || n[W_INT] || n[W_CHAR] || n[W_SHORT])
			return B_COUNT;
		if (n[W_LONG] == 0)
			return other;
		return other == B_DOUBLE && n[W_LONG] == 1 ? B_LDOUBLE : B_COUNT;
	}
	if (n[W_CHAR]) {
		if (n[W_INT] || n[W_SHORT] || n[W_LONG])
			return B_COUNT;
		return unsign ? B_UCHAR : sign ? B_SCHAR : B_CHAR;
	}
	if (n[W_SHORT])
		return unsign ? B_USHORT : B_SHORT;
	if (n[W_LONG] == 2)
		return unsign ? B_ULLONG : B_LLONG;
	if (n[W_LONG] == 1)
		return unsign ? B_ULONG : B_LONG;
	if (sign || unsign || n[W_INT])
		return unsign ? B_UINT : B_INT;
	return B_COUNT;
}

dt_type *dt_base_by_spelling(const dt_types *ts, const char *s)
{
	enum dt_base other = B_COUNT, b;
	int n[W_COUNT] = {0};

	for (;;) {
		size_t i, len;

		s += strspn(s, " ");
		if (*s == '\0')
			break;
		len = strcspn(s, " ");
		for (i = 0; i < DT_NELEM(words); i++)
			if (strlen(words[i].text) == len && memcmp(words[i].text, s, len) == 0)
				break;
		if (i == DT_NELEM(words) || n[words[i].word]++ > 1)
			return NULL;
		if (words[i].word == W_OTHER)
			other = words[i].base;
		s += len;
	}
	b = spelled(n, other);
	return b == B_COUNT ? NULL : ts->base[b];
}
