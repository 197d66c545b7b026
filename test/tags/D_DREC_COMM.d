// tag: D_DREC_COMM 4
BEGIN
{
	commit(1); trace(1);
}
