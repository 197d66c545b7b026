// tag: D_VAR_UNDEF
BEGIN
{
	trace(this->never);
}
