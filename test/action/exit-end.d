// An exit() in END replaces the status.
// run: -q
// status: 9
BEGIN
{
	exit(7);
}

END
{
	exit(9);
}
