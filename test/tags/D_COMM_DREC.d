// tag: D_COMM_DREC
BEGIN
{
	trace(1); commit(1);
}
