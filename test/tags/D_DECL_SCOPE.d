// tag: D_DECL_SCOPE 2
int vmlinux`x;
BEGIN
{
	trace(1);
}
