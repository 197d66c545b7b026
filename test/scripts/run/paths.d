#!/usr/sbin/dtrace -s
/* A path taken apart. */

#pragma D option quiet

BEGIN
{
	path = "/usr//local/./lib/../share/doc/readme.txt";
	printf("clean %s\n", cleanpath(path));
	path = cleanpath(path);
	printf("base %s, dir %s, dir of that %s\n", basename(path), dirname(path), basename(dirname(path)));
	this->a = strtok(path, "/");
	this->b = strtok(NULL, "/");
	this->c = strtok(NULL, "/");
	this->d = strtok(NULL, "/.");
	this->e = strtok(NULL, "/.");
	this->f = strtok(NULL, "/.");
	printf("%s|%s|%s|%s|%s|%s\n", this->a, this->b, this->c, this->d, this->e, this->f);
	printf("extension %s, first slash after the first at %d, last at %d\n", strrchr(path, '.'),
	    index(path, "/", 1), rindex(path, "/"));
	printf("%s...%s\n", substr(path, 0, 8), substr(path, -4));
	printf("%s\n", toupper(basename(path)));
	printf("%s\n", strjoin(execname == "" ? "nobody" : "somebody", strjoin("@", lltostr(42))));
	exit(0);
}
