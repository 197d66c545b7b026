/*
 * procfs.d: processes and threads as DTrace describes them. psinfo_t and lwpsinfo_t are translated
 * from a task_struct; curpsinfo and curlwpsinfo are those of the thread that the probe is about.
 *
 * Members that Linux lacks (tasks, projects, pools, zones, contracts) are 0.
 */
#pragma D depends_on library cpu.d

typedef struct timestruc {
	long tv_sec;	/* since 1970 */
	long tv_nsec;
} timestruc_t;

translator timestruc_t < uint64_t NS > {
	tv_sec = NS / 1000000000;
	tv_nsec = NS % 1000000000;
};

typedef int pri_t;
typedef int processorid_t;
typedef int psetid_t;
typedef int chipid_t;
typedef int lgrp_id_t;
typedef int taskid_t;
typedef int projid_t;
typedef int poolid_t;
typedef int ctid_t;

/* pr_state */
inline char SSLEEP = 1;		/* waits for something */
inline char SRUN = 2;		/* waits for a CPU */
inline char SZOMB = 3;		/* has ended */
inline char SSTOP = 4;		/* stopped, by job control or a debugger */
inline char SIDL = 5;		/* being made */
inline char SONPROC = 6;	/* on a CPU */
inline char SWAIT = 7;

/* pr_stype: what a thread sleeps on */
inline char SOBJ_NONE = 0;
inline char SOBJ_MUTEX = 1;
inline char SOBJ_RWLOCK = 2;
inline char SOBJ_CV = 3;
inline char SOBJ_SEMA = 4;
inline char SOBJ_USER = 5;
inline char SOBJ_USER_PI = 6;
inline char SOBJ_SHUTTLE = 7;

/* pr_flag: of the thread */
inline int PR_STOPPED = 0x00000001;
inline int PR_ISTOP = 0x00000002;
inline int PR_DSTOP = 0x00000004;
inline int PR_STEP = 0x00000008;
inline int PR_ASLEEP = 0x00000010;	/* in a system call, and asleep */
inline int PR_PCINVAL = 0x00000020;
inline int PR_ASLWP = 0x00000040;
inline int PR_AGENT = 0x00000080;
inline int PR_DETACH = 0x00000100;
inline int PR_DAEMON = 0x00000200;
inline int PR_IDLE = 0x00000400;	/* a CPU's idle thread */
/* ... and of its process */
inline int PR_ISSYS = 0x00001000;	/* a kernel thread */
inline int PR_VFORKP = 0x00002000;
inline int PR_ORPHAN = 0x00004000;
inline int PR_NOSIGCHLD = 0x00008000;
inline int PR_WAITPID = 0x00010000;
inline int PR_FORK = 0x00100000;
inline int PR_RLC = 0x00200000;
inline int PR_KLC = 0x00400000;
inline int PR_ASYNC = 0x00800000;
inline int PR_MSACCT = 0x01000000;
inline int PR_BPTADJ = 0x02000000;
inline int PR_PTRACE = 0x04000000;	/* traced by ptrace() */
inline int PR_MSFORK = 0x08000000;

/* pr_dmodel */
inline char PR_MODEL_UNKNOWN = 0;
inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;
inline char PR_MODEL_NATIVE = 2;

/* the first argument of proc:::fault */
inline int FLTILL = 1;		/* not an instruction */
inline int FLTPRIV = 2;		/* an instruction that user programs may not use */
inline int FLTBPT = 3;		/* breakpoint */
inline int FLTTRACE = 4;	/* single step */
inline int FLTACCESS = 5;	/* SIGBUS */
inline int FLTBOUNDS = 6;	/* SIGSEGV */
inline int FLTIOVF = 7;		/* integer overflow */
inline int FLTIZDIV = 8;	/* integer division by zero */
inline int FLTFPE = 9;		/* floating point */
inline int FLTSTACK = 10;
inline int FLTPAGE = 11;

/* ---- processes ---- */

typedef struct psinfo {
	int pr_nlwp;		/* threads */
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;		/* process group */
	pid_t pr_sid;		/* session */
	uid_t pr_uid;
	uid_t pr_euid;
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;	/* struct task_struct of the process's first thread */
	dev_t pr_ttydev;	/* terminal; PRNODEV: none */
	timestruc_t pr_start;
	string pr_fname;	/* name of its first thread */
	string pr_psargs;	/* arguments; only its name if its memory cannot be read here */
	int pr_arglen;		/* bytes of arguments */
	int pr_argc;
	uintptr_t pr_argv;	/* user addresses */
	uintptr_t pr_envp;
	char pr_dmodel;		/* PR_MODEL_* */
	taskid_t pr_taskid;
	projid_t pr_projid;
	poolid_t pr_poolid;
	zoneid_t pr_zoneid;
	int pr_jailid;
	ctid_t pr_contract;
} psinfo_t;

