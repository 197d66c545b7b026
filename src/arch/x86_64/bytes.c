/*
 * bytes: instructions of x86-64 recognized by their bytes, without a decoder.
 */
#include <string.h>

#include "arch/x86_64/x86_64.h"

/* int3, ud2 and ud1 (BUG, WARN), iret */
bool dt_x86_64_kprobe_refuses(const uint8_t *code, uint32_t offset, uint8_t length)
{
	const uint8_t *at = code + offset;

	return at[0] == 0xcc || at[0] == 0xcf || (at[0] == 0x48 && length > 1 && at[1] == 0xcf) ||
	       (length > 1 && at[0] == 0x0f && (at[1] == 0x0b || at[1] == 0xb9 || at[1] == 0xff));
}

/* int3 and all nops */
bool dt_x86_64_is_padding(const uint8_t *at, uint8_t length)
{
	return at[0] == 0xcc || at[0] == 0x90 ||
	       (length > 1 && (at[0] == 0x66 || at[0] == 0x2e) && dt_x86_64_is_padding(at + 1, length - 1)) ||
	       (length > 2 && at[0] == 0x0f && at[1] == 0x1f);
}

/* int3 in place of the first byte; a nop of five bytes becomes a call (Linux 6.18) */
bool dt_x86_64_is_uprobe(const uint8_t *was, const uint8_t *now, uint8_t length)
{
	if (length == 5 && memcmp(was, "\x0f\x1f\x44\x00\x00", 5) == 0)
		return now[0] == 0xcc || now[0] == 0xe8;
	return now[0] == 0xcc && memcmp(now + 1, was + 1, length - 1u) == 0;
}

/* push, sub $n,%rsp, mov %rsp,%rbp */
bool dt_x86_64_makes_frame(const uint8_t *at, uint8_t length)
{
	if (length == 1 || (length == 2 && at[0] == 0x41))
		return (at[length - 1] & 0xf8) == 0x50;
	return (length == 4 && memcmp(at, "\x48\x83\xec", 3) == 0) || (length == 7 && memcmp(at, "\x48\x81\xec", 3) == 0) ||
	       (length == 3 && memcmp(at, "\x48\x89\xe5", 3) == 0);
}

/* mov $number,%eax; mov $number,%rax */
uint32_t dt_x86_64_call_number(const uint8_t *at, uint8_t length)
{
	uint32_t number = UINT32_MAX;

	if ((length == 5 && at[0] == 0xb8) || (length == 7 && memcmp(at, "\x48\xc7\xc0", 3) == 0))
		memcpy(&number, at + length - 4, sizeof(number));
	return number;
}

/* Its last four bytes: the distance from the next instruction, or an address below 4 GB; or an address in its last eight. */
bool dt_x86_64_refers(const uint8_t *at, uint8_t length, uint64_t vaddr, uint64_t start, uint64_t end)
{
	uint64_t address = 0;
	int32_t word;

	if (length < 5)
		return false;
	memcpy(&word, at + length - 4, sizeof(word));
	if (length == 10)
		memcpy(&address, at + 2, sizeof(address));
	return vaddr + length + (uint64_t)(int64_t)word - start < end - start || (uint32_t)word - start < end - start || address - start < end - start;
}

/*	[endbr64] [bnd] jmp *slot(%rip)		f3 0f 1e fa   f2   ff 25 disp32	*/
bool dt_x86_64_plt_slot(const uint8_t *p, size_t n, uint64_t vaddr, uint64_t *slot)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t disp;

	if (n >= sizeof(endbr64) && memcmp(p, endbr64, sizeof(endbr64)) == 0)
		at += sizeof(endbr64);
	if (at < n && p[at] == 0xf2)
		at++;
	if (n < at + 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return false;
	memcpy(&disp, p + at + 2, 4);
	*slot = vaddr + at + 6 + (uint64_t)(int64_t)disp;
	return true;
}
