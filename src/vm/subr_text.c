/*
 * subr_text: subroutines on text that other languages have and DTrace does not.
 *
 * Operands and results are as in subr_str.c. strreplace() does not cut: like strjoin(), a result that does not fit is
 * NOSCRATCH.
 */
#include <ctype.h>

#include "vm/machine.h"

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

DT_VM_SUBR(STRCASECMP)
{
	dt_vm_str a, b;

	if (!dt_vm_str_arg(vm, &arg[0], &a) || !dt_vm_str_arg(vm, &arg[1], &b))
		return 0;
	for (size_t i = 0;; i++) {
		int x = i < a.n ? lower(a.p[i]) : 0, y = i < b.n ? lower(b.p[i]) : 0;

		if (x != y || !x)
			return (uint64_t)(int64_t)(x - y);
	}
}

DT_VM_SUBR(STARTS_WITH)
{
	dt_vm_str s, t;

	if (!dt_vm_str_arg(vm, &arg[0], &s) || !dt_vm_str_arg(vm, &arg[1], &t))
		return 0;
	return t.n <= s.n && memcmp(s.p, t.p, t.n) == 0;
}

DT_VM_SUBR(STRREPLACE)
{
	dt_vm_str s, from, to;
	const char *p, *q, *end;
	char *out;
	size_t n = 0;

	if (!dt_vm_str_arg(vm, &arg[2], &to) || !dt_vm_str_arg(vm, &arg[0], &s) ||
	    !dt_vm_str_arg(vm, &arg[1], &from))
		return 0;
	if (from.n == 0)
		return dt_vm_str_result(vm, s.p, s.n);
	out = dt_vm_alloc(vm, vm->strsize);
	if (!out)
		return 0;
	end = s.p + s.n;
	for (p = s.p; p < end; p = q) {
		bool found = (size_t)(end - p) >= from.n && memcmp(p, from.p, from.n) == 0;
		size_t more = found ? to.n : 1;

		q = p + (found ? from.n : 1);
		if (n + more >= vm->strsize)
			return dt_vm_fault(vm, DT_FLT_NOSCRATCH, 0);
		memcpy(out + n, found ? to.p : p, more);
		n += more;
	}
	return dt_vm_addr(out);
}

DT_VM_SUBR(STRFIELD)
{
	int32_t want = (int32_t)arg[2].value;
	const char *p, *q, *end;
	dt_vm_str s, sep;

	if (!dt_vm_str_arg(vm, &arg[0], &s) || !dt_vm_str_arg(vm, &arg[1], &sep) || want < 0)
		return 0;
	end = s.p + s.n;
	for (p = s.p;; p = q + sep.n) {
		q = sep.n ? memmem(p, (size_t)(end - p), sep.p, sep.n) : NULL;
		if (want-- == 0)
			return dt_vm_str_result(vm, p, (size_t)((q ? q : end) - p));
		if (!q)
			return 0;
	}
}

DT_VM_SUBR(HEXSTR)
{
	uint64_t n = arg[1].value, most = (vm->strsize - 1) / 2;
	const uint8_t *p;
	char *to;

	if (n > most)
		n = most;
	p = dt_vm_readable(vm, arg[0].value, n);
	to = p ? dt_vm_alloc(vm, vm->strsize) : NULL;
	if (!to)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		to[i * 2] = "0123456789abcdef"[p[i] >> 4];
		to[i * 2 + 1] = "0123456789abcdef"[p[i] & 15];
	}
	return dt_vm_addr(to);
}

DT_VM_SUBR(STRHASH)
{
	uint64_t h = 0xcbf29ce484222325u;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (uint8_t)s.p[i]) * 0x100000001b3u;
	return h;
}

DT_VM_SUBR(MIN)
{
	return (int64_t)arg[0].value < (int64_t)arg[1].value ? arg[0].value : arg[1].value;
}

DT_VM_SUBR(MAX)
{
	return (int64_t)arg[0].value > (int64_t)arg[1].value ? arg[0].value : arg[1].value;
}

/* The compiler replaces it; only a file can have it. */
DT_VM_SUBR(SPRINTF)
{
	(void)arg;
	return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
}