inline dev_t PRNODEV = 0xffffffff;

/*
 * User memory can be read if it is the current thread's: of threads of the same process, and of a child
 * that has not called exec() yet, whose memory is a copy.
 */
inline int __same_memory[struct task_struct *T] = T->mm != NULL && (T->mm == curthread->mm ||
    ((T->flags & 0x40 /* PF_FORKNOEXEC */) && T->real_parent->mm == curthread->mm));

translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = taskpid(T);
	pr_ppid = taskpid(T->real_parent);
	pr_pgid = T->signal->pids[PIDTYPE_PGID]->numbers[T->signal->pids[PIDTYPE_PGID]->level].nr;
	pr_sid = T->signal->pids[PIDTYPE_SID]->numbers[T->signal->pids[PIDTYPE_SID]->level].nr;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T->group_leader;
	pr_ttydev = T->signal->tty == NULL ? PRNODEV : (dev_t)(T->signal->tty->driver->major << 20 |
	    (T->signal->tty->driver->minor_start + T->signal->tty->index));
	pr_start = xlate < timestruc_t > ((uint64_t)(walltimestamp - timestamp + T->group_leader->start_time));
	pr_fname = stringof(T->group_leader->comm);
	pr_psargs = __same_memory[T] && T->mm->arg_end > T->mm->arg_start ? execargs : stringof(T->comm);
	pr_arglen = T->mm == NULL || T->mm->arg_end < T->mm->arg_start ? 0 : (int)(T->mm->arg_end - T->mm->arg_start);
	pr_argc = __same_memory[T] ? (int)*(userland long *)T->mm->start_stack : 0;
	pr_argv = T->mm == NULL ? 0 : T->mm->start_stack + 8;
	pr_envp = __same_memory[T] ? T->mm->start_stack + 16 + 8 * *(userland long *)T->mm->start_stack : 0;
	pr_dmodel = __is_32bit[T] ? PR_MODEL_ILP32 : PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_jailid = 0;
	pr_contract = 0;
};

inline psinfo_t *curpsinfo = xlate < psinfo_t * > (curthread);
#pragma D attributes Stable/Stable/Common curpsinfo

/* ---- threads ---- */

typedef struct lwpsinfo {
	int pr_flag;		/* PR_* */
	id_t pr_lwpid;		/* tid */
	uintptr_t pr_addr;	/* struct task_struct */
	uintptr_t pr_wchan;	/* the lock it sleeps on, if it is one */
	char pr_stype;		/* SOBJ_*, if asleep */
	char pr_state;		/* SSLEEP ... */
	char pr_sname;		/* the same as a letter: S R Z T I O */
	short pr_syscall;	/* of the current thread */
	int pr_pri;		/* as in /proc/PID/stat: lower is more urgent, real-time below 0 */
	string pr_clname;	/* scheduling class: TS RT DL IDL SYS */
	processorid_t pr_onpro;	/* where it is, or was last */
	processorid_t pr_bindpro; /* the only CPU it may use; PBIND_NONE */
	psetid_t pr_bindpset;
	lgrp_id_t pr_lgrp;
	char pr_name[16];	/* name of the thread */
} lwpsinfo_t;

inline processorid_t PBIND_NONE = -1;
inline psetid_t PS_NONE = -1;

