// tag: D_DECL_SCOPE
int vmlinux`x;
BEGIN
{
	trace(1);
}
