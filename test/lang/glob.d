// Descriptions are patterns.
// run: -q
dtrace:::B*
{
	printf("%s\n", probename);
}

dtrace:::?EGIN
{
	printf("%s:%s:%s:%s\n", probeprov, probemod, probefunc, probename);
}

d[tx]race:::[!A-D]ND
{
	printf("%s\n", probename);
}

:::BEGIN
{
	exit(0);
}
