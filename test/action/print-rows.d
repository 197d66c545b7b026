// print() without -q: after the columns of the row, and its own line end.
// run:
BEGIN
{
	print(42);
	print("text");
	exit(0);
}
