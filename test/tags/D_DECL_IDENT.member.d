// tag: D_DECL_IDENT 4
struct s {
	int a;
	no_such_type_t b;
};
BEGIN
{
	trace(1);
}
