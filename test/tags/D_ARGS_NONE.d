// tag: D_ARGS_NONE
BEGIN
{
	trace(args[0]);
}
