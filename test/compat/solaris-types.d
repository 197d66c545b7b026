// run: -q
/* Types and constants that scripts from Solaris cast to and compare with. */
timespec_t ts;
boolean_t found[string];
struct { caddr_t where; off64_t at; diskaddr_t block; boolean_t dirty; } entry;

BEGIN
{
	found["a"] = B_TRUE;
	ts.tv_sec = 5;
	ts.tv_nsec = 250000000;
	entry.at = (off64_t)-1;
	entry.block = (diskaddr_t)-1;
	entry.dirty = (boolean_t)(3 > 2);
	printf("%d %d %d\n", found["a"], found["b"] == B_FALSE, sizeof (boolean_t));
	printf("%d.%03d %d\n", ts.tv_sec, ts.tv_nsec / 1000000, sizeof (timespec_t));
	printf("%d %u %d %d\n", entry.at, entry.block, entry.dirty, entry.where == NULL);
	printf("%s\n", (0100644 & S_IFMT) == S_IFREG ? "file" : (0040755 & S_IFMT) == S_IFDIR ? "directory" : "?");
	printf("%o %d\n", S_IRWXU | S_IRGRP | S_IXGRP, (PROT_READ | PROT_WRITE) & PROT_EXEC);
	printf("%d %d %d\n", SEEK_END, R_OK | W_OK, MAP_ANON == MAP_ANONYMOUS);
	printf("%d %d %d\n", sizeof (u_offset_t), sizeof (rlim_t), sizeof (index_t));
	exit(0);
}
