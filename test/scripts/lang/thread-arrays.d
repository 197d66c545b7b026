#!/usr/sbin/dtrace -s
// run: -e
/* Declarations of every kind of variable, then a use of each. */

int total;
string last_name;
uint64_t when[int, string];
struct pair { int a; int b; } both;
self int depth;
self string names[int];
self uint64_t stamp[string, int];
this int scratch;
this char text[32];
char *pointer;
long long big, *ptr_to_big;

syscall::dup*:entry
{
	total++;
	last_name = execname;
	when[pid, probefunc] = timestamp;
	both.a = pid;
	both.b = both.a + tid;
	self->depth += 1;
	self->names[self->depth] = probefunc;
	self->stamp[probefunc, self->depth] = timestamp;
	this->scratch = arg0;
	this->text[0] = 'd';
	this->text[1] = '\0';
	pointer = NULL;
	big = -1;
	ptr_to_big = NULL;
	trace(self->names[self->depth]);
	trace(this->text);
	when[pid, probefunc] = 0;
}
