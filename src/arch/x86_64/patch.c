/*
 * patch for x86-64: a jump has five bytes, its target is at most 2 GB away.
 */
#include <Zydis/Zydis.h>

#include "arch/patch.h"
#include "arch/x86_64/x86_64.h"

#define JUMP 0xe9

static void put(dt_patch *p, const void *bytes, uint32_t n)
{
	if (p->code_size + n <= DT_STUB_MAX)
		memcpy(p->code + p->code_size, bytes, n);
	p->code_size += n;
}

static void put_byte(dt_patch *p, uint8_t b)
{
	put(p, &b, 1);
}

/* The distance from the end of an instruction of which these four bytes are the last but `more`. */
static bool put_distance(dt_patch *p, uint64_t target, uint32_t more)
{
	int64_t d = (int64_t)(target - (p->stub + p->code_size + 4 + more));
	int32_t d32 = (int32_t)d;

	put(p, &d32, 4);
	return d == d32;
}

static bool put_probe(dt_patch *p, uint64_t site)
{
	static const uint8_t before[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x57, 0x48, 0xbf};	 /* lea -128(%rsp),%rsp; push %rdi; mov $site,%rdi */
	static const uint8_t call[] = {0xff, 0x15};						 /* call *entry(%rip) */
	static const uint8_t after[] = {0x5f, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0}; /* pop %rdi; lea 128(%rsp),%rsp */
	bool near;

	put(p, before, sizeof(before));
	put(p, &site, 8);
	put(p, call, sizeof(call));
	near = put_distance(p, p->entry, 0);
	put(p, after, sizeof(after));
	return near;
}

static const char *copy_jump(dt_patch *p, const ZydisDecodedInstruction *i, uint64_t target)
{
	bool always = i->meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	if (target - p->at < p->size)
		return "it jumps to its own beginning";
	if (!always && !(i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (i->opcode & 0xf0) == 0x70) &&
	    !(i->opcode_map == ZYDIS_OPCODE_MAP_0F && (i->opcode & 0xf0) == 0x80))
		return "a jump that cannot be moved";
	if (always) {
		put_byte(p, JUMP);
	} else {
		put_byte(p, 0x0f);
		put_byte(p, 0x80 | (i->opcode & 0xf));
	}
	return put_distance(p, target, 0) ? NULL : "a jump too far";
}

/* One instruction, at this offset. */
static const char *copy(dt_patch *p, uint32_t at, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *ops)
{
	const uint8_t *bytes = p->was + at;
	uint64_t next = p->at + at + i->length;

	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL: return "a call";
	case ZYDIS_CATEGORY_SYSCALL:
		if (p->calls && at == p->probe)
			break;
		return "a system call";
	case ZYDIS_CATEGORY_INTERRUPT: return "a system call";
	default: break;
	}
	if (i->raw.imm[0].is_relative) {
		if (i->meta.category != ZYDIS_CATEGORY_COND_BR && i->meta.category != ZYDIS_CATEGORY_UNCOND_BR)
			return "an instruction that cannot be moved";
		return copy_jump(p, i, next + (uint64_t)i->raw.imm[0].value.s);
	}
	for (unsigned k = 0; k < i->operand_count; k++) {
		uint32_t disp = i->raw.disp.offset;

		if (ops[k].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    (ops[k].mem.base != ZYDIS_REGISTER_RIP && ops[k].mem.base != ZYDIS_REGISTER_EIP))
			continue;
		if (ops[k].mem.base == ZYDIS_REGISTER_EIP || i->raw.disp.size != 32)
			return "an instruction that cannot be moved";
		put(p, bytes, disp);
		if (!put_distance(p, next + (uint64_t)i->raw.disp.value, i->length - disp - 4))
			return "data too far";
		put(p, bytes + disp + 4, i->length - disp - 4);
		return NULL;
	}
	put(p, bytes, i->length);
	return NULL;
}

static bool goes_on(const ZydisDecodedInstruction *i)
{
	return i->meta.category != ZYDIS_CATEGORY_UNCOND_BR && i->meta.category != ZYDIS_CATEGORY_RET;
}

const char *dt_x86_64_patch(dt_patch *p)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	const char *why;
	int64_t distance = (int64_t)(p->stub - (p->at + DT_PATCH_JUMP));
	int32_t d32 = (int32_t)distance;
	bool near = true, more = true;
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	p->code_size = p->nmoved = 0;
	if (p->size < DT_PATCH_JUMP || p->size > DT_PATCH_MAX)
		return "too short";
	for (uint32_t at = 0; at < p->size; at += i.length) {
		bool called = p->calls && p->nmoved && p->moved[p->nmoved - 1].from == p->probe; /* a thread in it comes back here */

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, p->was + at, p->size - at, &i, ops)))
			return "an unknown instruction";
		p->moved[p->nmoved].from = (uint8_t)at;
		p->moved[p->nmoved++].to = (uint8_t)p->code_size;
		if (at == p->probe)
			near = put_probe(p, p->site);
		else if (called && p->after)
			near = put_probe(p, p->after) && near;
		why = copy(p, at, &i, ops);
		if (why)
			return why;
		more = goes_on(&i);
	}
	if (p->probe == p->size)
		near = put_probe(p, p->site);
	if (p->calls && p->moved[p->nmoved - 1].from == p->probe) {
		p->moved[p->nmoved].from = (uint8_t)p->size;
		p->moved[p->nmoved++].to = (uint8_t)p->code_size;
		if (p->after)
			near = put_probe(p, p->after) && near;
	}
	if (more) {
		put_byte(p, JUMP);
		near = put_distance(p, p->at + p->size, 0) && near;
	}
	if (!near || distance != d32 || p->code_size > DT_STUB_MAX)
		return "no memory near it";
	memcpy(p->is, p->was, p->size); /* what is behind the jump is never run, and may be in another page */
	p->is[0] = JUMP;
	memcpy(p->is + 1, &d32, 4);
	return NULL;
}

/* The thread comes with its program counter below the red zone: dt_trap_divert(). */
const char *dt_x86_64_sample(dt_patch *p)
{
	static const uint8_t before[] = {0x57, 0x48, 0xbf};	  /* push %rdi; mov $site,%rdi */
	static const uint8_t call[] = {0xff, 0x15};		  /* call *entry(%rip) */
	static const uint8_t after[] = {0x5f, 0xc2, 0x80, 0x00}; /* pop %rdi; ret $128 */
	bool near;

	p->code_size = p->nmoved = 0;
	put(p, before, sizeof(before));
	put(p, &p->site, 8);
	put(p, call, sizeof(call));
	near = put_distance(p, p->entry, 0);
	put(p, after, sizeof(after));
	return near ? NULL : "no memory near it";
}
