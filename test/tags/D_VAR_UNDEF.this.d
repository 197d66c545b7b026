// tag: D_VAR_UNDEF 4
BEGIN
{
	trace(this->never);
}
