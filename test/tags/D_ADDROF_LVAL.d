// tag: D_ADDROF_LVAL 4
BEGIN
{
	trace(&1);
}
