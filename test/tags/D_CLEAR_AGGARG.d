// tag: D_CLEAR_AGGARG 4
BEGIN
{
	clear(1);
}
