// tag: D_SYM_BADREF
BEGIN
{
	trace(pid1`a.out`x);
}
