// run: -q -x dynvarsize=1
// An element that comes into being by its name needs room, like an assigned one.
string names[int];

BEGIN
{
	names[1] = "first";
	printf("%s %d\n", names[1], names[2] == NULL);
	exit(0);
}
