// exit() sets the exit status.
// run: -q
// status: 7
BEGIN
{
	exit(7);
}
