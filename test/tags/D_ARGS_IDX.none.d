// tag: D_ARGS_IDX 4
BEGIN
{
	trace(args[0]);
}
