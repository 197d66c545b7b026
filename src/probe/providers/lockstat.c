/*
 * lockstat: locks of the kernel: which threads wait for them, how long, and where they are acquired
 * and released.
 *
 * Two tracepoints report waits, contention_begin(lock, flags) and contention_end(lock, result). A
 * thread can wait for one lock while it waits for another one (a mutex has a spin lock inside; an
 * interrupt comes), but never twice for the same: so the data of a wait is kept by thread and lock.
 * A mutex begins several times in one wait: first it spins, then it may sleep, then spin again. If
 * the thread got the lock without sleeping, it was adaptive-spin; otherwise adaptive-block, with
 * the time since it first went to sleep.
 *
 * Linux has no tracepoints for acquire and release: there, functions are traced.
 *
 * Native arguments of waits: lock, ns, reader, held by a writer, readers. Flags: LCB_F_SPIN 1, LCB_F_READ 2, LCB_F_WRITE 4,
 * LCB_F_RT 8, LCB_F_PERCPU 16, LCB_F_MUTEX 32; none: a semaphore.
 */
#include "probe/providers/stable.h"

#define BEGAN(v) "self->dt_lockstat_" v "[arg0]"

/* A wait begins: condition and what is stored. */
#define BEGIN(condition, ...) AT(TRACEPOINT, "contention_begin", .when = "(" condition ") && (" __VA_ARGS__ ", 0)")
/* It ends, and it was such a wait; the stored data is cleared. */
#define ENDED(v, ...)                                                                              \
	.when = BEGAN(v) " != 0 && (self->dt_lockstat_ns = timestamp - " BEGAN(v) ", " __VA_ARGS__ BEGAN(v) " = 0, 1)"
#define END(v) AT(TRACEPOINT, "contention_end", ENDED(v), .arg = {"arg0", "self->dt_lockstat_ns"})

#define IS_MUTEX "(args[1] & 0x28) || args[1] == 0"
#define IS_RW	 "(args[1] & 6) && !(args[1] & 0x29)"

/* The state of a struct rw_semaphore: bit 0: a writer has it; from bit 8 on: readers. Another kind has PERCPU set. Bit 32 is
 * ours: the wait was for reading (no number of readers is that large). */
#define RW_STATE                                                                                   \
	"((args[1] & 0x10) ? 0 : ((struct rw_semaphore *)arg0)->count.counter & 0x3fffffff) | (args[1] & 2 ? 1L << 32 : 1L << 33)"

#define NS     {1, "uint64_t"}
#define READER {1, "int"}
#define MUTEX  {0, "struct mutex *"}
#define RWSEM  {0, "struct rw_semaphore *"}
#define SPIN   {0, "raw_spinlock_t *"}

