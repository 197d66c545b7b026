// tag: D_ARR_BADREF
int *p;
BEGIN
{
	trace(p[1, 2]);
}
