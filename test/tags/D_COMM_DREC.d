// tag: D_COMM_DREC 4
BEGIN
{
	trace(1); commit(1);
}
