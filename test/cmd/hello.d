/* The default output: a heading, and a row per record. */
BEGIN
{
	trace("hello");
	trace(42);
	exit(0);
}
