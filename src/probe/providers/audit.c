/*
 * audit: security-relevant events by name, when their outcome is known: audit:event:aue_open:commit.
 *
 * Names are those of the audit system that FreeBSD, Solaris and macOS share. An event of Linux is the return of a system
 * call, or of one of several that do the same. Native arguments are the name of the event, the value returned, and two paths or
 * 0; lib/audit.d makes an audit_record_t of them. Paths are those given to the call, read when it returns.
 */
#include "arch/dtext.h"
#include "probe/providers/stable.h"

#define RECORD                                                                                     \
	{                                                                                          \
		{0, "char *", "string"}, { 1, "long", "audit_record_t *" }                         \
	}

/* The call's arguments are still in the registers of the process. */
#define PATH0 "copyinstr(" DT_SYSCALL_RETURN_ARG(0) ")"
#define PATH1 "copyinstr(" DT_SYSCALL_RETURN_ARG(1) ")"
#define PATH2 "copyinstr(" DT_SYSCALL_RETURN_ARG(2) ")"
#define PATH3 "copyinstr(" DT_SYSCALL_RETURN_ARG(3) ")"
#define NONE  "0"

#define CALL(name, call, path, ...) AT(SYSCALL_RETURN, call, .arg = {"\"aue_" name "\"", "(int64_t)arg1", path, ##__VA_ARGS__})

#define EVENT(name_, ...) {"commit", .func = "aue_" name_, .mod = "event", .args = RECORD, .sites = SITES(__VA_ARGS__)}
/* The usual case: one call, with or without a path. */
#define ONE(name, path)	 EVENT(name, CALL(name, name, path))

/* After a successful exec the memory with the path is gone; execname has the name. */
#define FAILED_EXEC(call, path)                                                                    \
	AT(SYSCALL_RETURN, call, .arg = {"\"aue_execve\"", "(int64_t)arg1", "(int64_t)arg1 < 0 ? (uint64_t)" path " : 0"})
/* The child also returns, with 0. */
#define RETURN(name, condition) .when = condition, .arg = {"\"aue_" name "\"", "(int64_t)arg1"}
#define PARENT(name, call, ...) AT(SYSCALL_RETURN, call, RETURN(name, "arg1 != 0" __VA_ARGS__))
#define IS_VFORK  DT_IS_VFORK(DT_SYSCALL_RETURN_ARG(0), DT_SYSCALL_RETURN_ARG(1))
#define NOT_VFORK DT_NOT_VFORK(DT_SYSCALL_RETURN_ARG(0), DT_SYSCALL_RETURN_ARG(1))

