/*
 * mac_framework: what the security modules (SELinux, AppArmor, Landlock, lockdown, BPF ...) decide:
 * mac_framework:kernel:vnode_check_open:mac-check-ok and mac-check-err.
 *
 * The kernel asks them all through one function for each check, security_*(). It is traced: at
 * entry its arguments are saved; at return the result is known, 0 or -errno. Names of checks are
 * FreeBSD's where it has the same one. There are no tracepoints for this, so the provider has no
 * probes on kernels whose functions cannot be traced.
 */
#include "probe/providers/stable.h"

#define NOTE(function)                                                                             \
	AT(FUNC_ENTRY, function,                                                                   \
	   .when = "(self->dt_mac_0 = arg0, self->dt_mac_1 = arg1, self->dt_mac_2 = arg2, self->dt_mac_3 = arg3, 0)")
#define ANSWER(function, condition)                                                                \
	AT(FUNC_RETURN, function, .when = "(int)arg1 " condition " 0",                             \
	   .arg = {"-(int)arg1", "self->dt_mac_0", "self->dt_mac_1", "self->dt_mac_2", "self->dt_mac_3"})

#define PROBE(name_, condition, check, function, ...)                                              \
	{                                                                                          \
		name_, .func = check, .mod = "kernel", .args = {{0, "int"}, __VA_ARGS__}, .sites = SITES( \
			NOTE(function),                                                            \
			ANSWER(function, condition)                                                \
		)                                                                                  \
	}
/* the name, the function, the types of its arguments */
#define CHECK(...) PROBE("mac-check-ok", "==", __VA_ARGS__), PROBE("mac-check-err", "!=", __VA_ARGS__)

#define FILE_(n)   {n, "struct file *"}
#define INODE(n)   {n, "struct inode *"}
#define DENTRY(n)  {n, "struct dentry *"}
#define PATH(n)	   {n, "struct path *"}
#define TASK(n)	   {n, "struct task_struct *"}
#define SOCKET(n)  {n, "struct socket *"}
#define ADDRESS(n) {n, "struct sockaddr *"}
#define NAME(n)	   {n, "char *", "string"}
#define INT(n)	   {n, "int"}

