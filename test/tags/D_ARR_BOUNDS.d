// tag: D_ARR_BOUNDS 5
int a[5];
BEGIN
{
	trace(a[9]);
}
