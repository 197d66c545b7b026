// system() runs a command when the record is consumed. It needs -w.
// run: -q -w
BEGIN
{
	printf("one\n");
	system("echo %s %d", "from the shell", 2);
	printf("three\n");
	exit(0);
}
