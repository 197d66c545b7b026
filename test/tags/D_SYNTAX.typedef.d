// tag: D_SYNTAX 2
typedef no_such_type_t foo_t;
BEGIN
{
	trace(1);
}
