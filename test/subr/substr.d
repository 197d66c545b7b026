// substr(): as in Perl; negative positions count from the end.
// run: -q
BEGIN
{
	printf("[%s]\n", substr("CRAIG", 1));
	printf("[%s]\n", substr("CRAIG", 1, 2));
	printf("[%s]\n", substr("CRAIG", -2));
	printf("[%s]\n", substr("CRAIG", -2, 1));
	printf("[%s]\n", substr("CRAIG", 0, -1));
	printf("[%s]\n", substr("CRAIG", 2, 100));
	printf("[%s]\n", substr("CRAIG", 10));
	printf("[%s]\n", substr("CRAIG", -10));
	printf("[%s]\n", substr("CRAIG", -10, 7));
	printf("[%s]\n", substr("CRAIG", 1, 0));
	printf("[%s]\n", substr("CRAIG", -3, -1));
	exit(0);
}
