/*
 * action_data: the actions that record a value, memory, a stack or an address.
 *
 * enum dt_payload (dif/actions.h) describes the record. The expression of the symbol actions gives
 * only the address.
 */
#include "lang/action.h"

#define FRAMES_MAX (1 << 20)
#define MEMORY_MAX (1 << 30)

/* ---- trace, print ---- */
struct value_tags {
	enum dt_tag is_agg, is_dyn, is_void;
};

static dt_node *recorded_value(dt_compiler *cc, dt_node *call, const struct value_tags *tags)
{
	dt_node *n;

	if (call->args->kind == N_AGG)
		dt_fail(cc, call->args->pos, tags->is_agg,
			"%s( ) cannot record an aggregation: use printa(@%s)", call->name,
			call->args->name);
	n = dt_xlate_object(dt_arg(call, 0));
	if (dt_type_is_dyn(n->type))
		dt_fail(cc, n->pos, tags->is_dyn,
			"%s( ) cannot record a pointer to a translated object: record the object "
			"(*p) or "
			"one of its members",
			call->name);
	if (dt_type_is_void(n->type) ||
	    (dt_type_size(cc->types, n->type) == 0 && n->type != dt_intrinsics(cc->types)->stack))
		dt_fail(cc, n->pos, tags->is_void, "%s( ) cannot record a value of type %s",
			call->name, dt_what(cc, n));
	return n;
}

void dt_act_trace(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	static const struct value_tags tags = {D_TRACE_AGG, D_TRACE_DYN, D_TRACE_VOID};
	dt_node *n = recorded_value(cc, call, &tags);

	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	dt_action_value(cc, b, d->kind, n);
}

void dt_act_print(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	static const struct value_tags tags = {D_PRINT_AGG, D_PRINT_DYN, D_PRINT_VOID};
	dt_node *n = recorded_value(cc, call, &tags);

	dt_stmt_add(cc, b, call, d->stmt, d->kind)->type = n->type;
	dt_action_value(cc, b, d->kind, n);
}

/* ---- memory ---- */
static dt_node *memory_address(dt_compiler *cc, dt_node *call, uint32_t i, enum dt_tag tag)
{
	dt_node *n = dt_arg(call, i);

	if (!dt_is_number(n->type) && !dt_type_is_array(n->type))
		dt_fail(cc, n->pos, tag, "%s must be a pointer or an integer, not %s",
			dt_arg_name(cc, call, i), dt_tname(cc, n->type));
	return n;
}

static uint32_t memory_size(dt_compiler *cc, dt_node *call, uint32_t i, enum dt_tag tag)
{
	dt_node *n = dt_arg(call, i);
	int64_t v = 0;

	if (!dt_node_is_const_int(n, &v) || v <= 0 || v > MEMORY_MAX)
		dt_fail(cc, n->pos, tag, "%s must be a positive integer constant",
			dt_arg_name(cc, call, i));
	return (uint32_t)v;
}

void dt_act_tracemem(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		     const struct dt_action_desc *d)
{
	dt_node *addr, *dynamic = NULL;
	uint32_t size;
	dt_action *a;

	dt_check_args_count(cc, call, 2, 3, D_TRACEMEM_ARGS);
	addr = memory_address(cc, call, 0, D_TRACEMEM_ADDR);
	size = memory_size(cc, call, 1, D_TRACEMEM_SIZE);
	if (dt_arg(call, 2)) {
		dynamic = dt_arg(call, 2);
		if (!dt_type_is_integer(dynamic->type))
			dt_fail(cc, dynamic->pos, D_TRACEMEM_DYNSIZE,
				"%s must be an integer, not %s", dt_arg_name(cc, call, 2),
				dt_tname(cc, dynamic->type));
		dynamic = dt_coerce(cc, dynamic, dt_intrinsics(cc->types)->uint64);
	}
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	a = dt_action_value(cc, b, d->kind,
			    dt_coerce(cc, addr, dt_intrinsics(cc->types)->void_ptr));
	a->arg = size;
	a->given = (uint32_t)call->ival;
	a->size = (uint32_t)dt_datum_size(a, &a->align);
	if (dynamic)
		dt_action_value(cc, b, DT_ACT_TRACEMEM_DYNSIZE, dynamic);
}

void dt_act_printm(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		   const struct dt_action_desc *d)
{
	dt_node *ref;
	uint32_t size;
	dt_action *a;

	size = memory_size(cc, call, 0, D_PRINTM_SIZE);
	ref = memory_address(cc, call, 1, D_PRINTM_ADDR);
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	a = dt_action_value(cc, b, d->kind, dt_coerce(cc, ref, dt_intrinsics(cc->types)->void_ptr));
	a->arg = size;
	a->given = (uint32_t)call->ival;
	a->size = (uint32_t)dt_datum_size(a, &a->align);
}

