#!/usr/sbin/dtrace -s
// run: -e
/* Sizes in classes, by a chain of conditions. */

inline int KB = 1 << 10;
inline int MB = KB * KB;

syscall::read:return
{
	this->class =
	    arg0 < 0 ? "error" :
	    arg0 == 0 ? "end" :
	    arg0 < 512 ? "< 512" :
	    arg0 < KB ? "< 1K" :
	    arg0 < 64 * KB ? "< 64K" :
	    arg0 < MB ? "< 1M" : ">= 1M";
	@[this->class] = count();
}
