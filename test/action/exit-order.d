// exit() in BEGIN: the clause ends normally, later BEGIN clauses do not run, END does.
// run: -q
// status: 3
BEGIN
{
	printf("one\n");
	exit(3);
	printf("two\n");
}

BEGIN
{
	printf("not reached\n");
}

END
{
	printf("end\n");
}

END
{
	printf("and its second clause\n");
}