static const dt_stable_probe rows[] = {
    /* files */
    EVENT("open", CALL("open", "open", PATH0)),
    EVENT("openat", CALL("openat", "openat", PATH1), CALL("openat", "openat2", PATH1)),
    ONE("creat", PATH0),
    EVENT("close", CALL("close", "close", NONE)),
    EVENT("link", CALL("link", "link", PATH0, PATH1)),
    EVENT("linkat", CALL("linkat", "linkat", PATH1, PATH3)),
    ONE("unlink", PATH0),
    EVENT("unlinkat", CALL("unlinkat", "unlinkat", PATH1)),
    EVENT("rename", CALL("rename", "rename", PATH0, PATH1)),
    EVENT("renameat", CALL("renameat", "renameat", PATH1, PATH3), CALL("renameat", "renameat2", PATH1, PATH3)),
    EVENT("symlink", CALL("symlink", "symlink", PATH0, PATH1)),
    EVENT("symlinkat", CALL("symlinkat", "symlinkat", PATH0, PATH2)),
    ONE("readlink", PATH0),
    EVENT("readlinkat", CALL("readlinkat", "readlinkat", PATH1)),
    ONE("mkdir", PATH0),
    EVENT("mkdirat", CALL("mkdirat", "mkdirat", PATH1)),
    ONE("rmdir", PATH0),
    ONE("mknod", PATH0),
    EVENT("mknodat", CALL("mknodat", "mknodat", PATH1)),
    ONE("chmod", PATH0),
    ONE("fchmod", NONE),
    EVENT("fchmodat", CALL("fchmodat", "fchmodat", PATH1), CALL("fchmodat", "fchmodat2", PATH1)),
    ONE("chown", PATH0),
    ONE("fchown", NONE),
    ONE("lchown", PATH0),
    EVENT("fchownat", CALL("fchownat", "fchownat", PATH1)),
    ONE("truncate", PATH0),
    ONE("ftruncate", NONE),
    ONE("access", PATH0),
    EVENT("faccessat", CALL("faccessat", "faccessat", PATH1), CALL("faccessat", "faccessat2", PATH1)),
    ONE("stat", PATH0),
    ONE("lstat", PATH0),
    ONE("fstat", NONE),
    EVENT("fstatat", CALL("fstatat", "newfstatat", PATH1), CALL("fstatat", "statx", PATH1)),
    ONE("statfs", PATH0),
    ONE("utimes", PATH0),
    EVENT("utimensat", CALL("utimensat", "utimensat", PATH1)),
    EVENT("extattr_set_file", CALL("extattr_set_file", "setxattr", PATH0)),
    EVENT("extattr_get_file", CALL("extattr_get_file", "getxattr", PATH0)),
    EVENT("extattr_delete_file", CALL("extattr_delete_file", "removexattr", PATH0)),
    ONE("flock", NONE),
    ONE("fcntl", NONE),
    ONE("ioctl", NONE),
    ONE("dup2", NONE),
    ONE("pipe", NONE),
    ONE("mmap", NONE),
    ONE("munmap", NONE),
    ONE("mprotect", NONE),
    /* places */
    ONE("chdir", PATH0),
    ONE("fchdir", NONE),
    ONE("chroot", PATH0),
    EVENT("mount", CALL("mount", "mount", PATH0, PATH1)),
    EVENT("unmount", CALL("unmount", "umount2", PATH0)),
    ONE("quotactl", PATH1),
    /* processes */
    EVENT("execve", FAILED_EXEC("execve", PATH0), FAILED_EXEC("execveat", PATH1)),
    EVENT("exit", AT(SYSCALL_ENTRY, "exit_group", .arg = {"\"aue_exit\"", "0", "0"})),
    EVENT("fork", PARENT("fork", "fork"), PARENT("fork", "clone", NOT_VFORK), PARENT("fork", "clone3")),
    EVENT("vfork", PARENT("vfork", "vfork"), ELSE(SYSCALL_RETURN, "clone", RETURN("vfork", "arg1 != 0 && " IS_VFORK))),
    ONE("kill", NONE),
    EVENT("thr_kill", CALL("thr_kill", "tgkill", NONE), CALL("thr_kill", "tkill", NONE)),
    ONE("ptrace", NONE),
    EVENT("wait4", CALL("wait4", "wait4", NONE)),
    EVENT("setpriority", CALL("setpriority", "setpriority", NONE)),
    ONE("setrlimit", NONE),
    EVENT("setpgrp", CALL("setpgrp", "setpgid", NONE)),
    ONE("setsid", NONE),
    ONE("setuid", NONE),
    ONE("setgid", NONE),
    ONE("setreuid", NONE),
    ONE("setregid", NONE),
    ONE("setresuid", NONE),
    ONE("setresgid", NONE),
    ONE("setgroups", NONE),
    EVENT("cap_enter", CALL("cap_enter", "landlock_restrict_self", NONE)),
    /* talk */
    ONE("socket", NONE),
    ONE("socketpair", NONE),
    ONE("bind", NONE),
    ONE("listen", NONE),
    EVENT("accept", CALL("accept", "accept", NONE), CALL("accept", "accept4", NONE)),
    ONE("connect", NONE),
    ONE("sendto", NONE),
    ONE("recvfrom", NONE),
    ONE("sendmsg", NONE),
    ONE("recvmsg", NONE),
    ONE("shutdown", NONE),
    ONE("setsockopt", NONE),
    ONE("shmget", NONE),
    ONE("shmat", NONE),
    ONE("shmctl", NONE),
    ONE("semget", NONE),
    ONE("semop", NONE),
    ONE("semctl", NONE),
    ONE("msgget", NONE),
    ONE("msgsnd", NONE),
    ONE("msgrcv", NONE),
    ONE("msgctl", NONE),
    /* the machine */
    EVENT("reboot", CALL("reboot", "reboot", NONE)),
    EVENT("settimeofday", CALL("settimeofday", "settimeofday", NONE)),
    EVENT("clock_settime", CALL("clock_settime", "clock_settime", NONE)),
    EVENT("adjtime", CALL("adjtime", "adjtimex", NONE), CALL("adjtime", "clock_adjtime", NONE)),
    EVENT("modload", CALL("modload", "init_module", NONE), CALL("modload", "finit_module", NONE)),
    EVENT("modunload", CALL("modunload", "delete_module", PATH0)),
    ONE("swapon", PATH0),
    ONE("swapoff", PATH0),
    EVENT("sysarch", CALL("sysarch", "arch_prctl", NONE)),
    EVENT("acct", CALL("acct", "acct", PATH0)),
};

DT_STABLE_PROVIDER(audit, "audit", rows, DT_STABLE_FBSD);
