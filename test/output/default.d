// Without -q each record is a row: CPU, probe id, function and name, then the data.
// run: 
BEGIN
{
	trace(1);
	trace("str");
	trace((char)2);
	trace((short)3);
	trace(4L);
}

BEGIN
{
	printf("text");
}

BEGIN
{
	exit(0);
}
