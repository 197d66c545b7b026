// tag: D_DEREF_FUNC 5
int (*f)(int);
BEGIN
{
	trace(*f);
}
