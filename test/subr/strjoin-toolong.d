// strjoin(): a result longer than strsize is a fault.
// run: -q
#pragma D option strsize=8

BEGIN
{
	printf("%s\n", strjoin("1234", "5678"));
}

BEGIN
{
	printf("%s\n", strjoin("1234", "56789"));
}

BEGIN
{
	exit(0);
}
