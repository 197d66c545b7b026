/*
 * subr: the subroutines that are neither text nor network.
 *
 *   subr_table.c calling one
 *   subr.c       memory, user memory, numbers, processes, kernel objects
 *   subr_str.c   strings
 *   subr_text.c  strings, beyond what DTrace has
 *   subr_path.c  basename, dirname, cleanpath
 *   subr_json.c  json
 *   subr_net.c   byte order, addresses as text
 *
 * Kernel objects (locks, socket buffers, devices, open files) are not available to the interpreter:
 * a subroutine that would read one faults on its address, as a load would.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm/machine.h"

/* ---- scratch ---- */

static uint64_t address_or_fault(const void *p)
{
	return p ? dt_vm_addr(p) : 0;
}

DT_VM_SUBR(ALLOCA)
{
	return address_or_fault(dt_vm_give(vm, arg[0].value, 0));
}

DT_VM_SUBR(BCOPY)
{
	uint64_t n = arg[2].value;
	void *to = dt_vm_writable(vm, arg[1].value, n);
	const void *from = to ? dt_vm_readable(vm, arg[0].value, n) : NULL;

	if (from && n)
		memmove(to, from, n);
	return 0;
}

/* A pair of address and length for printm(). */
DT_VM_SUBR(MEMREF)
{
	uint64_t pair[2] = {arg[0].value, arg[1].value};
	void *p = dt_vm_alloc(vm, sizeof(pair));

	if (p)
		memcpy(p, pair, sizeof(pair));
	return address_or_fault(p);
}

/* ---- user memory ---- */

/* With a NUL after it: stringof(copyin(p, n)) is a common way to write copyinstr(p, n), and must
 * end there. */
DT_VM_SUBR(COPYIN)
{
	uint64_t n = arg[1].value;
	char *to = dt_vm_give(vm, n, 1);

	if (!to || !dt_vm_load_user(vm, arg[0].value, to, n))
		return 0;
	to[n] = 0;
	return dt_vm_addr(to);
}

DT_VM_SUBR(COPYINSTR)
{
	uint64_t size = vm->strsize;
	char *to;

	if (argc > 1 && arg[1].value < size - 1)
		size = arg[1].value + 1;
	to = dt_vm_alloc(vm, size);
	if (!to || !dt_vm_load_user_string(vm, arg[0].value, to, size))
		return 0;
	return dt_vm_addr(to);
}

DT_VM_SUBR(COPYINTO)
{
	uint64_t n = arg[1].value;
	void *to = dt_vm_writable(vm, arg[2].value, n);

	if (to)
		dt_vm_load_user(vm, arg[0].value, to, n);
	return 0;
}

/* The user process is the tracer itself, and a program that could write anywhere in it could take
 * it over. So copyout() can write only where the program may write in any case. */
DT_VM_SUBR(COPYOUT)
{
	const void *from = dt_vm_readable(vm, arg[0].value, arg[2].value);
	void *to = from ? dt_vm_writable(vm, arg[1].value, arg[2].value) : NULL;

	if (to && arg[2].value)
		memmove(to, from, arg[2].value);
	return 0;
}

DT_VM_SUBR(COPYOUTSTR)
{
	dt_vm_str s;
	uint64_t n;
	char *to;

	if (!dt_vm_str_arg(vm, &arg[0], &s))
		return 0;
	n = s.n + 1 < arg[2].value ? s.n + 1 : arg[2].value;
	to = dt_vm_writable(vm, arg[1].value, n);
	if (to && n) {
		memmove(to, s.p, n <= s.n ? n : s.n);
		if (n > s.n)
			to[s.n] = '\0';
	}
	return 0;
}

/* ---- numbers ---- */

DT_VM_SUBR(RAND)
{
	uint64_t x;

	if (!vm->rand_state)
		vm->rand_state = dt_vm_now();
	x = vm->rand_state += 0x9e3779b97f4a7c15u; /* a Weyl sequence, then mixed */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) & 0x7fffffff;
}

/* The kernel's dev_t: 12 bits of major above 20 of minor. */
DT_VM_SUBR(GETMAJOR)
{
	return arg[0].value >> 20 & 0xfff;
}

DT_VM_SUBR(GETMINOR)
{
	return arg[0].value & 0xfffff;
}

/* ---- processes and speculations ---- */

static long parent_of(long pid)
{
	char path[64], text[1024], *p;
	int fd, n;
	long ppid;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything, also ')' */
	return p && sscanf(p + 1, " %*c %ld", &ppid) == 1 ? ppid : 0;
}

DT_VM_SUBR(PROGENYOF)
{
	long want = (int32_t)arg[0].value, pid = getpid();

	for (int depth = 0; pid > 0 && depth < 4096; depth++, pid = parent_of(pid))
		if (pid == want)
			return 1;
	return 0;
}

DT_VM_SUBR(SPECULATION)
{
	return vm->specs ? dt_vm_spec_new(vm->specs) : 0;
}

/* ---- kernel objects ---- */

static uint64_t kernel_object(dt_vm *vm, const dt_vm_arg *arg)
{
	dt_vm_readable(vm, arg[0].value, sizeof(uint64_t));
	return 0;
}

#define KERNEL_SUBR(sym)                                                                           \
	DT_VM_SUBR(sym)                                                                            \
	{                                                                                          \
		return kernel_object(vm, arg);                                                     \
	}
KERNEL_SUBR(MUTEX_OWNED)
KERNEL_SUBR(MUTEX_OWNER)
KERNEL_SUBR(MUTEX_TYPE_ADAPTIVE)
KERNEL_SUBR(MUTEX_TYPE_SPIN)
KERNEL_SUBR(RW_READ_HELD)
KERNEL_SUBR(RW_WRITE_HELD)
KERNEL_SUBR(RW_ISWRITER)
KERNEL_SUBR(SX_SHARED_HELD)
KERNEL_SUBR(SX_EXCLUSIVE_HELD)
KERNEL_SUBR(SX_ISEXCLUSIVE)
KERNEL_SUBR(MSGDSIZE)
KERNEL_SUBR(MSGSIZE)
KERNEL_SUBR(SKBCOPY)
KERNEL_SUBR(DDI_PATHNAME)
KERNEL_SUBR(TASKPID)
KERNEL_SUBR(TASKTID)
KERNEL_SUBR(D_PATH)
KERNEL_SUBR(DENTRY_PATH)

/* There is no concurrency here. */
DT_VM_SUBR(CLAIM)
{
	(void)vm, (void)arg, (void)argc;
	return 1;
}

/* There is no struct file: NULL, so that a program that checks continues. */
DT_VM_SUBR(GETF)
{
	return 0;
}
