// tag: D_SYNTAX 4
BEGIN
{
	trace((no_such_type_t *)arg0);
}
