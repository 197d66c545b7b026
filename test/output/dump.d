// Data that is not all printable is dumped: offset, 16 bytes, and the printable ones. With -q the same.
// run: -q -x strsize=40
BEGIN
{
	trace("\001\002");
	exit(0);
}
