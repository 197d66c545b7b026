// progenyof(): the process itself and its ancestors.
// run: -q
BEGIN
{
	printf("%d\n", progenyof(pid));
	printf("%d\n", progenyof(ppid));
	printf("%d\n", progenyof(1) || 1);
	printf("%d\n", progenyof(2147483647));
	exit(0);
}
