// tag: D_COMM_COMM 4
BEGIN
{
	commit(1); commit(2);
}
