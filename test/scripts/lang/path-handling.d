#!/usr/sbin/dtrace -s
// run: -e
/* Opens by directory, by file type and by the first part of the path. */

#pragma D option quiet

syscall::openat:entry
{
	this->path = cleanpath(copyinstr(arg1));
	this->base = basename(this->path);
	this->dir = dirname(this->path);
	this->ext = strrchr(this->base, '.');
	this->first = strtok(this->path, "/");
	this->second = strtok(NULL, "/");
	@bydir[this->dir] = count();
	@byext[this->ext == NULL ? "(none)" : this->ext] = count();
	@byfirst[strjoin("/", this->first == NULL ? "" : this->first)] = count();
	@proc[this->first == "proc" ? strtoll(this->second) : -1] = count();
	@dot[substr(this->base, 0, 1) == "." ? "hidden" : "plain"] = count();
	@so[strstr(this->base, ".so") != NULL ? "library" : "other"] = count();
	@len = lquantize(strlen(this->path), 0, 256, 16);
	@depth = max(index(this->path, "/", 1));
	@case_[tolower(this->base)] = count();
}
