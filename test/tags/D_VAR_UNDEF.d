// tag: D_VAR_UNDEF
BEGIN
{
	trace(self->never);
}
