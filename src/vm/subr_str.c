/*
 * subr_str: subroutines on strings.
 *
 * An operand is at most strsize - 1 characters (machine.h); a NULL operand is address 0 and faults,
 * except for strtok(). strchr, strrchr and strstr return an address inside their operand; the
 * others make a new string in scratch, cut at strsize, for which strsize bytes must be free.
 * Only strjoin does not cut: a result that does not fit is NOSCRATCH.
 */
#include <ctype.h>

#include "vm/machine.h"

bool dt_vm_str_arg(dt_vm *vm, const dt_vm_arg *arg, dt_vm_str *s)
{
	return dt_vm_string(vm, arg->value, vm->strsize, s);
}

/* Space for a whole string must be free, but only what the text needs is used. */
uint64_t dt_vm_str_result(dt_vm *vm, const char *p, size_t n)
{
	uint64_t before = vm->scratch_used;
	char *to = dt_vm_alloc(vm, vm->strsize);

	if (!to)
		return 0;
	if (n > vm->strsize - 1)
		n = vm->strsize - 1;
	memcpy(to, p, n);
	vm->scratch_used = dt_align_up(before, 8) + n + 1;
	return dt_vm_addr(to);
}

DT_VM_SUBR(STRLEN)
{
	dt_vm_str s;

	return dt_vm_str_arg(vm, &arg[0], &s) ? s.n : 0;
}

DT_VM_SUBR(STRJOIN)
{
	dt_vm_str a, b;
	uint64_t at;

	if (!dt_vm_str_arg(vm, &arg[0], &a) || !dt_vm_str_arg(vm, &arg[1], &b))
		return 0;
	if (a.n + b.n >= vm->strsize)
		return dt_vm_fault(vm, DT_FLT_NOSCRATCH, 0);
	at = dt_vm_str_result(vm, a.p, a.n);
	if (!at)
		return 0;
	memcpy((char *)(uintptr_t)at + a.n, b.p, b.n); /* what follows a is still zero */
	vm->scratch_used += b.n;
	return at;
}

/* ---- searching ---- */

DT_VM_SUBR(STRCHR)
{
	char c = (char)arg[1].value;
	const char *q;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	q = c ? memchr(s.p, c, s.n) : s.p + s.n;
	return q ? dt_vm_addr(q) : 0;
}

DT_VM_SUBR(STRRCHR)
{
	char c = (char)arg[1].value;
	const char *q;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	q = c ? memrchr(s.p, c, s.n) : s.p + s.n;
	return q ? dt_vm_addr(q) : 0;
}

DT_VM_SUBR(STRSTR)
{
	const char *q;
	dt_vm_str s, t;

	if (!dt_vm_str_arg(vm, &arg[0], &s) || !dt_vm_str_arg(vm, &arg[1], &t))
		return 0;
	q = memmem(s.p, s.n, t.p, t.n);
	return q ? dt_vm_addr(q) : 0;
}

/* As in Perl: a position before the start means the start, one past the end the end. */
DT_VM_SUBR(INDEX)
{
	int64_t pos = argc > 2 ? (int32_t)arg[2].value : 0;
	const char *q;
	dt_vm_str s, t;

	if (!dt_vm_str_arg(vm, &arg[0], &s) || !dt_vm_str_arg(vm, &arg[1], &t))
		return 0;
	pos = pos < 0 ? 0 : pos > (int64_t)s.n ? (int64_t)s.n : pos;
	q = memmem(s.p + pos, s.n - (size_t)pos, t.p, t.n);
	return q ? (uint64_t)(q - s.p) : (uint64_t)-1;
}

/* The last occurrence that begins at or before the position; before the start there is only "". */
DT_VM_SUBR(RINDEX)
{
	int64_t pos, last;
	dt_vm_str s, t;

	if (!dt_vm_str_arg(vm, &arg[0], &s) || !dt_vm_str_arg(vm, &arg[1], &t))
		return 0;
	pos = argc > 2 ? (int32_t)arg[2].value : (int64_t)s.n;
	if (pos < 0)
		return t.n ? (uint64_t)-1 : 0;
	last = (int64_t)s.n - (int64_t)t.n;
	for (pos = pos < last ? pos : last; pos >= 0; pos--)
		if (memcmp(s.p + pos, t.p, t.n) == 0)
			break;
	return (uint64_t)(pos < 0 ? -1 : pos);
}

/* ---- cutting ---- */

/* substr(s, index [, length]) as in Perl: a negative index counts from the end, a negative length
 * omits that many characters at the end; positions before the start of s do not exist. */
