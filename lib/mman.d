/*
 * mman.d: flags of mmap(2) and mprotect(2).
 *
 *    syscall::mmap:entry /arg3 & MAP_ANON/ { @[execname] = sum(arg1); }
 */

/* third argument */
inline int PROT_NONE = 0x0;
inline int PROT_READ = 0x1;
inline int PROT_WRITE = 0x2;
inline int PROT_EXEC = 0x4;

/* fourth argument */
inline int MAP_SHARED = 0x01;
inline int MAP_PRIVATE = 0x02;
inline int MAP_TYPE = 0x0f;
inline int MAP_FIXED = 0x10;
inline int MAP_ANON = 0x20;
inline int MAP_ANONYMOUS = 0x20;
inline int MAP_GROWSDOWN = 0x0100;
inline int MAP_DENYWRITE = 0x0800;
inline int MAP_LOCKED = 0x2000;
inline int MAP_NORESERVE = 0x4000;
inline int MAP_POPULATE = 0x8000;
inline int MAP_NONBLOCK = 0x10000;
inline int MAP_STACK = 0x20000;
inline int MAP_HUGETLB = 0x40000;
