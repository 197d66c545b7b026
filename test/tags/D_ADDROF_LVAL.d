// tag: D_ADDROF_LVAL
BEGIN
{
	trace(&1);
}
