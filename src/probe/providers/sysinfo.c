/*
 * sysinfo: the counters of system activity, as probes. Names are those of DTrace; arg0 is the
 * increment.
 *
 * System calls that read, write, fork and exec are counted where they begin, bytes where they end. Linux has one call,
 * clone(), for what Solaris calls fork, spawn and thread_create; its flags tell them apart.
 */
#include "arch/dtext.h"
#include "probe/providers/counter.h"

#define READS(kind, ...)                                                                           \
	AT(SYSCALL_##kind, "read", __VA_ARGS__), AT(SYSCALL_##kind, "readv", __VA_ARGS__),           \
	    AT(SYSCALL_##kind, "pread64", __VA_ARGS__), AT(SYSCALL_##kind, "preadv", __VA_ARGS__), \
	    AT(SYSCALL_##kind, "preadv2", __VA_ARGS__)
#define WRITES(kind, ...)                                                                          \
	AT(SYSCALL_##kind, "write", __VA_ARGS__), AT(SYSCALL_##kind, "writev", __VA_ARGS__),         \
	    AT(SYSCALL_##kind, "pwrite64", __VA_ARGS__), AT(SYSCALL_##kind, "pwritev", __VA_ARGS__), \
	    AT(SYSCALL_##kind, "pwritev2", __VA_ARGS__)
#define BYTES .when = "(int64_t)arg1 > 0", COUNT("arg1")

/* CLONE_VM 0x100, CLONE_VFORK 0x4000. clone3's flags come first in what its argument points to. */
#define CLONES(condition, more)                                                                    \
	AT(SYSCALL_ENTRY, "clone", .when = "(arg0 & 0x4100) == " condition more, COUNT("1")),        \
	    AT(SYSCALL_ENTRY, "clone3", .when = "(*(userland uint64_t *)arg0 & 0x4100) == " condition, COUNT("1"))
/* EAGAIN: too many processes */
#define NO_MORE .when = "arg1 == -11", COUNT("1")

/* sched_switch(preempt, prev, next, prev_state) */
#define LOST_CPU "(args[0] || args[3] == 0) && args[1]->pid != 0"

/* contention_begin(lock, flags): LCB_F_READ 2, LCB_F_WRITE 4, LCB_F_MUTEX 32 */
#define CONTENDED(bit) AT(TRACEPOINT, "contention_begin", .when = "args[1] & " bit, COUNT("1"))

/* A signal caused by an instruction, other than by a page fault, which is counted already: SIGILL
 * SIGTRAP SIGFPE, SIGSEGV of SI_KERNEL */
#define TRAP                                                                                       \
	"(uint64_t)args[1] > 1 && args[2] == curthread && ((args[0] == 4 || args[0] == 5 || args[0] == 8) ? "    \
	"args[1]->si_code > 0 : args[0] == 11 && args[1]->si_code == 0x80)"

static const dt_stable_probe rows[] = {
    {"syscall", COUNTER, .sites = SITES(AT(TRACEPOINT, "sys_enter", COUNT("1")))},
    {"sysread", COUNTER, .sites = SITES(READS(ENTRY, COUNT("1")))},
    {"syswrite", COUNTER, .sites = SITES(WRITES(ENTRY, COUNT("1")))},
    {"readch", COUNTER, .sites = SITES(READS(RETURN, BYTES))},
    {"writech", COUNTER, .sites = SITES(WRITES(RETURN, BYTES))},
    {"sysfork", COUNTER, .sites = SITES(AT(SYSCALL_ENTRY, "fork", COUNT("1")), CLONES("0", ""))},
    {"sysvfork", COUNTER, .sites = SITES(AT(SYSCALL_ENTRY, "vfork", COUNT("1")), ELSE(SYSCALL_ENTRY, "clone", .when = DT_IS_VFORK("arg0", "arg1"), COUNT("1")))},
    {"sysspawn", COUNTER, .sites = SITES(CLONES("0x4100", DT_NOT_VFORK("arg0", "arg1")))},
    {"sysexec", COUNTER, .sites = SITES(AT(SYSCALL_ENTRY, "execve", COUNT("1")), AT(SYSCALL_ENTRY, "execveat", COUNT("1")))},
    {"nthreads", COUNTER, .sites = SITES(AT(TRACEPOINT, "sched_process_fork", COUNT("1")))},
    {"procovf",
     COUNTER,
     .sites = SITES(AT(SYSCALL_RETURN, "fork", NO_MORE), AT(SYSCALL_RETURN, "vfork", NO_MORE), AT(SYSCALL_RETURN, "clone", NO_MORE),
		    AT(SYSCALL_RETURN, "clone3", NO_MORE))},
    {"pswitch", COUNTER, .sites = SITES(AT(TRACEPOINT, "sched_switch", COUNT("1")))},
    {"inv_swtch", COUNTER, .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = LOST_CPU, COUNT("1")))},
    {"idlethread", COUNTER, .sites = SITES(AT(TRACEPOINT, "sched_switch", .when = "args[2]->pid == 0", COUNT("1")))},
    {"trap",
     COUNTER,
     .sites = SITES(AT(TRACEPOINT, "page_fault_user", COUNT("1")), ELSE(PERF, "page faults", .number = 2 /* PERF_COUNT_SW_PAGE_FAULTS */, COUNT("1")),
		    AT(TRACEPOINT, "page_fault_kernel", COUNT("1")), ELSE(PERF, "alignment faults", .number = 7 /* PERF_COUNT_SW_ALIGNMENT_FAULTS */, COUNT("1")),
		    AT(TRACEPOINT, "signal_generate", .when = TRAP, COUNT("1")))},
    /* before 6.4 only the interrupted CPUs report it, on some CPUs the one that interrupts them */
    {"xcalls",
     COUNTER,
     .sites = SITES(AT(TRACEPOINT, "ipi_send_cpu", COUNT("1")), ELSE(TRACEPOINT, "call_function_single_entry", COUNT("1")),
		    ELSE(TRACEPOINT, "ipi_raise", COUNT("1")),
		    AT(TRACEPOINT, "ipi_send_cpumask", COUNT("1")), ELSE(TRACEPOINT, "call_function_entry", COUNT("1")),
		    ELSE(TRACEPOINT, "ipi_raise", .nothing = true))},
    {"sema",
     COUNTER,
     .sites = SITES(AT(SYSCALL_ENTRY, "semop", COUNT("1")), AT(SYSCALL_ENTRY, "semtimedop", COUNT("1")))},
    {"msg", COUNTER, .sites = SITES(AT(SYSCALL_ENTRY, "msgsnd", COUNT("1")), AT(SYSCALL_ENTRY, "msgrcv", COUNT("1")))},
    {"bread", COUNTER, .sites = SITES(BIO(READ, COUNT("1")))},
    {"bwrite", COUNTER, .sites = SITES(BIO(WRITE, COUNT("1")))},
    {"bawrite", COUNTER, .sites = SITES(BIO(WRITE " && !(args[0]->bi_opf & 0x800 /* REQ_SYNC */)", COUNT("1")))},
    {"lread", COUNTER, .sites = SITES(AT(TRACEPOINT, "block_touch_buffer", COUNT("1")))},
    {"lwrite", COUNTER, .sites = SITES(AT(TRACEPOINT, "block_dirty_buffer", COUNT("1")))},
    {"mutex_adenters", COUNTER, .sites = SITES(CONTENDED("32"))},
    {"rw_rdfails", COUNTER, .sites = SITES(CONTENDED("2"))},
    {"rw_wrfails", COUNTER, .sites = SITES(CONTENDED("4"))},
    {"modload", COUNTER, .sites = SITES(AT(TRACEPOINT, "module_load", COUNT("1")))},
    {"modunload", COUNTER, .sites = SITES(AT(TRACEPOINT, "module_free", COUNT("1")))},
    {"namei",
     COUNTER,
     .sites = SITES(AT(FUNC_ENTRY, "path_lookupat", COUNT("1")), AT(FUNC_ENTRY, "path_openat", COUNT("1")),
		    AT(FUNC_ENTRY, "path_parentat", COUNT("1")))},
    {"canch", COUNTER, .sites = SITES(AT(FUNC_RETURN, "n_tty_read", .when = "(int64_t)arg1 > 0", COUNT("arg1")))},
    {"outch", COUNTER, .sites = SITES(AT(FUNC_RETURN, "n_tty_write", .when = "(int64_t)arg1 > 0", COUNT("arg1")))},
    {"rawch", COUNTER, .sites = SITES(AT(FUNC_ENTRY, "tty_ldisc_receive_buf", COUNT("arg3")))},
    /* past the page cache: the memory is that of a process (PAGE_MAPPING_ANON) */
    {"phread", COUNTER, .sites = SITES(BIO(READ " && ((uint64_t)" HEAD "->mapping & 3) == 1", COUNT("1")))},
    {"phwrite", COUNTER, .sites = SITES(BIO(WRITE " && ((uint64_t)" HEAD "->mapping & 3) == 1", COUNT("1")))},
};

DT_STABLE_PROVIDER(sysinfo, "sysinfo", rows, COUNTER_STABILITY);
