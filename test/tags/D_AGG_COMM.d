// tag: D_AGG_COMM 4
BEGIN
{
	commit(1); @a = count();
}