static const dt_stable_probe rows[] = {
    CHECK("vnode_check_access", "security_inode_permission", INODE(1), INT(2)),
    CHECK("vnode_check_open", "security_file_open", FILE_(1)),
    CHECK("vnode_check_rdwr", "security_file_permission", FILE_(1), INT(2)),
    CHECK("vnode_check_exec", "security_bprm_check", {1, "struct linux_binprm *"}),
    CHECK("vnode_check_create", "security_inode_create", INODE(1), DENTRY(2), INT(3)),
    CHECK("vnode_check_mkdir", "security_inode_mkdir", INODE(1), DENTRY(2), INT(3)),
    CHECK("vnode_check_mknod", "security_inode_mknod", INODE(1), DENTRY(2), INT(3)),
    CHECK("vnode_check_symlink", "security_inode_symlink", INODE(1), DENTRY(2), NAME(3)),
    CHECK("vnode_check_link", "security_inode_link", DENTRY(1), INODE(2), DENTRY(3)),
    CHECK("vnode_check_unlink", "security_inode_unlink", INODE(1), DENTRY(2)),
    CHECK("vnode_check_rmdir", "security_inode_rmdir", INODE(1), DENTRY(2)),
    CHECK("vnode_check_rename_from", "security_inode_rename", INODE(1), DENTRY(2), INODE(3), DENTRY(4)),
    CHECK("vnode_check_stat", "security_inode_getattr", PATH(1)),
    CHECK("vnode_check_setattr", "security_inode_setattr", {1, "void *"}, DENTRY(2), {3, "struct iattr *"}),
    CHECK("vnode_check_readlink", "security_inode_readlink", DENTRY(1)),
    CHECK("vnode_check_getextattr", "security_inode_getxattr", DENTRY(1), NAME(2)),
    CHECK("vnode_check_setextattr", "security_inode_setxattr", {1, "void *"}, DENTRY(2), NAME(3)),
    CHECK("vnode_check_deleteextattr", "security_inode_removexattr", {1, "void *"}, DENTRY(2), NAME(3)),
    CHECK("vnode_check_listextattr", "security_inode_listxattr", DENTRY(1)),
    CHECK("vnode_check_mmap", "security_mmap_file", FILE_(1), {2, "unsigned long"}, {3, "unsigned long"}),
    CHECK("vnode_check_mprotect", "security_file_mprotect", {1, "struct vm_area_struct *"}, {2, "unsigned long"},
	  {3, "unsigned long"}),
    CHECK("file_check_ioctl", "security_file_ioctl", FILE_(1), INT(2), {3, "unsigned long"}),
    CHECK("file_check_fcntl", "security_file_fcntl", FILE_(1), INT(2), {3, "unsigned long"}),
    CHECK("file_check_lock", "security_file_lock", FILE_(1), INT(2)),
    CHECK("proc_check_fork", "security_task_alloc", TASK(1), {2, "unsigned long"}),
    CHECK("proc_check_signal", "security_task_kill", TASK(1), {2, "struct kernel_siginfo *"}, INT(3)),
    CHECK("proc_check_debug", "security_ptrace_access_check", TASK(1), INT(2)),
    CHECK("proc_check_sched", "security_task_setscheduler", TASK(1)),
    CHECK("proc_check_setpgid", "security_task_setpgid", TASK(1), INT(2)),
    CHECK("cred_check_setuid", "security_task_fix_setuid", {1, "struct cred *"}, {2, "struct cred *"}, INT(3)),
    CHECK("cred_check_setgid", "security_task_fix_setgid", {1, "struct cred *"}, {2, "struct cred *"}, INT(3)),
    CHECK("socket_check_create", "security_socket_create", INT(1), INT(2), INT(3), INT(4)),
    CHECK("socket_check_bind", "security_socket_bind", SOCKET(1), ADDRESS(2), INT(3)),
    CHECK("socket_check_connect", "security_socket_connect", SOCKET(1), ADDRESS(2), INT(3)),
    CHECK("socket_check_listen", "security_socket_listen", SOCKET(1), INT(2)),
    CHECK("socket_check_accept", "security_socket_accept", SOCKET(1), SOCKET(2)),
    CHECK("socket_check_send", "security_socket_sendmsg", SOCKET(1), {2, "struct msghdr *"}, INT(3)),
    CHECK("socket_check_receive", "security_socket_recvmsg", SOCKET(1), {2, "struct msghdr *"}, INT(3)),
    CHECK("socket_check_setsockopt", "security_socket_setsockopt", SOCKET(1), INT(2), INT(3)),
    CHECK("mount_check_mount", "security_sb_mount", NAME(1), PATH(2), NAME(3)),
    CHECK("mount_check_unmount", "security_sb_umount", {1, "struct vfsmount *"}, INT(2)),
    CHECK("mount_check_stat", "security_sb_statfs", DENTRY(1)),
    CHECK("kld_check_load", "security_kernel_read_file", FILE_(1), INT(2)),
    CHECK("system_check_settime", "security_settime64", {1, "struct timespec64 *"}),
    CHECK("system_check_syslog", "security_syslog", INT(1)),
    CHECK("sysvmsq_check_msqsnd", "security_msg_queue_msgsnd", {1, "struct kern_ipc_perm *"}, {2, "struct msg_msg *"}, INT(3)),
    CHECK("sysvsem_check_semop", "security_sem_semop", {1, "struct kern_ipc_perm *"}, {2, "struct sembuf *"}, INT(3)),
    CHECK("sysvshm_check_shmat", "security_shm_shmat", {1, "struct kern_ipc_perm *"}, {2, "char *"}, INT(3)),
    CHECK("bpf_check", "security_bpf", INT(1)),
    CHECK("perf_event_check_open", "security_perf_event_open", {1, "void *"}),
};

DT_STABLE_PROVIDER(mac, "mac_framework", rows, DT_STABLE_FBSD);
