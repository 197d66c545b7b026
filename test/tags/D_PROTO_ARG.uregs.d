// tag: D_PROTO_ARG 4
BEGIN
{
	trace(uregs[pid]);
}
