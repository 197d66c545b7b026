// -F (flowindent): the columns are CPU and FUNCTION, also with -q. Probes that are neither entry nor return have a bar.
// run: -F -q
BEGIN
{
	trace(1);
}

BEGIN
{
	exit(0);
}

END
{
	printf("end");
}