/* From TASK_* in __state and EXIT_* in exit_state. */
inline int __ended[struct task_struct *T] = T->exit_state & 0x30;	/* EXIT_ZOMBIE | EXIT_DEAD */
inline int __stopped[struct task_struct *T] = T->__state & 0xc;		/* __TASK_STOPPED | __TASK_TRACED */
inline int __new[struct task_struct *T] = T->__state & 0x800;		/* TASK_NEW */
inline int __runs[struct task_struct *T] = (T->__state & ~0x200) == 0;	/* or is TASK_WAKING */
inline int __sleeps[struct task_struct *T] = !__ended[T] && !__stopped[T] && !__new[T] && !__runs[T];
inline uintptr_t __lock[struct task_struct *T] =
    ((uintptr_t)T->blocked_on ?? 0) ? ((uintptr_t)T->blocked_on ?? 0) :
    T->pi_blocked_on != NULL ? (uintptr_t)T->pi_blocked_on->lock : 0;

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = (__stopped[T] ? PR_STOPPED : 0) | (__sleeps[T] ? PR_ASLEEP : 0) |
	    (T->pid == 0 ? PR_IDLE : 0) | ((T->flags & 0x200000 /* PF_KTHREAD */) ? PR_ISSYS : 0) |
	    (T->ptrace ? PR_PTRACE : 0);
	pr_lwpid = tasktid(T);
	pr_addr = (uintptr_t)T;
	pr_wchan = __sleeps[T] ? __lock[T] : 0;
	pr_stype = !__sleeps[T] ? SOBJ_NONE : __lock[T] ? SOBJ_MUTEX : SOBJ_CV;
	pr_state = __ended[T] ? SZOMB : __stopped[T] ? SSTOP : __new[T] ? SIDL : !__runs[T] ? SSLEEP :
	    T->on_cpu ? SONPROC : SRUN;
	pr_sname = __ended[T] ? 'Z' : __stopped[T] ? 'T' : __new[T] ? 'I' : !__runs[T] ? 'S' :
	    T->on_cpu ? 'O' : 'R';
	pr_syscall = T == curthread ? __syscall_number : 0;
	pr_pri = T->prio - 100;
	pr_clname = T->policy == 1 || T->policy == 2 ? "RT" : T->policy == 5 ? "IDL" : T->policy == 6 ? "DL" :
	    (T->flags & 0x200000) ? "SYS" : "TS";
	pr_onpro = T->thread_info.cpu ?? T->cpu;
	pr_bindpro = T->nr_cpus_allowed == 1 ? (int)(T->thread_info.cpu ?? T->cpu) : PBIND_NONE;
	pr_bindpset = PS_NONE;
	pr_lgrp = 0;
	pr_name = T->comm;
};

inline lwpsinfo_t *curlwpsinfo = xlate < lwpsinfo_t * > (curthread);
#pragma D attributes Stable/Stable/Common curlwpsinfo

/* ---- signals ---- */

/* Which members mean something depends on the signal and on si_code. */
typedef struct siginfo {
	int si_signo;
	int si_code;
	int si_errno;
	pid_t si_pid;		/* the sender, or the child */
	uid_t si_uid;
	int si_status;		/* SIGCHLD: exit status or signal */
	uintptr_t si_addr;	/* of a fault */
	uint64_t si_value;	/* of sigqueue() and timers */
	long si_band;		/* SIGPOLL */
	int si_fd;
} siginfo_t;

/* Some signals sent by the kernel have no details: then the pointer is 0 or 1. */
translator siginfo_t < struct kernel_siginfo *S > {
	si_signo = (uintptr_t)S > 1 ? S->si_signo : 0;
	si_code = (uintptr_t)S > 1 ? S->si_code : (uintptr_t)S == 1 ? 128 /* SI_KERNEL */ : 0 /* SI_USER */;
	si_errno = (uintptr_t)S > 1 ? S->si_errno : 0;
	si_pid = (uintptr_t)S > 1 ? S->_sifields._kill._pid : 0;
	si_uid = (uintptr_t)S > 1 ? S->_sifields._kill._uid : 0;
	si_status = (uintptr_t)S > 1 ? S->_sifields._sigchld._status : 0;
	si_addr = (uintptr_t)S > 1 ? (uintptr_t)S->_sifields._sigfault._addr : 0;
	si_value = (uintptr_t)S > 1 ? (uint64_t)S->_sifields._rt._sigval.sival_ptr : 0;
	si_band = (uintptr_t)S > 1 ? S->_sifields._sigpoll._band : 0;
	si_fd = (uintptr_t)S > 1 ? S->_sifields._sigpoll._fd : 0;
};

/* The same, as sigwaitinfo() returns it to the process. */
translator siginfo_t < userland struct kernel_siginfo *S > {
	si_signo = S == NULL ? 0 : S->si_signo;
	si_code = S == NULL ? 0 : S->si_code;
	si_errno = S == NULL ? 0 : S->si_errno;
	si_pid = S == NULL ? 0 : S->_sifields._kill._pid;
	si_uid = S == NULL ? 0 : S->_sifields._kill._uid;
	si_status = S == NULL ? 0 : S->_sifields._sigchld._status;
	si_addr = S == NULL ? 0 : (uintptr_t)S->_sifields._sigfault._addr;
	si_value = S == NULL ? 0 : (uint64_t)S->_sifields._rt._sigval.sival_ptr;
	si_band = S == NULL ? 0 : S->_sifields._sigpoll._band;
	si_fd = S == NULL ? 0 : S->_sifields._sigpoll._fd;
};