/* The lock is the argument of a function, which has it when it returns (or: if it returns `got`). */
#define NOTE(function)	   AT(FUNC_ENTRY, function, .when = "(self->dt_lockstat_lock = arg0, 0)")
#define TAKES(function, ...) NOTE(function), AT(FUNC_RETURN, function, .arg = {"self->dt_lockstat_lock", ##__VA_ARGS__})
#define TAKES_IF(function, got, ...)                                                               \
	NOTE(function), AT(FUNC_RETURN, function, .when = "(int)arg1 == " got, .arg = {"self->dt_lockstat_lock", ##__VA_ARGS__})
#define CALLS(function, ...) AT(FUNC_ENTRY, function, .arg = {"arg0", ##__VA_ARGS__})

#define MUTEX_TAKEN_IF(function, got) {"adaptive-acquire", function, .args = {MUTEX}, .sites = SITES(TAKES_IF(function, got))}
#define RW_TAKEN_IF(function, got, reader)                                                         \
	{                                                                                          \
		"rw-acquire", function, .args = {RWSEM, READER}, .sites = SITES(TAKES_IF(function, got, reader)) \
	}

#define NO_SPIN "tracing of _raw_spin_lock() and similar functions, which BPF programs use themselves; spin-spin shows waits"

static const dt_stable_probe rows[] = {
    {"adaptive-block",
     .args = {MUTEX, NS},
     .sites = SITES(/* only the first time; the assignment that never runs gives the type */
		    BEGIN("((" IS_MUTEX ") && !(args[1] & 1))", "args[1] == ~0U ? (" BEGAN("block") " = timestamp) : " BEGAN("block") " == 0 ? (" BEGAN("block") " = timestamp) : 0"),
		    END("block"))},
    {"adaptive-spin",
     .args = {MUTEX, NS},
     .sites = SITES(BEGIN("args[1] == 0x21", BEGAN("aspin") " = timestamp"),
		    /* it slept: spinning after that does not count */
		    BEGIN("args[1] == 0x20", BEGAN("slept") " = 1"),
		    AT(TRACEPOINT, "contention_end", .when = BEGAN("slept") " && (" BEGAN("slept") " = 0, " BEGAN("aspin") " = 0, 0)"),
		    END("aspin"))},
    {"spin-spin", .args = {SPIN, NS}, .sites = SITES(BEGIN("args[1] == 1", BEGAN("spin") " = timestamp"), END("spin"))},
    {"rw-block",
     .args = {RWSEM, NS, {2, "int"}, {3, "int"}, {4, "int"}},
     .sites = SITES(BEGIN(IS_RW, BEGAN("state") " = " RW_STATE ", " BEGAN("rw") " = timestamp"),
		    AT(TRACEPOINT, "contention_end", ENDED("rw", "self->dt_lockstat_was = " BEGAN("state") ", " BEGAN("state") " = 0, "),
		       .arg = {"arg0", "self->dt_lockstat_ns", "self->dt_lockstat_was >> 32 & 1", "self->dt_lockstat_was & 1",
			       "(self->dt_lockstat_was & 1) ? 0 : self->dt_lockstat_was >> 8 & 0x3fffff"}))},
    {"rw-spin",
     .args = {{0, "rwlock_t *"}, NS},
     .sites = SITES(BEGIN("(args[1] & 6) && (args[1] & 1)", BEGAN("rwspin") " = timestamp"), END("rwspin"))},
    /* One probe for each function, so that probefunc tells how it was acquired. More of them are at
     * the end, since the position is the id. */
    {"adaptive-acquire", "mutex_lock", .args = {MUTEX}, .sites = SITES(TAKES("mutex_lock"))},
    {"adaptive-release", "mutex_unlock", .args = {MUTEX}, .sites = SITES(CALLS("mutex_unlock"))},
    {"rw-acquire", "down_read", .args = {RWSEM, READER}, .sites = SITES(TAKES("down_read", "1"))},
    {"rw-release", "up_read", .args = {RWSEM, READER}, .sites = SITES(CALLS("up_read", "1"))},
    {"rw-downgrade", "downgrade_write", .args = {RWSEM}, .sites = SITES(CALLS("downgrade_write"))},
    /* Linux does not allow functions that tracing itself needs to be traced; kernel/kfunc.c omits
     * these. An interrupt may come between entry and return, and also take locks, so these fire at
     * entry. */
    {"spin-acquire",
     .needs = NO_SPIN,
     .args = {SPIN},
     .sites = SITES(CALLS("_raw_spin_lock"), CALLS("_raw_spin_lock_irq"), CALLS("_raw_spin_lock_irqsave"), CALLS("_raw_spin_lock_bh"))},
    {"spin-release",
     .needs = NO_SPIN,
     .args = {SPIN},
     .sites = SITES(CALLS("_raw_spin_unlock_irqrestore"), CALLS("_raw_spin_unlock_bh"), CALLS("_raw_spin_unlock"),
		    CALLS("_raw_spin_unlock_irq"))},
    MUTEX_TAKEN_IF("mutex_lock_interruptible", "0"),
    MUTEX_TAKEN_IF("mutex_lock_killable", "0"),
    MUTEX_TAKEN_IF("mutex_trylock", "1"),
    RW_TAKEN_IF("down_read_killable", "0", "1"),
    RW_TAKEN_IF("down_read_trylock", "1", "1"),
    RW_TAKEN_IF("down_read_interruptible", "0", "1"),
    {"rw-acquire", "down_write", .args = {RWSEM, READER}, .sites = SITES(TAKES("down_write", "0"))},
    RW_TAKEN_IF("down_write_killable", "0", "0"),
    RW_TAKEN_IF("down_write_trylock", "1", "0"),
    {"rw-release", "up_write", .args = {RWSEM, READER}, .sites = SITES(CALLS("up_write", "0"))},
};

DT_STABLE_PROVIDER(lockstat, "lockstat", rows,
		   {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
		    DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(EVOLVING, EVOLVING, ISA)});
