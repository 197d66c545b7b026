// tag: D_SYM_BADREF 4
BEGIN
{
	trace(pid1`a.out`x);
}
