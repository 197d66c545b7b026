/*
 * filter: the system calls that a helper has (seccomp).
 *
 * Three kinds: those needed for reading and answering; those that libraries try but do not need,
 * which fail; all others, which kill the helper. Opening files is of the second kind, but can be
 * allowed (jail.h), for reading only. Memory cannot be made executable. fstat() of the C
 * library is newfstatat() with an empty path, and a filter cannot inspect the path: so a helper
 * could learn size and owner of a file by its name, with the rights of its user.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "jail/inside.h"

/* Allowed, whatever their arguments. */
static const uint16_t allowed[] = {
    SYS_read,	    SYS_pread64,   SYS_recvmsg,	     SYS_sendto,	SYS_close,   SYS_lseek,
    SYS_fstat,	    SYS_munmap,	   SYS_mremap,	     SYS_brk,		SYS_madvise, SYS_futex,
    SYS_exit_group, SYS_exit,	   SYS_rt_sigreturn, SYS_getrandom,	SYS_getpid,  SYS_gettid,
    SYS_sysinfo,    SYS_fadvise64, SYS_sched_yield,  SYS_clock_gettime, SYS_geteuid,
};

/* Allowed if the bits `mask` of an argument are `value`. */
struct check {
	uint16_t nr;
	uint8_t arg;
	uint32_t mask, value;
};

static const struct check checked[] = {
    {SYS_mmap, 2, PROT_EXEC, 0},
    {SYS_mprotect, 2, PROT_EXEC, 0},
    {SYS_newfstatat, 3, UINT32_MAX, AT_EMPTY_PATH},
    {SYS_fcntl, 1, UINT32_MAX, F_GETFD},
};

/* The same, in helpers that may open files for reading. */
static const struct check opening[] = {
    {SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH, O_RDONLY},
    {SYS_readlinkat, 0, 0, 0},
#if defined(SYS_open)
    {SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH, O_RDONLY},
    {SYS_readlink, 0, 0, 0},
#endif
};

/* Refused: separate files of debug information, messages in the user's language. */
static const uint16_t refused[] = {
    SYS_openat,	      SYS_readlinkat, SYS_faccessat,   SYS_statx,  SYS_ioctl,
    SYS_fcntl,	      SYS_newfstatat, SYS_getrlimit,   SYS_getcwd, SYS_rt_sigprocmask,
    SYS_rt_sigaction, SYS_prlimit64,  SYS_sigaltstack,
#if defined(SYS_open) /* older forms, which new CPUs do not have */
    SYS_open,	      SYS_readlink,   SYS_access,      SYS_stat,   SYS_lstat,
#endif
};

#define DATA(field)    (uint32_t) offsetof(struct seccomp_data, field)
#define LOAD(at)       (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IF_NOT(v, n)   (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), 0, (n))
#define AND(v)	       (struct sock_filter) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (v))
#define RETURN(action) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (action))

typedef struct {
	struct sock_filter v[2 * DT_NELEM(allowed) + 2 * DT_NELEM(refused) +
			     6 * (DT_NELEM(checked) + DT_NELEM(opening)) + 8];
	uint16_t n;
} filter;

static void add(filter *f, struct sock_filter insn)
{
	f->v[f->n++] = insn;
}

static void add_calls(filter *f, const uint16_t *calls, size_t n, uint32_t action)
{
	for (size_t i = 0; i < n; i++) {
		add(f, IF_NOT(calls[i], 1));
		add(f, RETURN(action));
	}
}

static void add_checked(filter *f, const struct check *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add(f, IF_NOT(calls[i].nr, 5));
		add(f, LOAD(DATA(args) + calls[i].arg * 8u));
		add(f, AND(calls[i].mask));
		add(f, IF_NOT(calls[i].value, 1));
		add(f, RETURN(SECCOMP_RET_ALLOW));
		add(f, LOAD(DATA(nr)));
	}
}

int dt_jail_filter(bool opens)
{
	/* What the kernel calls this CPU: the ELF machine and two bits. */
	uint32_t cpu = dt_arch_host()->machine | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE;
	filter f = {.n = 0};

	add(&f, LOAD(DATA(arch)));
	add(&f, IF_NOT(cpu, 1));
	add(&f, LOAD(DATA(nr)));
	/* of another CPU: the number loaded is that of none below */
	add_calls(&f, allowed, DT_NELEM(allowed), SECCOMP_RET_ALLOW);
	add_checked(&f, checked, DT_NELEM(checked));
	if (opens)
		add_checked(&f, opening, DT_NELEM(opening));
	add_calls(&f, refused, DT_NELEM(refused), SECCOMP_RET_ERRNO | EACCES);
	add(&f, RETURN(SECCOMP_RET_KILL_PROCESS));
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		     &(struct sock_fprog){.len = f.n, .filter = f.v});
}
