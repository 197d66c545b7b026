// tag: D_STRINGOF_TYPE
struct s { int a; } x;
BEGIN
{
	trace(stringof(x));
}
