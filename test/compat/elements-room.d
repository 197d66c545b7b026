// run: -q -x dynvarsize=1
// An element that is created by a reference needs space, like an assigned one.
string names[int];

BEGIN
{
	names[1] = "first";
	printf("%s %d\n", names[1], names[2] == NULL);
	exit(0);
}
