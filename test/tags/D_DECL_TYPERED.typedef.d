// tag: D_DECL_TYPERED
typedef int foo_t;
typedef string foo_t;
BEGIN
{
	trace(1);
}
