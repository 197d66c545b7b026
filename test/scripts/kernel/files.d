#!/usr/sbin/dtrace -s
// run: -e -Z
/* Paths from struct file: the last two components of what is read. */

#pragma D option quiet

fbt::vfs_read:entry
{
	this->f = (struct file *)arg0;
	this->d = this->f->f_path.dentry;
	this->name = stringof(this->d->d_name.name);
	this->dir = stringof(this->d->d_parent->d_name.name);
	this->fs = stringof(this->d->d_sb->s_type->name);
	@[this->fs, strjoin(this->dir, strjoin("/", this->name))] = sum(arg2);
}

syscall::read:entry
{
	this->file = getf(arg0);
	@pos[this->file->f_pos == 0 ? "start" : "later"] = count();
}
