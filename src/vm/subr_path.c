/*
 * subr_path: basename, dirname and cleanpath, all on text alone; no file is accessed.
 *
 * basename and dirname follow POSIX: trailing slashes do not count, "" is ".". cleanpath removes
 * "//", "/./" and "/../" (with the part before it), and "/.." at the end; "/a/." is kept.
 */
#include "vm/machine.h"

static size_t without_slashes(const char *p, size_t n)
{
	while (n && p[n - 1] == '/')
		n--;
	return n;
}

/* Where the last part of p[0..n) begins. */
static size_t last_part(const char *p, size_t n)
{
	while (n && p[n - 1] != '/')
		n--;
	return n;
}

DT_VM_SUBR(BASENAME)
{
	size_t n, at;
	dt_vm_str s;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	if (s.n == 0)
		return dt_vm_str_result(vm, ".", 1);
	n = without_slashes(s.p, s.n);
	if (n == 0)
		return dt_vm_str_result(vm, "/", 1);
	at = last_part(s.p, n);
	return dt_vm_str_result(vm, s.p + at, n - at);
}

DT_VM_SUBR(DIRNAME)
{
	dt_vm_str s;
	size_t n;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	n = without_slashes(s.p, s.n);
	if (n == 0)
		return dt_vm_str_result(vm, s.n ? "/" : ".", 1);
	n = last_part(s.p, n);
	if (n == 0)
		return dt_vm_str_result(vm, ".", 1);
	n = without_slashes(s.p, n);
	return n ? dt_vm_str_result(vm, s.p, n) : dt_vm_str_result(vm, "/", 1);
}

/*
 * The result is built part by part, each with the slash before it; a relative path begins with a
 * part that has none. There is nothing above the root, and a slash at the end is kept.
 */
DT_VM_SUBR(CLEANPATH)
{
	const char *p, *end, *q;
	uint64_t at;
	size_t n = 0;
	dt_vm_str s;
	char *to;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	at = dt_vm_str_result(vm, s.p, s.n);
	to = (char *)(uintptr_t)at;
	if (!at)
		return 0;
	p = s.p;
	end = s.p + s.n;
	if (p < end && *p != '/') { /* the leading part of a relative path is kept unchanged */
		q = memchr(p, '/', s.n);
		n = q ? (size_t)(q - p) : s.n;
		p += n;
	}
	while (p < end) {
		while (p < end && *p == '/')
			p++;
		q = memchr(p, '/', (size_t)(end - p));
		q = q ? q : end;
		if (q == p) {
			to[n++] = '/';
		} else if (q - p == 2 && p[0] == '.' && p[1] == '.') {
			n = last_part(to, n);
			n -= n > 0;
		} else if (!(q < end && q - p == 1 && *p == '.')) {
			to[n++] = '/';
			memmove(to + n, p, (size_t)(q - p));
			n += (size_t)(q - p);
		}
		p = q;
	}
	if (n == 0 && s.n)
		to[n++] = '/';
	to[n] = '\0';
	return at;
}
