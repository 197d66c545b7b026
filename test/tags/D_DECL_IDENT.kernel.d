// tag: D_DECL_IDENT 2
struct vmlinux`no_such_struct *p;
BEGIN
{
	trace(1);
}
