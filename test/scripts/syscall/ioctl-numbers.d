#!/usr/sbin/dtrace -s
// run: -e
/* Which ioctls, taken apart: direction, type letter, number, size. */

syscall::ioctl:entry
{
	this->cmd = (uint32_t)arg1;
	this->dir = (this->cmd >> 30) & 3;
	this->type = (char)((this->cmd >> 8) & 0xff);
	this->nr = this->cmd & 0xff;
	this->size = (this->cmd >> 16) & 0x3fff;
	@[execname, this->dir == 0 ? "none" : this->dir == 1 ? "write" : this->dir == 2 ? "read" : "rw",
	    this->type, this->nr, this->size] = count();
}

END
{
	printf("%-16s %-6s %4s %4s %6s %8s\n", "EXEC", "DIR", "TYPE", "NR", "SIZE", "COUNT");
	printa("%-16s %-6s %4c %4x %6d %@8d\n", @);
}