/* The packet, then its link type. */
void dt_act_pcap(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		 const struct dt_action_desc *d)
{
	const struct dt_intrinsics *in = dt_intrinsics(cc->types);
	dt_action *a;

	if (dt_type_is_string(dt_arg(call, 0)->type)) /* elsewhere a void * may be a string */
		dt_fail(cc, call->pos, D_PROTO_ARG, "%s is a string, not the address of a packet",
			dt_arg_name(cc, call, 0));
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	a = dt_action_value(cc, b, d->kind, dt_arg_integer(cc, call, 0, in->void_ptr));
	a->arg = dt_align_up(dt_opt(cc->opts, DT_O_PCAPSIZE), 8);
	a->given = (uint32_t)call->ival;
	a->size = (uint32_t)dt_datum_size(a, &a->align);
	dt_action_value(cc, b, DT_ACT_DIFEXPR, dt_arg_integer(cc, call, 1, in->int_));
}

/* ---- stacks and symbols, as statements and as keys ---- */
static uint64_t stack_number(dt_compiler *cc, dt_node *call, uint32_t i, int64_t min,
			     enum dt_tag tag, const char *what)
{
	dt_node *n = dt_arg(call, i);
	int64_t v = 0;

	if (!dt_node_is_const_int(n, &v) || v < min || v > FRAMES_MAX)
		dt_fail(cc, n->pos, tag, "%s (%s) must be an integer constant from %d to %d",
			dt_arg_name(cc, call, i), what, (int)min, FRAMES_MAX);
	return (uint64_t)v;
}

static uint64_t bounded(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static void fill_stack(dt_compiler *cc, dt_node *call, enum dt_act kind, dt_action *out)
{
	bool user = dt_act(kind)->payload == DT_PAYLOAD_USTACK, java = kind == DT_ACT_JSTACK, text = kind == DT_ACT_IMMSTACK;
	uint64_t frames = dt_opt(cc->opts, java	  ? DT_O_JSTACKFRAMES
					   : text ? DT_O_IMMSTACKFRAMES
					   : user ? DT_O_USTACKFRAMES
						  : DT_O_STACKFRAMES);
	uint64_t strsize = java ? dt_opt(cc->opts, DT_O_JSTACKSTRSIZE) : text ? dt_opt(cc->opts, DT_O_IMMSTACKSTRSIZE) : 0;
	uint64_t most = dt_opt(cc->opts, DT_O_MAXFRAMES);

	dt_check_args_count(cc, call, 0, user || text ? 2 : 1, user ? D_USTACK_PROTO : D_STACK_PROTO);
	if (dt_arg(call, 0))
		frames = stack_number(cc, call, 0, 1, user ? D_USTACK_FRAMES : D_STACK_SIZE,
				      "the number of frames");
	if (dt_arg(call, 1))
		strsize = stack_number(cc, call, 1, 0, D_USTACK_STRSIZE, "the string size");
	if (most == 0 || most > FRAMES_MAX)
		most = FRAMES_MAX;
	frames = bounded(frames, 0, text && most > DT_IMMSTACK_FRAMES ? DT_IMMSTACK_FRAMES : most);
	strsize = text ? bounded(dt_align_up(strsize, 8), 8, DT_IMMSTACK_STRSIZE) : bounded(strsize, 0, FRAMES_MAX);
	out->arg = frames | strsize << 32;
}

static void fill_sym(dt_compiler *cc, dt_node *call, dt_action *out)
{
	out->difo =
	    dt_gen_expr(cc, dt_arg_integer(cc, call, 0, dt_intrinsics(cc->types)->uint64), true);
}

void dt_action_fill_key(dt_compiler *cc, dt_node *call, const struct dt_action_desc *d,
			dt_action *out)
{
	out->kind = d->kind;
	out->given = (uint32_t)call->ival;
	if (dt_act_is_stack(d->kind))
		fill_stack(cc, call, d->kind, out);
	else
		fill_sym(cc, call, out);
	out->size = (uint32_t)dt_datum_size(out, &out->align);
}

void dt_act_stack(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		  const struct dt_action_desc *d)
{
	dt_action a = {0};

	dt_action_fill_key(cc, call, d, &a);
	dt_stmt_add(cc, b, call, d->stmt, d->kind);
	*dt_action_add(cc, b, d->kind) = a;
}

void dt_act_sym(dt_compiler *cc, dt_clause_builder *b, dt_node *call,
		const struct dt_action_desc *d)
{
	dt_act_stack(cc, b, call, d);
}
