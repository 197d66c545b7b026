// tag: D_DREC_COMM
BEGIN
{
	commit(1); trace(1);
}
