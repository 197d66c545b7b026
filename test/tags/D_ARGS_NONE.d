// tag: D_ARGS_NONE 4
BEGIN
{
	trace(args[0]);
}
