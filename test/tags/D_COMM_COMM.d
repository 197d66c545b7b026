// tag: D_COMM_COMM
BEGIN
{
	commit(1); commit(2);
}
