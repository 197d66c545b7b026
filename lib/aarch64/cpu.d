/*
 * cpu.d: where aarch64 keeps data about CPUs and threads for procfs.d and sched.d.
 */

/* Most kernels have no type information for these. */
extern unsigned long __per_cpu_offset[8192];

inline string __cpu_type = "aarch64";
inline string __cpu_fputypes = "aarch64";
inline int __cpu_mhz = 0;	/* not known to the kernel without a driver */

/* The package of a CPU, and its memory node. A CPU's copy of a variable is at a per-CPU offset from
 * the symbol. */
inline int __cpu_chip[int C] = (int)((struct cpu_topology *)&`cpu_topology)[C].package_id ?? 0;
inline int __cpu_node[int C] = *(int *)((uintptr_t)&`numa_node + `__per_cpu_offset[C]) ?? 0;

inline int __is_32bit[struct task_struct *T] = T->thread_info.flags >> 22 & 1;	/* TIF_32BIT */
inline short __syscall_number = (short)uregs[35];				/* R_SYSCALLNO */
