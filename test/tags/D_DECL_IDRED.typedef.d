// tag: D_DECL_IDRED 3
typedef int foo_t;
typedef string foo_t;
BEGIN
{
	trace(1);
}
