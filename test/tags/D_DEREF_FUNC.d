// tag: D_DEREF_FUNC
int (*f)(int);
BEGIN
{
	trace(*f);
}
