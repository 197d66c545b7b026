/*
 * cpu.d: where x86-64 keeps data about CPUs and threads for procfs.d and sched.d.
 */

/* Most kernels have no type information for these. */
extern unsigned int cpu_khz;
extern unsigned long __per_cpu_offset[8192];

inline string __cpu_type = "x86-64";
inline string __cpu_fputypes = "i387 compatible";
inline int __cpu_mhz = (int)(`cpu_khz / 1000) ?? 0;

/* The package of a CPU, and its memory node. A CPU's copy of a variable is at a per-CPU offset from
 * the symbol. */
inline int __cpu_chip[int C] =
    (int)((struct cpuinfo_x86 *)((uintptr_t)&`cpu_info + `__per_cpu_offset[C]))->topo.pkg_id ??
    (int)((struct cpuinfo_x86 *)((uintptr_t)&`cpu_info + `__per_cpu_offset[C]))->phys_proc_id ?? 0;
inline int __cpu_node[int C] = *(int *)((uintptr_t)&`x86_cpu_to_node_map + `__per_cpu_offset[C]) ?? 0;

inline int __is_32bit[struct task_struct *T] = T->thread_info.flags >> 29 & 1;	/* TIF_ADDR32 */
inline short __syscall_number = (short)uregs[15];				/* R_ORIG_RAX */
