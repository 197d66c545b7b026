#!/usr/sbin/dtrace -s
/* A translator over the script's own structures, members of members, inline with parameters. */

#pragma D option quiet

struct raw { int fields[3]; char tag[8]; };
struct view { int first; int sum; string tag; };

translator struct view < struct raw *R > {
	first = R->fields[0];
	sum = R->fields[0] + R->fields[1] + R->fields[2];
	tag = stringof(R->tag);
};

inline int clamp[int n, int lo, int hi] = n < lo ? lo : n > hi ? hi : n;

BEGIN
{
	this->r = (struct raw *)alloca(sizeof (struct raw));
	this->r->fields[0] = 10;
	this->r->fields[1] = 20;
	this->r->fields[2] = 12;
	this->r->tag[0] = 'o';
	this->r->tag[1] = 'k';
	this->r->tag[2] = '\0';
	printf("%d %d %s\n", xlate <struct view> (this->r).first, xlate <struct view *> (this->r)->sum,
	    xlate <struct view *> (this->r)->tag);
	printf("%d %d %d\n", clamp[5, 0, 10], clamp[-5, 0, 10], clamp[50, 0, 10]);
	exit(0);
}
