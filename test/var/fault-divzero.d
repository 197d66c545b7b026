// Division by zero at run time is a fault; the clauses after it still run.
// run: -q
// status: 3
BEGIN
{
	x = 0;
	trace(1 / x);
}

BEGIN
{
	trace(1 % x);
}

BEGIN
/1 / x/
{
	trace(1);
}

ERROR
{
	n++;
}

BEGIN
{
	exit(n);
}
