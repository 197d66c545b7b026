// tag: D_ARR_BADREF 5
int *p;
BEGIN
{
	trace(p[1, 2]);
}
