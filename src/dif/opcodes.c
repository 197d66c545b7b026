/*
 * opcodes: the tables of DIF as data.
 *
 * The .def files list opcodes, built-in variables and subroutines once. Here they become arrays
 * that the compiler, the printer, the verifier and the engines index. Nothing else in the project
 * lists an opcode's operands or a subroutine's number.
 */
#include "dif/dif.h"

const struct dt_op_desc dt_op_table[256] = {
#define DT_OPCODE(num, name, text, format) [num] = {text, DT_F_##format},
#include "dif/opcodes.def"
#undef DT_OPCODE
};

/* Whatever reads or writes memory, allocates it, divides, or calls. Variables: a value that is a string or a structure is
 * copied from memory, and so are keys. */
bool dt_op_can_fault(enum dt_op op)
{
	switch (dt_op_table[op].format) {
	case DT_F_LOAD:
	case DT_F_STORE:
	case DT_F_STV:
	case DT_F_LDA:
	case DT_F_STA:
	case DT_F_CALL:
	case DT_F_PUSHTV:
	case DT_F_PUSHTR:
	case DT_F_XL: return true;
	default: break;
	}
	switch (op) {
	case DT_OP_SDIV:
	case DT_OP_UDIV:
	case DT_OP_SREM:
	case DT_OP_UREM:
	case DT_OP_SCMP:
	case DT_OP_LDGAA:
	case DT_OP_LDTAA:
	case DT_OP_ALLOCS:
	case DT_OP_COPYS: return true;
	default: return false;
	}
}

enum { NEEDS_ANY = false, NEEDS_KERNEL = true };

/* Both tables are in order of id, so that binary search works. */
const struct dt_builtin_var_desc dt_builtin_vars[] = {
#define DT_BUILTIN_VAR(sym, num, name, type, ver, name_stab, data_stab, cls, engine, help)         \
	{                                                                                          \
	    name,                                                                                  \
	    type,                                                                                  \
	    num,                                                                                   \
	    ver,                                                                                   \
	    {DT_STAB_##name_stab, DT_STAB_##data_stab, DT_CLASS_##cls},                            \
	    NEEDS_##engine,                                                                        \
	    help},
#include "dif/builtins.def"
#undef DT_BUILTIN_VAR
};
const size_t dt_nbuiltin_vars = DT_NELEM(dt_builtin_vars);

const struct dt_subr_desc dt_subrs[] = {
#define DT_SIG(name, proto)		       name, proto
#define DT_SUBR(sym, num, sig, ver, cls, help) {sig, num, ver, help},
#include "dif/builtins.def"
#undef DT_SUBR
#undef DT_SIG
};
const size_t dt_nsubrs = DT_NELEM(dt_subrs);

const struct dt_builtin_var_desc *dt_builtin_var_find(uint32_t id)
{
	size_t lo = 0, hi = dt_nbuiltin_vars;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (dt_builtin_vars[mid].id == id)
			return &dt_builtin_vars[mid];
		if (dt_builtin_vars[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct dt_subr_desc *dt_subr_find(uint32_t id)
{
	size_t lo = 0, hi = dt_nsubrs;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (dt_subrs[mid].id == id)
			return &dt_subrs[mid];
		if (dt_subrs[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
