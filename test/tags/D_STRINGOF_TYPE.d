// tag: D_STRINGOF_TYPE 5
struct s { int a; } x;
BEGIN
{
	trace(stringof(x));
}
