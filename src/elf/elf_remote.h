/*
 * elf_remote: an object whose file is read by a helper (jail/jail.h). Private to src/elf, its tests and its fuzzer.
 *
 * The tracer has the descriptor; the helper gets a copy of it with each request and keeps nothing.
 * There are requests for the headers (when the object is opened), the symbols, the bytes of a
 * section, the notes of static probes, and the two forms of .eh_frame. The answers are kept in the
 * object, so that look-ups are the same as for a file that the tracer reads itself.
 */
#ifndef DT_ELF_ELF_REMOTE_H
#define DT_ELF_ELF_REMOTE_H

#include "elf/cfi.h"
#include "elf/elf_object.h"
#include "elf/sdt_notes.h"
#include "jail/message.h"

struct dt_elf_head { /* a section */
	char *name;
	GElf_Shdr sh;
	dt_buf data; /* its bytes */
	bool asked;  /* for these */
};

struct dt_elf_remote {
	dt_jail *jail;
	bool own_jail;
	DT_VEC(struct dt_elf_head) sections;
	dt_buf symbols; /* names are in it */
	DT_VEC(dt_buf) names; /* of functions at some addresses */
	dt_buf probes;	/* so are the texts of these: */
	DT_VEC(dt_sdt) notes;
	dt_buf ranges; /* pairs of vaddrs */
	bool probes_asked, ranges_asked;
};

/* ---- elf_ask.c ---- */
int dt_elf_ask_headers(dt_elf *e, const struct dt_elf_place *place, dt_error *err);
void dt_elf_ask_symbols(dt_elf *e);
void dt_elf_ask_names(dt_elf *e, const uint64_t *vaddrs, uint32_t n, const char **names);
bool dt_elf_ask(dt_elf *e, dt_jail_work *work, struct dt_question *q, dt_buf *answer); /* false: no answer */
void dt_elf_ask_probes(dt_elf *e);
void dt_elf_ask_unwind(dt_elf *e, dt_unwind *u);
const uint64_t *dt_elf_ask_ranges(dt_elf *e, uint32_t *n);
/* Also its bytes, if it has any. */
bool dt_elf_ask_section(dt_elf *e, const char *name, struct dt_elf_section *s);
const GElf_Shdr *dt_elf_remote_section(const dt_elf *e, const char *name); /* NULL: none */
void dt_elf_remote_shrink(dt_elf *e); /* forget what belongs to the file; symbols stay */
void dt_elf_remote_free(dt_elf *e);

/* The answers. False: invalid. What is kept of an answer is moved out of it. */
bool dt_elf_take_headers(dt_elf *e, const dt_buf *answer, dt_error *err); /* true with *err: refused by the helper */
bool dt_elf_take_symbols(dt_elf *e, dt_buf *answer);
bool dt_elf_take_names(dt_elf *e, dt_buf *answer, uint32_t n, const char **names);
bool dt_elf_take_probes(dt_elf *e, dt_buf *answer);
bool dt_elf_take_ranges(dt_elf *e, dt_buf *answer);
bool dt_elf_take_unwind(dt_buf *answer, dt_unwind *u);

/* ---- elf_serve.c: in the helper ---- */
dt_jail_work dt_elf_serve_headers, dt_elf_serve_symbols, dt_elf_serve_names, dt_elf_serve_section, dt_elf_serve_probes,
    dt_elf_serve_unwind, dt_elf_serve_ranges;

/* How a symbol is sent: without its name, which is among the names that follow all of them. */
struct dt_elf_wire_symbol {
	uint64_t vaddr, size;
	uint32_t name;
	uint16_t length;
	uint8_t type;
	uint8_t flags; /* STB_* and the bits below */
};
#define DT_WIRE_BIND	0x0f
#define DT_WIRE_ALIAS	0x10
#define DT_WIRE_PLT	0x20
#define DT_WIRE_UNSIZED 0x40

#endif
