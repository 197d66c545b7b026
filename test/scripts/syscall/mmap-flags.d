#!/usr/sbin/dtrace -s
// run: -e
/* How is memory mapped: anonymous or files, private or shared, executable? */

inline int MAP_SHARED = 0x01;
inline int MAP_PRIVATE = 0x02;
inline int MAP_ANONYMOUS = 0x20;
inline int PROT_EXEC = 0x4;

syscall::mmap:entry
{
	@[execname,
	    (arg3 & MAP_ANONYMOUS) ? "anon" : "file",
	    (arg3 & MAP_SHARED) ? "shared" : (arg3 & MAP_PRIVATE) ? "private" : "?",
	    (arg2 & PROT_EXEC) != 0 ? "exec" : "-"] = sum(arg1);
}
