/*
 * user_remote: types of a program whose DWARF or CTF is read by a helper (jail/jail.h). Private to the module, its tests and
 * its fuzzer.
 *
 * The helper has the readers (dwarf.c, ctf.c) and its own store; the tracer has a reader without a
 * file (user_ask.c), which sends requests. Each object has its own helper, because it must remember
 * what it has read. Types are sent as nodes, each once, after those that it refers to; both sides
 * number them in the same order. A struct is sent without its members, which are requested when
 * they are needed.
 *
 * Every answer has: whether the helper is still the one with these numbers (else it was replaced,
 * and they are invalid); damage found so far; the new nodes; then the result.
 */
#ifndef DT_TYPE_USER_REMOTE_H
#define DT_TYPE_USER_REMOTE_H

#include "jail/message.h"
#include "type/user_store.h"

enum dt_types_question {
	DT_ASK_OPEN,	   /* has it a debug file? -> number of readers, the problem if there is none, whether .dwo files are needed */
	DT_ASK_LOOKUP,	   /* namespace, name -> node or 0 */
	DT_ASK_VARIABLE,   /* name -> node or 0 */
	DT_ASK_FUNCTION,   /* symbol, address -> struct dt_user_function */
	DT_ASK_COMPLETE,   /* node -> members */
	DT_ASK_DEFINITION, /* node -> node or 0 */
	DT_ASK_NAMES,	   /* namespace -> names */
};

/* The kinds of nodes: those of enum dt_kind, and two more. */
#define DT_NODE_INTRINSIC 100 /* of every store, by name */
#define DT_NODE_BROKEN	  101

/* ---- user_serve.c: in the helper. The files of DT_ASK_OPEN: the object, its debug file, what dwz took out of them ---- */
dt_jail_work dt_user_serve;

/* ---- user_ask.c ---- */
/* The reader of an object whose file a helper reads. NULL when it has no type data; then *problem (heap) if it has, but damaged.
 * *split: a part of it is in .dwo files, which most helpers cannot open. */
struct dt_user_reader *dt_remote_open(struct dt_user_object *o, bool *split, char **problem);
/* For tests and the fuzzer: one without a helper, and the answer to a look-up. */
struct dt_user_reader *dt_remote_new(struct dt_user_object *o);
bool dt_remote_take_type(struct dt_user_reader *r, const dt_buf *answer, dt_type **t);
bool dt_remote_take_members(struct dt_user_reader *r, const dt_buf *answer, dt_type *t);
bool dt_remote_take_function(struct dt_user_reader *r, const dt_buf *answer, struct dt_user_function *f, bool *found);

#endif