DT_VM_SUBR(SUBSTR)
{
	int64_t start = (int32_t)arg[1].value, end, n;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	n = (int64_t)s.n;
	if (start < 0)
		start += n;
	end = n;
	if (argc > 2) {
		end = (int32_t)arg[2].value;
		end += end < 0 ? n : start;
	}
	if (end > n)
		end = n;
	if (start < 0)
		start = 0;
	return start < end ? dt_vm_str_result(vm, s.p + start, (size_t)(end - start))
			   : dt_vm_str_result(vm, "", 0);
}

/* The text still to be split is kept with the firing, so that it outlives the clause's scratch. */
DT_VM_SUBR(STRTOK)
{
	dt_vm_firing *f = vm->fire;
	bool sep[256] = {0};
	dt_vm_str s, t;
	size_t n;
	char *p;

	if (!dt_vm_str_arg(vm, &arg[1], &t))
		return 0;
	if (arg[0].value) {
		if (!dt_vm_str_arg(vm, &arg[0], &s))
			return 0;
		memcpy(f->strtok, s.p, s.n);
		f->strtok[s.n] = '\0';
		f->strtok_live = true;
	}
	if (!f->strtok_live)
		return 0;
	for (size_t i = 0; i < t.n; i++)
		sep[(uint8_t)t.p[i]] = true;
	for (p = f->strtok; *p && sep[(uint8_t)*p]; p++)
		;
	for (n = 0; p[n] && !sep[(uint8_t)p[n]]; n++)
		;
	f->strtok_live = n > 0;
	if (n == 0)
		return 0;
	dt_vm_arg token = {.value = dt_vm_str_result(vm, p, n)};
	p += n; /* at the delimiter, which counts if the next call has others */
	memmove(f->strtok, p, strlen(p) + 1);
	return token.value;
}

/* ---- converting ---- */

static uint64_t map_chars(dt_vm *vm, const dt_vm_arg *arg, char first, char last)
{
	uint64_t at;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, arg, &s))
		return 0;
	at = dt_vm_str_result(vm, s.p, s.n);
	for (char *p = (char *)(uintptr_t)at; at && *p; p++)
		if (*p >= first && *p <= last)
			*p ^= 0x20;
	return at;
}

DT_VM_SUBR(TOUPPER)
{
	return map_chars(vm, &arg[0], 'a', 'z');
}

DT_VM_SUBR(TOLOWER)
{
	return map_chars(vm, &arg[0], 'A', 'Z');
}

/* Base 8 shows a leading 0 and base 16 a leading 0x; only base 10 is signed. */
DT_VM_SUBR(LLTOSTR)
{
	uint64_t v = arg[0].value, base = argc > 1 ? arg[1].value : 10;
	char text[72], *p = text + sizeof(text);
	bool negative;

	if (base < 2 || base > 36)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	negative = base == 10 && v >> 63;
	if (negative)
		v = 0 - v;
	do
		*--p = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
	while (v /= base);
	if (base == 16)
		*--p = 'x';
	if (base == 16 || (arg[0].value && base == 8))
		*--p = '0';
	if (negative)
		*--p = '-';
	return dt_vm_str_result(vm, p, (size_t)(text + sizeof(text) - p));
}

static uint64_t digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (uint64_t)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? (uint64_t)(c - 'a' + 10) : 99;
}

/* Blanks, a sign, 0x for base 16, then digits as far as they go; overflow wraps. */
DT_VM_SUBR(STRTOLL)
{
	uint64_t v = 0, base = argc > 1 ? arg[1].value : 10;
	bool negative = false;
	const char *p, *end;
	dt_vm_str s;

	if (base < 2 || base > 36)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	p = s.p;
	end = s.p + s.n;
	while (p < end && isspace((unsigned char)*p))
		p++;
	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (base == 16 && end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' &&
	    digit_value(p[2]) < 16)
		p += 2;
	for (; p < end && digit_value(*p) < base; p++)
		v = v * base + digit_value(*p);
	return negative ? 0 - v : v;
}

#define MEMSTR_MAX 4096

/* NUL-separated strings, such as an argument vector, as one: every NUL but the last becomes c. */
DT_VM_SUBR(MEMSTR)
{
	uint64_t n = arg[2].value;
	char c = (char)arg[1].value, *to;
	const char *from;

	if (n == 0)
		return dt_vm_str_result(vm, "", 0);
	if (n > MEMSTR_MAX)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	from = dt_vm_readable(vm, arg[0].value, n);
	to = from ? dt_vm_alloc(vm, n) : NULL;
	if (!to)
		return 0;
	for (uint64_t i = 0; i + 1 < n; i++)
		to[i] = from[i] ? from[i] : c;
	return dt_vm_addr(to);
}
