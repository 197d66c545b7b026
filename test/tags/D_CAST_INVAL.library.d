// tag: D_CAST_INVAL 5
struct o { int a; };
BEGIN
{
	trace((struct o)curcpu);
}
